/** The whole index of a tenant at one moment: its segments and its tail. */
import { acrossTenants, type Query, sql, TENANT } from '../driver/index.js';
import { FoldedIndex, type FoldedMeasures } from './segments/reading.js';
import { deadDocs, type IndexState, type Range } from './segments/store.js';
import { type MeasureDocs, type Tail, tailOf } from './tail.js';

export class TermIndex {
  readonly folded: FoldedIndex;
  readonly tail: Tail;

  constructor(folded: FoldedIndex, tail: Tail) {
    this.folded = folded;
    this.tail = tail;
  }

  /** The number of documents. */
  get docs(): number {
    return this.folded.docs + this.tail.docs;
  }

  /** Document frequency of a term, counted up to a limit. */
  async count(code: number, limit: number): Promise<number> {
    return Math.min(limit, (await this.folded.count(code, limit)) + this.tail.count(code));
  }

  /** The newest documents with a term, newest first. */
  async postings(code: number, range: Range, limit: number): Promise<number[]> {
    const newest = this.tail.postings(code, range, limit);
    if (newest.length >= limit) return newest;
    const older = await this.folded.postings(code, range, limit - newest.length);
    return newest.length === 0 ? older : newest.concat(older);
  }

  /** How often each document has each term: by document, then by term. */
  async frequencies(doc_nos: readonly number[], codes: readonly number[]): Promise<number[][]> {
    const sorted = [...doc_nos].sort((a, b) => a - b);
    const places = new Map(sorted.map((doc_no, at) => [doc_no, at]));
    const byCode = await Promise.all(codes.map((code) => this.folded.frequencies(sorted, code)));
    return doc_nos.map((doc_no) => {
      if (this.tail.get(doc_no)) return codes.map((code) => this.tail.frequency(doc_no, code));
      const at = places.get(doc_no)!;
      return byCode.map((frequencies) => frequencies[at]!);
    });
  }

  measures(doc_no: number): FoldedMeasures | undefined {
    return this.tail.get(doc_no) ?? this.folded.measures(doc_no);
  }
}

/** Opens the index of a tenant as of this state. */
export async function openTermIndex(
  query: Query,
  store: string,
  state: IndexState,
  measure: MeasureDocs,
): Promise<TermIndex> {
  const [folded, tail] = await Promise.all([openFolded(query, store, state), tailOf(query, store, state, measure)]);
  return new TermIndex(folded, tail);
}

interface DeadDocs extends Pick<IndexState, 'changes' | 'revision'> {
  readonly doc_nos: ReadonlySet<number>;
}

/** The hidden documents of each tenant, by the state they were read in. */
const dead = new Map<string, DeadDocs>();
const MAX_TENANTS = 1000;

async function openFolded(query: Query, store: string, { changes, revision }: IndexState): Promise<FoldedIndex> {
  const name = `${store} ${query.tenant}`;
  let known = dead.get(name);
  if (known?.changes !== changes || known.revision !== revision) {
    known = { changes, revision, doc_nos: new Set(revision === 0 ? [] : await deadDocs(query)) };
    if (dead.size >= MAX_TENANTS) dead.clear();
    dead.set(name, known);
  }
  return FoldedIndex.open(query, store, revision, known.doc_nos);
}

interface Extent {
  readonly last: number;
  readonly docs: number;
  readonly generation: number;
}

/** The newest document number, the document count of the tenant, and the number of reindexings. */
export async function extentOf(query: Query): Promise<Extent> {
  const row = await query.get<{ last: number; docs: number; generation: string | null }>(
    sql`SELECT t.doc_no AS last,
          (SELECT COALESCE(SUM(docs), 0) FROM search_segments WHERE tenant_id = ${TENANT})
          - (SELECT COUNT(*) FROM search_dead WHERE tenant_id = ${TENANT} AND doc_no <= t.folded_doc)
          + (SELECT COUNT(*) FROM search_docs
             WHERE tenant_id = ${TENANT} AND doc_no > t.folded_doc AND gone IS NULL) AS docs,
          (SELECT value FROM store_meta WHERE name = ${GENERATION}) AS generation
        FROM tenants t WHERE t.tenant_id = ${TENANT}`,
  );
  return { last: Number(row?.last ?? 0), docs: Number(row?.docs ?? 0), generation: Number(row?.generation ?? 0) };
}

export async function generationOf(query: Query): Promise<number> {
  const row = await query.get<{ value: string }>(
    acrossTenants`SELECT value FROM store_meta WHERE name = ${GENERATION}`,
  );
  return Number(row?.value ?? 0);
}

/** In store_meta: the number of reindexings. */
export const GENERATION = 'search_generation';
