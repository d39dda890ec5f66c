/** Pages of lists, by cursor or offset. */
import type { KeysetPage, Sql, TimeRange } from '../../driver/index.js';
import type { Json, ListOrder } from '../../kernel/contract.js';
import { invalid, toMs } from '../../kernel/index.js';
import { type CursorKey, decodeCursor, encodeCursor } from '../../kernel/node.js';
import type { Call } from '../calls/call.js';
import { CHUNK, nextLimit } from './chunks.js';

export interface PageInput extends Partial<Omit<KeysetPage, 'after'>> {
  readonly cursor?: string | undefined;
}

interface PageRequest<K extends CursorKey> extends KeysetPage<K> {
  readonly after: K | undefined;
  readonly order: ListOrder;
  readonly offset: number;
}

export interface Page<R> {
  readonly rows: R[];
  readonly next_cursor: string | null;
  readonly total: number | null;
}

interface ListOf<R, K extends CursorKey> {
  readonly input: PageInput;
  /** All other filters: a cursor is bound to them. */
  readonly filters: Json;
  readonly key: K extends string ? 'string' : 'number';
  readonly keyOf: (row: R) => K;
  /** Called for one row more than the page has, to know whether there is a next page. */
  readonly read: (page: PageRequest<K>) => Promise<R[]>;
  /** Size of a row in the answer, for lists with large rows; without it a page is one read. */
  readonly bytesOf?: (row: R) => number;
  readonly count: Sql | (() => Promise<number>);
}

export async function listPage<R, K extends CursorKey>(call: Call, list: ListOf<R, K>): Promise<Page<R>> {
  const { cursor, offset, limit = 100, order = 'asc' } = list.input;
  if (cursor !== undefined && offset !== undefined) throw invalid('give either `cursor` or `offset`, not both');
  // A cursor is bound to the direction as well.
  const filters: Json = [list.filters, order];
  const after = cursor === undefined ? undefined : (decodeCursor(call, filters, cursor, list.key) as K);
  const request = { limit, offset: offset ?? 0, after, order };
  const { rows, more } = await readPage(list, request, call.limits.max_answer_bytes);
  const last = rows.at(-1);
  return {
    rows,
    next_cursor: more && last !== undefined ? encodeCursor(call, filters, list.keyOf(last)) : null,
    total: after === undefined ? await countAll(call, list.count) : null,
  };
}

/** Reads chunks until the page is full or exceeds the budget. The first row always fits, so that every page advances. */
async function readPage<R, K extends CursorKey>(
  list: ListOf<R, K>,
  page: PageRequest<K>,
  budget: number,
): Promise<{ rows: R[]; more: boolean }> {
  const { bytesOf } = list;
  const rows: R[] = [];
  let { offset, after } = page;
  let bytes = 0;
  let limit = bytesOf ? CHUNK.first : page.limit + 1;
  for (;;) {
    const asked = Math.min(limit, page.limit + 1 - rows.length);
    const chunk = await list.read({ limit: asked, offset, after, order: page.order });
    for (const row of chunk) {
      bytes += bytesOf?.(row) ?? 0;
      if (rows.length === page.limit || (bytes > budget && rows.length > 0)) return { rows, more: true };
      rows.push(row);
    }
    if (chunk.length < asked) return { rows, more: false };
    // Later chunks continue after the last row, which is behind the offset.
    after = list.keyOf(chunk.at(-1)!);
    offset = 0;
    if (bytesOf) limit = nextLimit(chunk, limit, bytesOf);
  }
}

async function countAll(call: Call, count: Sql | (() => Promise<number>)): Promise<number> {
  if (typeof count === 'function') return count();
  const [row] = await call.driver.long<{ total: number }>(call.tenant, count);
  return row!.total;
}

const optionalMs = (iso: string | undefined): number | undefined => (iso === undefined ? undefined : toMs(iso));

/** The time filters of a list, in milliseconds. */
export const timesOf = (input: { [K in keyof TimeRange]?: string | undefined }): TimeRange => ({
  created_after: optionalMs(input.created_after),
  created_before: optionalMs(input.created_before),
  updated_after: optionalMs(input.updated_after),
  updated_before: optionalMs(input.updated_before),
});
