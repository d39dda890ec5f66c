/**
 * The tail: documents that no segment has yet. A search reads their contents, measures them, and keeps what it measured
 * in memory, so that the next search reads only newer documents. What the database says of them (hidden, another lifetime)
 * is read again when the head row counts a change.
 */
import { byDialect, type Query, type Sql, sql, TENANT } from '../driver/index.js';
import { cooperativeYield } from '../kernel/index.js';
import type { Measured } from './searchable.js';
import type { IndexState, Range } from './segments/store.js';
import { frequencyOf, lowerBound } from './term-codes.js';

/** A document and where its content is. */
export interface UnmeasuredDoc {
  readonly doc_no: number;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly content_id: string;
}

/** Measures documents by their contents; without those whose content is gone. */
export type MeasureDocs = (query: Query, docs: readonly UnmeasuredDoc[]) => Promise<Map<number, Measured>>;

/** What documents are ranked by, besides their measures. */
export interface RankedColumns {
  readonly doc_no: number;
  readonly scope_id: string | null;
  readonly position: number | null;
  readonly role: string | null;
  readonly speaker: string | null;
  readonly occurred_at: number;
}

export interface TailDoc extends UnmeasuredDoc, RankedColumns, Measured {
  expires_at: number | null;
  held_by: string | null;
}

/** Documents between two cooperative yields. */
const YIELD_AFTER = 32;
/** Documents whose contents are read at once. */
const PAGE = 256;
/** Cached documents of all tenants. */
const MAX_DOCS = 100_000;
/** Erased terms leave the cache after this time, though nothing searches. */
export const CACHE_MS = 600_000;

/** The documents of a tail, oldest first. Documents are only added; other changes make a new one. */
class TailDocs {
  readonly list: TailDoc[] = [];
  readonly byNumber = new Map<number, TailDoc>();
  /** Numbers of documents by term, oldest first. */
  readonly byTerm = new Map<number, number[]>();
  readonly byScope = new Map<string, Map<number, TailDoc>>();

  add(doc: TailDoc): void {
    this.list.push(doc);
    this.byNumber.set(doc.doc_no, doc);
    for (const code of doc.terms.codes) {
      const numbers = this.byTerm.get(code);
      if (numbers) numbers.push(doc.doc_no);
      else this.byTerm.set(code, [doc.doc_no]);
    }
    if (doc.scope_id === null || doc.position === null) return;
    const scope = this.byScope.get(doc.scope_id);
    if (scope) scope.set(doc.position, doc);
    else this.byScope.set(doc.scope_id, new Map([[doc.position, doc]]));
  }
}

interface CachedTail extends IndexState {
  readonly docs: TailDocs;
}

const cache = new Map<string, CachedTail>();
const updates = new Map<string, Promise<unknown>>();
let clearing: NodeJS.Timeout | undefined;

/** The tail of a tenant at one moment. */
export class Tail {
  readonly #docs: TailDocs;
  readonly #last: number;

  constructor(docs: TailDocs, last: number) {
    this.#docs = docs;
    this.#last = last;
  }

