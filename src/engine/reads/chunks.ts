/** Chunked reads: the number of rows depends on their size, so that a chunk is a few MiB. */
export const CHUNK = { first: 16, least: 2, most: 500, growth: 8, bytes: 4 * 1024 * 1024 };

/** The size of the next chunk. It grows in steps, since large rows may follow small ones. */
export function nextLimit<R>(rows: readonly R[], limit: number, bytesOf: (row: R) => number): number {
  if (rows.length === 0) return limit;
  const bytes = rows.reduce((sum, row) => sum + bytesOf(row), 1);
  const fitting = Math.floor((CHUNK.bytes * rows.length) / bytes);
  return Math.max(CHUNK.least, Math.min(fitting, limit * CHUNK.growth, CHUNK.most));
}

export const sizeOf = (text: string | null): number => (text === null ? 0 : Buffer.byteLength(text));

/** Approximate size of an own event without its facts. */
const EVENT_BYTES = 500;

export const packetBytes = (row: { readonly envelope: string | null; readonly facts?: string | null }): number =>
  typeof row.facts === 'string' ? EVENT_BYTES + sizeOf(row.facts) : sizeOf(row.envelope);

/** Reads the rows of the keys in chunks; the consumer may stop early. */
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

const MIB = 1024 * 1024;
export const formatBytes = (bytes: number): string => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`);
