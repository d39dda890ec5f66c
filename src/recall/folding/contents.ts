/** Measures documents by their stored contents, of all kinds; also in the reading thread. */
import { measureThought, parseThoughtContentId } from '../../checkpoints/sql.js';
import { type Query, sql, TENANT } from '../../driver/index.js';
import { indexKey, readMeta } from '../../engine/sql.js';
import { measureCard, measurePacket, type PacketInput } from '../../facts/sql.js';
import type { Measured, UnmeasuredDoc } from '../../index/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { cooperativeYield } from '../../kernel/index.js';
import { measureMemory, measureTurn, type TurnMetadata } from '../../memory/sql.js';

interface StoredCard {
  readonly card_id: string;
  readonly content: string;
  readonly tool_calls: string | null;
  readonly metadata: string;
}

interface StoredVersion {
  readonly card_id: string;
  readonly name: string | null;
  readonly metadata: string;
}

const parsed = (text: string | null): Json | undefined => (text === null ? undefined : (JSON.parse(text) as Json));

function measureTurnCard(key: string, { content, tool_calls, metadata: stored }: StoredCard): Measured {
  const { tool_results, metadata } = JSON.parse(stored) as TurnMetadata;
  return measureTurn(key, { content: parsed(content), tool_calls: parsed(tool_calls), tool_results, metadata });
}

const measureVersion = (key: string, { content }: StoredCard, { name, metadata }: StoredVersion): Measured =>
  measureMemory(key, { content, name, metadata: JSON.parse(metadata) as JsonObject });

const measureCardRow = (key: string, { content, tool_calls, metadata }: StoredCard): Measured =>
  measureCard(key, parsed(content)!, parsed(tool_calls), JSON.parse(metadata) as JsonObject);

const isVersion = ({ entity_type }: UnmeasuredDoc) => entity_type === 'artifact' || entity_type === 'note';

async function cardsOf(query: Query, docs: readonly UnmeasuredDoc[]): Promise<Map<string, StoredCard>> {
  if (docs.length === 0) return new Map();
  const rows = await query.all<StoredCard>(
    sql`SELECT card_id, content, tool_calls, metadata FROM cards
        WHERE tenant_id = ${TENANT} AND card_id = ANY(${docs.map(({ content_id }) => content_id)})
          AND content IS NOT NULL`,
  );
  return new Map(rows.map((row) => [row.card_id, row]));
}

async function versionsOf(query: Query, docs: readonly UnmeasuredDoc[]): Promise<Map<string, StoredVersion>> {
  if (docs.length === 0) return new Map();
  const rows = await query.all<StoredVersion>(
    sql`SELECT v.card_id, v.name, v.metadata FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${docs.map(({ entity_id }) => entity_id)})
          AND v.card_id = ANY(${docs.map(({ content_id }) => content_id)}) AND v.metadata IS NOT NULL`,
  );
  return new Map(rows.map((row) => [row.card_id, row]));
}

async function packetsOf(query: Query, docs: readonly UnmeasuredDoc[]): Promise<Map<string, PacketInput>> {
  if (docs.length === 0) return new Map();
  const rows = await query.all<{ packet_id: string; envelope: string }>(
    sql`SELECT packet_id, envelope FROM packet_store
        WHERE tenant_id = ${TENANT} AND packet_id = ANY(${docs.map(({ content_id }) => content_id)})
          AND envelope IS NOT NULL`,
  );
  return new Map(rows.map(({ packet_id, envelope }) => [packet_id, JSON.parse(envelope) as PacketInput]));
}

async function thoughtsOf(query: Query, docs: readonly UnmeasuredDoc[]): Promise<Map<string, string>> {
  const bodies = new Map<string, string>();
  for (const { content_id } of docs) {
    const [checkpoint_id, id] = parseThoughtContentId(content_id);
    const row = await query.get<{ body: string }>(
      sql`SELECT body FROM thoughts
          WHERE tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id} AND id = ${id} AND removed > 0`,
    );
    if (row) bodies.set(content_id, row.body);
  }
  return bodies;
}

/** By number; without documents whose content is gone. */
export async function measureDocs(query: Query, docs: readonly UnmeasuredDoc[]): Promise<Map<number, Measured>> {
  const measures = new Map<number, Measured>();
  if (docs.length === 0) return measures;
  const meta = await readMeta(query);
  if (!meta) throw new Error('the store has no key');
  const key = indexKey(meta, query.tenant);
  const of = (type: string) => docs.filter(({ entity_type }) => entity_type === type);
  const cards = await cardsOf(
    query,
    docs.filter(({ entity_type }) => entity_type !== 'packet' && entity_type !== 'thought'),
  );
  const versions = await versionsOf(query, docs.filter(isVersion));
  const packets = await packetsOf(query, of('packet'));
  const thoughts = await thoughtsOf(query, of('thought'));
  const measure = (doc: UnmeasuredDoc): Measured | undefined => {
    const card = cards.get(doc.content_id);
    if (doc.entity_type === 'turn') return card && measureTurnCard(key, card);
    if (doc.entity_type === 'card') return card && measureCardRow(key, card);
    if (doc.entity_type === 'packet') {
      const packet = packets.get(doc.content_id);
      return packet && measurePacket(key, packet);
    }
    if (doc.entity_type === 'thought') {
      const body = thoughts.get(doc.content_id);
      return body === undefined ? undefined : measureThought(key, body);
    }
    const version = versions.get(doc.content_id);
    return card && version && measureVersion(key, card, version);
  };
  const maybeYield = cooperativeYield();
  for (const doc of docs) {
    const measured = measure(doc);
    if (measured) measures.set(Number(doc.doc_no), measured);
    await maybeYield();
  }
  return measures;
}
