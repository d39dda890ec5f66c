/** Cache of the sign bits of vectors, for SQLite. Removed vectors stay until there are many; visibility is not cached. */
import { type Query, sql, type VectorSpace } from '../../driver/index.js';
import type { Range } from '../segments/store.js';
import { bitsFromText, distance } from './encoding.js';

/** Of all tenants: about 5 million documents of 384 dimensions, 1.3 million of 1,536. Beyond that only the newest. */
const MAX_BYTES = 256 * 1024 * 1024;
const PAGE = 5000;
/** Number of removed vectors after which the table is rebuilt, or a quarter of its size if that is more. */
const MAX_REMOVED = 1000;

/** Documents with their bits, in insertion order. */
export class BitTable {
  readonly words: number;
  readonly #max: number;
  #docs = new Float64Array(64);
  #bits: Uint32Array;
  size = 0;
  last_link = 0;
  removed = 0;

  constructor(dimensions: number, max_bytes: number) {
    this.words = Math.ceil(dimensions / 32);
    this.#max = Math.max(64, Math.floor(max_bytes / (8 + 4 * this.words)));
    this.#bits = new Uint32Array(64 * this.words);
  }

  get bytes(): number {
    return this.#docs.byteLength + this.#bits.byteLength;
  }

  add(doc_no: number, bits: string): void {
    if (this.size === this.#docs.length) this.#makeRoom();
    this.#docs[this.size] = doc_no;
    bitsFromText(bits, this.#bits, this.size * this.words);
    this.size++;
  }

  /** Doubles the capacity up to the limit; then drops the oldest eighth. */
  #makeRoom(): void {
    const room = Math.min(this.#max, 2 * this.#docs.length);
    if (room > this.#docs.length) {
      const [docs, bits] = [new Float64Array(room), new Uint32Array(room * this.words)];
      docs.set(this.#docs);
      bits.set(this.#bits);
      this.#docs = docs;
      this.#bits = bits;
      return;
    }
    const gone = Math.ceil(this.size / 8);
    this.#docs.copyWithin(0, gone);
    this.#bits.copyWithin(0, gone * this.words);
    this.size -= gone;
  }

  /** The nearest documents, of equals the newest first. */
  nearest(bits: Uint32Array, { from, to }: Range, limit: number): number[] {
    const byDistance: number[][] = [];
    for (let i = 0; i < this.size; i++) {
      const doc_no = this.#docs[i]!;
      if (doc_no < from || doc_no > to) continue;
      const bitsApart = distance(this.#bits, i * this.words, bits, 0, this.words);
      const equals = byDistance[bitsApart];
      if (equals) equals.push(doc_no);
      else byDistance[bitsApart] = [doc_no];
    }
    const found: number[] = [];
    for (const equals of byDistance) {
      if (!equals) continue;
      if (found.length >= limit) break;
      found.push(...equals.sort((a, b) => b - a).slice(0, limit - found.length));
    }
    return found;
  }
}

/** In order of last use. */
const tables = new Map<string, BitTable>();

/** The bits of a tenant, complete as of this snapshot. */
export async function bitTable(query: Query, store: string, space: VectorSpace): Promise<BitTable> {
  const { tenant, model, dimensions } = space;
  const name = JSON.stringify([store, tenant, model, dimensions]);
  const removed = await removedOf(query, tenant, model);
  let table = tables.get(name);
  tables.delete(name);
  if (!table || removed - table.removed > Math.max(MAX_REMOVED, table.size / 4)) {
    table = new BitTable(dimensions, MAX_BYTES);
    table.removed = removed;
  }
  tables.set(name, table);
  for (;;) {
    const rows = await query.all<{ link_no: number; doc_no: number; bits: string }>(
      sql`SELECT link_no, doc_no, bits FROM vector_docs
          WHERE tenant_id = ${tenant} AND model = ${model} AND dimensions = ${dimensions} AND link_no > ${table.last_link}
          ORDER BY link_no LIMIT ${PAGE}`,
    );
    for (const { doc_no, bits } of rows) table.add(doc_no, bits);
    if (rows.length > 0) table.last_link = rows.at(-1)!.link_no;
    if (rows.length < PAGE) break;
  }
  evictOthers(name);
  return table;
}

async function removedOf(query: Query, tenant: string, model: string): Promise<number> {
  const row = await query.get<{ removed: number }>(
    sql`SELECT removed FROM vector_progress WHERE tenant_id = ${tenant} AND model = ${model}`,
  );
  return row?.removed ?? 0;
}

/** Drops the least recently used tables until the rest fits. */
function evictOthers(name: string): void {
  let bytes = 0;
  for (const table of tables.values()) bytes += table.bytes;
  for (const [other, table] of tables) {
    if (bytes <= MAX_BYTES || other === name) return;
    tables.delete(other);
    bytes -= table.bytes;
  }
}
