/**
 * The signs of vectors in memory, for SQLite: read once, then only what came since. What has gone stays until there is
 * much of it: whether a document may be seen is asked of the database each time.
 */
import { type Query, sql, type VectorSpace } from '../../driver/index.js';
import type { Range } from '../postings.js';
import { bitsFromText, distance } from './encoding.js';

/** Of all tenants together: some 5 million documents of 384 dimensions, 1.3 million of 1,536. Of more, the newest count. */
const MAX_BYTES = 256 * 1024 * 1024;
const AT_A_TIME = 5000;
/** So many may be gone before all is read anew, or a quarter if that is more. */
const MAX_GONE = 1000;

/** Documents with their bits, in the order in which they got them. */
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

  /** Twice as much, up to the limit; then an eighth, the oldest, gives way. */
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

  /** The nearest, up to a limit; of equals the newer. */
  nearest(bits: Uint32Array, { from, to }: Range, limit: number): number[] {
    const byDistance: number[][] = [];
    for (let i = 0; i < this.size; i++) {
      const doc_no = this.#docs[i]!;
      if (doc_no < from || doc_no > to) continue;
      const far = distance(this.#bits, i * this.words, bits, 0, this.words);
      const alike = byDistance[far];
      if (alike) alike.push(doc_no);
      else byDistance[far] = [doc_no];
    }
    const found: number[] = [];
    for (const alike of byDistance) {
      if (!alike) continue;
      if (found.length >= limit) break;
      found.push(...alike.sort((a, b) => b - a).slice(0, limit - found.length));
    }
    return found;
  }
}

/** The one that was asked for last is the last. */
const tables = new Map<string, BitTable>();

/** The bits of a tenant, with all that this moment of the database has. */
export async function bitTable(query: Query, store: string, space: VectorSpace): Promise<BitTable> {
  const { tenant, model, dimensions } = space;
  const name = JSON.stringify([store, tenant, model, dimensions]);
  const removed = await removedOf(query, tenant, model);
  let table = tables.get(name);
  tables.delete(name);
  if (!table || removed - table.removed > Math.max(MAX_GONE, table.size / 4)) {
    table = new BitTable(dimensions, MAX_BYTES);
    table.removed = removed;
  }
  tables.set(name, table);
  for (;;) {
    const rows = await query.all<{ link_no: number; doc_no: number; bits: string }>(
      sql`SELECT link_no, doc_no, bits FROM vector_docs
          WHERE tenant_id = ${tenant} AND model = ${model} AND dimensions = ${dimensions} AND link_no > ${table.last_link}
          ORDER BY link_no LIMIT ${AT_A_TIME}`,
    );
    for (const { doc_no, bits } of rows) table.add(doc_no, bits);
    if (rows.length > 0) table.last_link = rows.at(-1)!.link_no;
    if (rows.length < AT_A_TIME) break;
  }
  forgetOthers(name);
  return table;
}

async function removedOf(query: Query, tenant: string, model: string): Promise<number> {
  const row = await query.get<{ removed: number }>(
    sql`SELECT removed FROM vector_progress WHERE tenant_id = ${tenant} AND model = ${model}`,
  );
  return row?.removed ?? 0;
}

/** Those of tenants that were not asked about for longest, until the rest fits. */
function forgetOthers(name: string): void {
  let bytes = 0;
  for (const table of tables.values()) bytes += table.bytes;
  for (const [other, table] of tables) {
    if (bytes <= MAX_BYTES || other === name) return;
    tables.delete(other);
    bytes -= table.bytes;
  }
}
