/** What was found, as text: from the card, packet or thought that has it. */
import { thoughtOf } from '../../checkpoints/sql.js';
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { Packet } from '../../facts/contract.js';
import { callsAsText, resultsAsText, textOf } from '../../index/sql.js';
import type { Json } from '../../kernel/contract.js';
import { asList, givingWay, type IndexedType } from '../../kernel/index.js';

export interface Content {
  readonly entity_type: IndexedType;
  readonly content_id: string;
}

/** What has the content of a thing. Clients choose ids: those of a card, a packet and a thought may be the same. */
export const sourceOf = (entity_type: string): 'card' | 'packet' | 'thought' =>
  entity_type === 'packet' || entity_type === 'thought' ? entity_type : 'card';

/** By what a content is told from all others. */
export const contentKey = (of: { readonly entity_type: string; readonly content_id: string }): string =>
  `${sourceOf(of.entity_type)} ${of.content_id}`;

interface StoredText {
  readonly card_id: string;
  readonly content: string;
  readonly tool_calls: string | null;
  readonly metadata: string;
}

export interface Said {
  readonly text: string;
  /** What it calls and is answered, where it says something besides. */
  readonly beside: string;
}

/** What it says; where that is nothing, what it calls and is answered. */
function saidBy({ content, tool_calls, metadata }: StoredText): Said {
  const text = textOf(JSON.parse(content) as Json);
  const { tool_results } = JSON.parse(metadata) as { tool_results?: Json };
  const called = tool_calls === null ? '' : callsAsText(asList(JSON.parse(tool_calls) as Json));
  const beside = [called, resultsAsText(asList(tool_results))].filter((one) => one !== '').join('\n');
  return text === '' ? { text: beside, beside: '' } : { text, beside };
}

/** The texts of these alone, by contentKey. */
export async function textsOf(query: Query, contents: readonly Content[]): Promise<Map<string, string>> {
  const said = await saidOf(query, contents);
  return new Map([...said].map(([content_id, { text }]) => [content_id, text]));
}

/** What these say, by content_id. What is gone is not among them. */
export async function saidOf(query: Query, contents: readonly Content[]): Promise<Map<string, Said>> {
  const said = new Map<string, Said>();
  const giveWay = givingWay();
  const ids = (type: (entity_type: IndexedType) => boolean) =>
    contents.filter(({ entity_type }) => type(entity_type)).map(({ content_id }) => content_id);
  const ofCards = ids((type) => type !== 'packet' && type !== 'thought');
  if (ofCards.length > 0) {
    const rows = await query.all<StoredText>(
      sql`SELECT card_id, content, tool_calls, metadata FROM cards
          WHERE tenant_id = ${TENANT} AND card_id = ANY(${ofCards}) AND erased_at IS NULL AND deleted_at IS NULL`,
    );
    for (const row of rows) {
      said.set(contentKey({ entity_type: 'card', content_id: row.card_id }), saidBy(row));
      await giveWay();
    }
  }
  const ofPackets = ids((type) => type === 'packet');
  if (ofPackets.length > 0) {
    const rows = await query.all<{ packet_id: string; envelope: string }>(
      sql`SELECT packet_id, envelope FROM packet_store
          WHERE tenant_id = ${TENANT} AND packet_id = ANY(${ofPackets}) AND erased_at IS NULL`,
    );
    for (const { packet_id, envelope } of rows) {
      said.set(contentKey({ entity_type: 'packet', content_id: packet_id }), {
        text: textOf((JSON.parse(envelope) as Packet).payload ?? {}),
        beside: '',
      });
      await giveWay();
    }
  }
  for (const content_id of ids((type) => type === 'thought')) {
    const [checkpoint_id, id] = thoughtOf(content_id);
    const row = await query.get<{ body: string }>(
      sql`SELECT body FROM thoughts WHERE tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id}
            AND id = ${id} AND removed > 0`,
    );
    const body = row && (JSON.parse(row.body) as { content?: string });
    if (body?.content !== undefined)
      said.set(contentKey({ entity_type: 'thought', content_id }), { text: body.content, beside: '' });
  }
  return said;
}
