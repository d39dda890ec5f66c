/** The texts of search results, read from their cards, packets and thoughts. */
import { parseThoughtContentId } from '../../checkpoints/sql.js';
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { Packet } from '../../facts/contract.js';
import { callsAsText, resultsAsText, textOf, trimmedLine } from '../../index/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { asList, cooperativeYield } from '../../kernel/index.js';

interface ContentRef {
  readonly entity_type: string;
  readonly content_id: string;
}

/** The table with the content. Clients choose ids, so a card, a packet and a thought may have the same. */
export const sourceOf = (entity_type: string): 'card' | 'packet' | 'thought' =>
  entity_type === 'packet' || entity_type === 'thought' ? entity_type : 'card';

/** Unique among all contents. */
export const contentKey = ({ entity_type, content_id }: ContentRef): string => `${sourceOf(entity_type)} ${content_id}`;

interface CardText {
  readonly card_id: string;
  readonly content: string;
  readonly tool_calls: string | null;
  readonly metadata: string;
}

export const readCardTexts = (query: Query, card_ids: readonly string[]): Promise<CardText[]> =>
  card_ids.length === 0
    ? Promise.resolve([])
    : query.all<CardText>(
        sql`SELECT card_id, content, tool_calls, metadata FROM cards
            WHERE tenant_id = ${TENANT} AND card_id = ANY(${card_ids}) AND erased_at IS NULL AND deleted_at IS NULL`,
      );

const MAX_CAPTION = 2000;

interface ContentText {
  readonly text: string;
  /** Tool calls and results of a content that also has a text. */
  readonly calls: string;
  /** Of an attached picture. */
  readonly caption: string;
}

/** A content without a text is shown by its calls and results. */
function cardText({ content, tool_calls, metadata }: CardText): ContentText {
  const text = textOf(JSON.parse(content) as Json);
  const { tool_results, metadata: own = {} } = JSON.parse(metadata) as { tool_results?: Json; metadata?: JsonObject };
  const caption = trimmedLine(own.caption, MAX_CAPTION) ?? '';
  const called = tool_calls === null ? '' : callsAsText(asList(JSON.parse(tool_calls) as Json));
  const calls = [called, resultsAsText(asList(tool_results))].filter((one) => one !== '').join('\n');
  return text === '' ? { text: calls, calls: '', caption } : { text, calls, caption };
}

/** Texts without calls, by contentKey. */
export async function textsOf(query: Query, contents: readonly ContentRef[]): Promise<Map<string, string>> {
  const texts = await contentTexts(query, contents);
  return new Map([...texts].map(([key, { text }]) => [key, text]));
}

/** By contentKey, without erased contents. */
export async function contentTexts(query: Query, contents: readonly ContentRef[]): Promise<Map<string, ContentText>> {
  const texts = new Map<string, ContentText>();
  const maybeYield = cooperativeYield();
  const from = (source: string) =>
    contents.filter(({ entity_type }) => sourceOf(entity_type) === source).map(({ content_id }) => content_id);
  for (const row of await readCardTexts(query, from('card'))) {
    texts.set(contentKey({ entity_type: 'card', content_id: row.card_id }), cardText(row));
    await maybeYield();
  }
  const packet_ids = from('packet');
  if (packet_ids.length > 0) {
    const rows = await query.all<{ content_id: string; envelope: string }>(
      sql`SELECT packet_id AS content_id, envelope FROM packet_store
          WHERE tenant_id = ${TENANT} AND packet_id = ANY(${packet_ids}) AND erased_at IS NULL`,
    );
    for (const { content_id, envelope } of rows) {
      const text = textOf((JSON.parse(envelope) as Packet).payload ?? {});
      texts.set(contentKey({ entity_type: 'packet', content_id }), { text, calls: '', caption: '' });
      await maybeYield();
    }
  }
  for (const content_id of from('thought')) {
    const [checkpoint_id, id] = parseThoughtContentId(content_id);
    const row = await query.get<{ body: string }>(
      sql`SELECT body FROM thoughts WHERE tenant_id = ${TENANT} AND checkpoint_id = ${checkpoint_id}
            AND id = ${id} AND removed > 0`,
    );
    const text = row && (JSON.parse(row.body) as { content?: string }).content;
    if (text !== undefined)
      texts.set(contentKey({ entity_type: 'thought', content_id }), { text, calls: '', caption: '' });
  }
  return texts;
}

/** The cards of the current versions of artifacts and notes; other entities are their own content. */
export async function contentsOf(query: Query, ids: readonly string[]): Promise<string[]> {
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT card_id FROM memory_versions
        WHERE tenant_id = ${TENANT} AND memory_id = ANY(${ids}) AND superseded_at IS NULL`,
  );
  return [...ids, ...rows.map(({ card_id }) => card_id)];
}
