/** What documents say, as an embedder is to read it. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import { embeddingText, type Lacking } from '../../index/index.js';
import { line, saidIn } from '../../index/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { contentKey, sourceOf, textsOf } from '../search/contents.js';

/** By doc_no; without what is gone, and empty where nothing is said. */
export async function embeddingTexts(query: Query, docs: readonly Lacking[]): Promise<Map<number, string>> {
  const ofCards = docs.filter(({ entity_type }) => sourceOf(entity_type) === 'card');
  const cards = await cardParts(
    query,
    ofCards.map(({ content_id }) => content_id),
  );
  const others = await textsOf(
    query,
    docs.filter((doc) => !ofCards.includes(doc)),
  );
  const texts = new Map<number, string>();
  for (const doc of docs) {
    const { doc_no, content_id, name, speaker } = doc;
    const ofCard = sourceOf(doc.entity_type) === 'card' ? cards.get(content_id) : undefined;
    const parts = ofCard ?? { said: others.get(contentKey(doc)), caption: null };
    if (parts.said === undefined) continue;
    texts.set(Number(doc_no), embeddingText({ name, speaker, said: parts.said, caption: parts.caption }));
  }
  return texts;
}

async function cardParts(
  query: Query,
  card_ids: readonly string[],
): Promise<Map<string, { said: string; caption: string | null }>> {
  if (card_ids.length === 0) return new Map();
  const rows = await query.all<{
    card_id: string;
    content: string;
    tool_calls: string | null;
    metadata: string | null;
  }>(
    sql`SELECT card_id, content, tool_calls, metadata FROM cards
        WHERE tenant_id = ${TENANT} AND card_id = ANY(${card_ids}) AND erased_at IS NULL AND deleted_at IS NULL`,
  );
  return new Map(
    rows.map(({ card_id, content, tool_calls, metadata }) => {
      const said = saidIn(JSON.parse(content) as Json);
      const called = tool_calls === null ? '' : saidIn(JSON.parse(tool_calls) as Json);
      const { caption } = (metadata === null ? {} : JSON.parse(metadata)) as JsonObject;
      return [card_id, { said: said === '' || said === 'null' ? called : said, caption: line(caption, 2000) }];
    }),
  );
}
