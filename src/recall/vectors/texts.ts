/** The texts of documents for an embedder. */
import type { Query } from '../../driver/index.js';
import { embeddingText, type UnembeddedDoc } from '../../index/index.js';
import { messageText, trimmedLine } from '../../index/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { contentKey, readCardTexts, sourceOf, textsOf } from '../search/contents.js';

/** By doc_no, without erased contents; empty if there is no text. */
export async function embeddingTexts(query: Query, docs: readonly UnembeddedDoc[]): Promise<Map<number, string>> {
  const isOfCard = ({ entity_type }: UnembeddedDoc) => sourceOf(entity_type) === 'card';
  const card_ids = docs.filter(isOfCard).map(({ content_id }) => content_id);
  const cards = new Map((await readCardTexts(query, card_ids)).map((row) => [row.card_id, row]));
  const others = docs.filter((doc) => !isOfCard(doc));
  const otherTexts = await textsOf(query, others);
  const texts = new Map<number, string>();
  for (const doc of docs) {
    const { doc_no, content_id, name, speaker } = doc;
    const card = isOfCard(doc) ? cards.get(content_id) : undefined;
    const said = card ? cardText(card) : otherTexts.get(contentKey(doc));
    if (said === undefined) continue;
    const { caption } = JSON.parse(card?.metadata ?? '{}') as JsonObject;
    texts.set(
      Number(doc_no),
      embeddingText({ name, speaker, said, caption: card ? trimmedLine(caption, 2000) : null }),
    );
  }
  return texts;
}

/** A card without a text is read by its calls. */
function cardText({ content, tool_calls }: { readonly content: string; readonly tool_calls: string | null }): string {
  const said = messageText(JSON.parse(content) as Json);
  if (said !== '' && said !== 'null') return said;
  return tool_calls === null ? '' : messageText(JSON.parse(tool_calls) as Json);
}
