/** Reading cards within the limit of an answer. */
import type { Query } from '../../driver/index.js';
import { type Call, inChunks, inWords, sizeOf } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';
import { type CardRow, findCards } from './store.js';

export const cardBytes = (row: CardRow): number =>
  sizeOf(row.content) +
  sizeOf(row.tool_calls) +
  sizeOf(row.metadata) +
  sizeOf(row.subject_ids) +
  sizeOf(row.derived_from);

/**
 * The cards behind ids, each read once. `shown` says how often a card will be in the answer: one that is not is
 * neither kept nor counted. Refuses as soon as the answer would be too large, before the rest is read.
 */
export async function readCards(
  call: Call,
  query: Query,
  card_ids: Iterable<string>,
  shown: (row: CardRow) => number,
  fewer: string,
): Promise<Map<string, CardRow>> {
  const limit = call.limits.max_answer_bytes;
  const found = new Map<string, CardRow>();
  let bytes = 0;
  const read = async (ids: readonly string[]) => [...(await findCards(query, ids)).values()];
  for await (const rows of inChunks([...new Set(card_ids)], read, cardBytes)) {
    for (const row of rows) {
      const times = shown(row);
      if (times === 0) continue;
      bytes += times * cardBytes(row);
      if (bytes > limit) {
        throw new CairnError('TOO_LARGE', `the answer would exceed ${inWords(limit)}: ask for fewer ${fewer}`, {
          limit,
        });
      }
      found.set(row.card_id, row);
    }
  }
  return found;
}
