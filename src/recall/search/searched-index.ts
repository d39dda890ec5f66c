/** The index as a search uses it. Documents are visible or not as the database says; the rest may come from memory. */
import type { Query } from '../../driver/index.js';
import { type Features, featuresOf, type Range, type StoreMark, type TermIndex } from '../../index/sql.js';
import type { DocQuery } from './conditions.js';
import { matchingAmong, type Neighbours, neighboursOf, newest, type TurnPosition } from './matching-docs.js';
import { type DocBits, ownDocs } from './narrow-search.js';

export interface SearchedIndex {
  readonly terms: TermIndex;
  /** Documents of a narrow search with any of the terms, newest first, if they are fewer than `postings`. */
  ownWithTerms(codes: readonly number[], range: Range, postings: number): Promise<DocBits[] | undefined>;
  /** Readable documents that pass the filters, in the given order. */
  matchingAmong(doc_nos: readonly number[]): Promise<number[]>;
  /** Readable documents that pass the filters, newest first. */
  newest(up_to: number, limit: number): Promise<number[]>;
  /** The turns around the given ones, without these. */
  neighbours(found: readonly TurnPosition[]): Promise<Neighbours>;
  /** Ranking features, in no order. */
  features(doc_nos: readonly number[]): Promise<Features[]>;
}

export const storedIndex = (query: Query, request: DocQuery, mark: StoreMark, terms: TermIndex): SearchedIndex => ({
  terms,
  ownWithTerms: (codes, range, fewer) => ownWithTerms(query, request, terms, { codes, range, fewer }),
  matchingAmong: (doc_nos) => matchingAmong(query, request, doc_nos),
  newest: (up_to, limit) => newest(query, request, up_to, limit),
  neighbours: (found) => neighboursOf(query, request, found),
  features: (doc_nos) => featuresOf(query, mark, terms, doc_nos),
});

interface Wanted {
  readonly codes: readonly number[];
  readonly range: Range;
  readonly fewer: number;
}

async function ownWithTerms(
  query: Query,
  request: DocQuery,
  terms: TermIndex,
  { codes, range, fewer }: Wanted,
): Promise<DocBits[] | undefined> {
  const own = await ownDocs(query, request, range, fewer);
  if (!own) return undefined;
  const newest = [...own].sort((a, b) => b - a);
  const frequencies = await terms.frequencies(newest, codes);
  const found: DocBits[] = [];
  for (const [i, doc_no] of newest.entries()) {
    const bits = frequencies[i]!.reduce((sum, count, bit) => (count > 0 ? sum | (1 << bit) : sum), 0);
    if (bits !== 0) found.push([doc_no, bits]);
  }
  return found;
}
