/** Answers are bounded by bytes: rows are read a few at a time, and counted before the next are read. */
import type { Query } from '../../driver/driver.js';
import { type CardRow, findCards } from '../../facts/cards/store.js';
import { CairnError } from '../../kernel/errors.js';
import type { Call } from '../calls/call.js';

/** How many rows are read at a time: fewer when they are large, so that a chunk is a few MiB. */
export const CHUNK = { first: 16, least: 2, most: 500, growth: 8, bytes: 4 * 1024 * 1024 };

/** From the rows of one chunk, how many to read next. It grows in steps: small rows may be followed by large ones. */
export function nextLimit<R>(rows: readonly R[], limit: number, bytesOf: (row: R) => number): number {
  if (rows.length === 0) return limit;
  const bytes = rows.reduce((sum, row) => sum + bytesOf(row), 1);
  const fitting = Math.floor((CHUNK.bytes * rows.length) / bytes);
  return Math.max(CHUNK.least, Math.min(fitting, limit * CHUNK.growth, CHUNK.most));
}

const sizeOf = (text: string | null): number => (text === null ? 0 : Buffer.byteLength(text));

export const cardBytes = (row: CardRow): number =>
  sizeOf(row.content) +
  sizeOf(row.tool_calls) +
  sizeOf(row.metadata) +
  sizeOf(row.subject_ids) +
  sizeOf(row.derived_from);

export const packetBytes = (row: { readonly envelope: string | null }): number => sizeOf(row.envelope);

/** Reads what the keys stand for, chunk by chunk; whoever takes the chunks may stop. */
export async function* inChunks<K, R>(
  keys: readonly K[],
  read: (keys: readonly K[]) => Promise<R[]>,
  bytesOf: (row: R) => number,
): AsyncGenerator<R[], void, undefined> {
  let limit = CHUNK.first;
  for (let start = 0; start < keys.length; ) {
    const rows = await read(keys.slice(start, start + limit));
    start += limit;
    limit = nextLimit(rows, limit, bytesOf);
    yield rows;
  }
}

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
  const read = async (ids: readonly string[]) => [...(await findCards(query, call.tenant, ids)).values()];
  for await (const rows of inChunks([...new Set(card_ids)], read, cardBytes)) {
    for (const row of rows) {
      const times = shown(row);
      if (times === 0) continue;
      bytes += times * cardBytes(row);
      if (bytes > limit) {
        throw new CairnError(
          'TOO_LARGE',
          `the answer would exceed ${inWords(limit)}: ask for fewer ${fewer}`,
          {
            limit,
          },
        );
      }
      found.set(row.card_id, row);
    }
  }
  return found;
}

const MIB = 1024 * 1024;
const inWords = (bytes: number): string => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`);