  get docs(): number {
    const { list } = this.#docs;
    let end = list.length;
    while (end > 0 && list[end - 1]!.doc_no > this.#last) end--;
    return end;
  }

  get(doc_no: number): TailDoc | undefined {
    return this.#docs.byNumber.get(doc_no);
  }

  /** Newest first. */
  newest(up_to: number, limit: number): TailDoc[] {
    const { list } = this.#docs;
    const last = Math.min(up_to, this.#last);
    let end = list.length;
    while (end > 0 && list[end - 1]!.doc_no > last) end--;
    return list.slice(Math.max(0, end - limit), end).reverse();
  }

  /** The turn at a position of a scope. */
  at(scope_id: string, position: number): TailDoc | undefined {
    const doc = this.#docs.byScope.get(scope_id)?.get(position);
    return doc && doc.doc_no <= this.#last ? doc : undefined;
  }

  count(code: number): number {
    const numbers = this.#docs.byTerm.get(code);
    return numbers ? lowerBound(numbers, this.#last + 1) : 0;
  }

  /** The newest documents with a term, newest first. */
  postings(code: number, { from, to }: Range, limit: number): number[] {
    const numbers = this.#docs.byTerm.get(code) ?? [];
    const start = lowerBound(numbers, from);
    const end = lowerBound(numbers, Math.min(to, this.#last) + 1);
    return numbers.slice(Math.max(start, end - limit), end).reverse();
  }

  frequency(doc_no: number, code: number): number {
    const doc = this.get(doc_no);
    return doc ? frequencyOf(doc.terms, code) : 0;
  }
}

/** The tail as of this state. Updates of one tenant run one after another. */
export function tailOf(query: Query, store: string, state: IndexState, measure: MeasureDocs): Promise<Tail> {
  const name = `${store} ${query.tenant}`;
  const update = (updates.get(name) ?? Promise.resolve()).then(() => current(query, name, state, measure));
  const settled = update.catch(() => undefined);
  updates.set(name, settled);
  void settled.then(() => updates.get(name) === settled && updates.delete(name));
  return update.then((docs) => new Tail(docs, state.last));
}

async function current(query: Query, name: string, state: IndexState, measure: MeasureDocs): Promise<TailDocs> {
  const known = cache.get(name);
  // A snapshot from before a change that another search has seen.
  const isOlder = known !== undefined && (state.folded < known.folded || state.changes < known.changes);
  if (isOlder || (!known && state.last === state.folded))
    return added(query, new TailDocs(), state.folded, state, measure);
  let docs = known?.docs ?? new TailDocs();
  if (known && (known.folded !== state.folded || known.changes !== state.changes))
    docs = await withoutGone(query, docs, state);
  await added(query, docs, Math.max(known?.last ?? 0, state.folded), state, measure);
  cache.delete(name);
  cache.set(name, { ...state, last: Math.max(known?.last ?? 0, state.last), docs });
  if (!clearing) clearing = setTimeout(clear, CACHE_MS).unref();
  evict();
  return docs;
}

function clear(): void {
  cache.clear();
  clearing = undefined;
}

/** Keeps the tail used last. */
function evict(): void {
  let docs = [...cache.values()].reduce((sum, one) => sum + one.docs.list.length, 0);
  for (const [name, tail] of cache) {
    if (docs <= MAX_DOCS || cache.size === 1) return;
    cache.delete(name);
    docs -= tail.docs.list.length;
  }
}

type Row = [
  doc_no: number,
  entity_type: string,
  entity_id: string,
  content_id: string,
  scope_id: string | null,
  position: number | null,
  role: string | null,
  speaker: string | null,
  occurred_at: number,
  expires_at: number | null,
  held_by: string | null,
];

const COLUMNS: Sql = sql`d.doc_no, d.entity_type, d.entity_id, d.content_id, d.scope_id, d.position, d.role, d.speaker,
  d.occurred_at, d.expires_at, d.held_by`;

/** As one JSON text, which is faster than rows. */
async function readRows<R>(query: Query, columns: Sql, after: number, to: number, limit: number): Promise<R[]> {
  const rows = sql`(SELECT * FROM search_docs d WHERE d.tenant_id = ${TENANT} AND d.doc_no > ${after}
    AND d.doc_no <= ${to} AND d.gone IS NULL ORDER BY d.doc_no LIMIT ${limit}) d`;
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(json_array(${columns})) AS list FROM ${rows}`,
      postgres: sql`SELECT json_agg(json_build_array(${columns}))::text AS list FROM ${rows}`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as R[];
}

async function added(
  query: Query,
  docs: TailDocs,
  after: number,
  { last }: IndexState,
  measure: MeasureDocs,
): Promise<TailDocs> {
  const maybeYield = cooperativeYield();
  for (let from = after; from < last; ) {
    const rows = (await readRows<Row>(query, COLUMNS, from, last, PAGE)).map(docOf);
    const measures = await measure(query, rows);
    for (const [i, row] of rows.entries()) {
      if (i % YIELD_AFTER === 0) await maybeYield();
      const measured = measures.get(row.doc_no);
      if (measured) docs.add({ ...row, ...measured });
    }
    if (rows.length < PAGE) break;
    from = rows.at(-1)!.doc_no;
  }
  return docs;
}

const docOf = (row: Row) => ({
  doc_no: row[0],
  entity_type: row[1],
  entity_id: row[2],
  content_id: row[3],
  scope_id: row[4],
  position: row[5],
  role: row[6],
  speaker: row[7],
  occurred_at: row[8],
  expires_at: row[9],
  held_by: row[10],
});

/** The documents that are still in the tail, with their present lifetimes and contents. */
async function withoutGone(query: Query, docs: TailDocs, { folded }: IndexState): Promise<TailDocs> {
  const last = docs.list.at(-1)?.doc_no ?? 0;
  const present = new Map<number, [string, number | null, string | null]>();
  if (last > folded) {
    const columns = sql`d.doc_no, d.content_id, d.expires_at, d.held_by`;
    type Present = [number, string, number | null, string | null];
    for (const [doc_no, ...now] of await readRows<Present>(query, columns, folded, last, Number.MAX_SAFE_INTEGER))
      present.set(doc_no, now);
  }
  const left = new TailDocs();
  for (const doc of docs.list) {
    const now = present.get(doc.doc_no);
    if (now) left.add({ ...doc, content_id: now[0], expires_at: now[1], held_by: now[2] });
  }
  return left;
}
