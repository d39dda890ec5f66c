/** Reads cards within the size limit of an answer. */
import type { Query } from '../../driver/index.js';
import { type Call, inChunks, inWords, sizeOf } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';
import { type CardRow, findCards } from './store.js';

export const cardBytes = ({ content, tool_calls, metadata, subject_ids, derived_from }: CardRow): number =>
  sizeOf(content) + sizeOf(tool_calls) + sizeOf(metadata) + sizeOf(subject_ids) + sizeOf(derived_from);

/** Reads each card once. Refuses early if the answer, with each card `shown` times, would be too large. */
export async function readCards(
  call: Call,
  query: Query,
  card_ids: Iterable<string>,
  shown: (row: CardRow) => number,
  fewer: string,
): Promise<Map<string, CardRow>> {
  const limit = call.limits.max_answer_bytes;
  const cards = new Map<string, CardRow>();
  let bytes = 0;
  const read = async (ids: readonly string[]) => [...(await findCards(query, ids)).values()];
  for await (const rows of inChunks([...new Set(card_ids)], read, cardBytes)) {
    for (const row of rows) {
      const times = shown(row);
      if (times === 0) continue;
      bytes += times * cardBytes(row);
      if (bytes > limit) {
        const message = `the answer would exceed ${inWords(limit)}: ask for fewer ${fewer}`;
        throw new CairnError('TOO_LARGE', message, { limit });
      }
      cards.set(row.card_id, row);
    }
  }
  return cards;
}
