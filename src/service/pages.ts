/** Lists: cursor or offset in, a page with cursor and total out. */
import { type CursorKey, decodeCursor, encodeCursor } from '../domain/cursor.js';
import type { Sql } from '../driver/sql.js';
import { CairnError } from '../model/errors.js';
import type { Json } from '../model/json.js';
import type { Call } from './runtime.js';

interface PageInput {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly offset?: number | undefined;
}

export interface PageRequest<K extends CursorKey> {
  readonly limit: number;
  readonly offset: number;
  readonly after: K | undefined;
}

export interface Page<R> {
  readonly rows: R[];
  readonly next_cursor: string | null;
  readonly total: number | null;
}

export interface ListOf<R, K extends CursorKey> {
  readonly input: PageInput;
  /** What else was asked for: a cursor is good for the same question only. */
  readonly filters: Json;
  readonly key: K extends string ? 'string' : 'number';
  readonly keyOf: (row: R) => K;
  /** Reads one row more than the limit says, to know whether there is a next page. */
  readonly read: (page: PageRequest<K>) => Promise<R[]>;
  readonly count: Sql | (() => Promise<number>);
}

export async function listPage<R, K extends CursorKey>(call: Call, list: ListOf<R, K>): Promise<Page<R>> {
  const { cursor, offset, limit = 100 } = list.input;
  if (cursor !== undefined && offset !== undefined) {
    throw new CairnError('INVALID_INPUT', 'give either cursor or offset, not both');
  }
  const after =
    cursor === undefined ? undefined : (decodeCursor(call.operation, list.filters, cursor, list.key) as K);
  const rows = await list.read({ limit: limit + 1, offset: offset ?? 0, after });
  const more = rows.length > limit;
  if (more) rows.length = limit;
  const last = rows.at(-1);
  return {
    rows,
    next_cursor:
      more && last !== undefined ? encodeCursor(call.operation, list.filters, list.keyOf(last)) : null,
    total: after === undefined ? await countAll(call, list.count) : null,
  };
}

async function countAll(call: Call, count: Sql | (() => Promise<number>)): Promise<number> {
  if (typeof count === 'function') return count();
  const [row] = await call.driver.long<{ total: number }>(call.tenant, count);
  return row!.total;
}
