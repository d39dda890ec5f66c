/** The index as a search uses it: in the database, or in memory for a small tenant. */
import type { Query } from '../../driver/index.js';
import { countPostings, type Features, featuresOf, postings, type Range, type StoreMark } from '../../index/sql.js';
import type { DocQuery } from './conditions.js';
import { matchingAmong, type Neighbours, neighboursOf, type TurnPosition } from './matching-docs.js';
import { type DocBits, ownWithTerms } from './narrow-search.js';

export interface SearchedIndex {
  /** Documents with a term, newest first. */
  postings(code: string, range: Range, limit: number): Promise<number[]>;
  /** Document frequency of a term, counted up to a limit. */
  count(code: string, limit: number): Promise<number>;
  /** Documents of a narrow search with any of the terms, if they are fewer than `postings`. */
  ownWithTerms(codes: readonly string[], range: Range, postings: number): Promise<DocBits[] | undefined>;
  /** Readable documents that pass the filters, in the given order. */
  matchingAmong(doc_nos: readonly number[]): Promise<number[]>;
  /** The turns around the given ones, without these. */
  neighbours(found: readonly TurnPosition[]): Promise<Neighbours>;
  /** Ranking features, in no order. */
  features(doc_nos: readonly number[]): Promise<Features[]>;
}

export const storedIndex = (query: Query, request: DocQuery, mark: StoreMark): SearchedIndex => ({
  postings: (code, range, limit) => postings(query, code, range, limit),
  count: (code, limit) => countPostings(query, code, limit),
  ownWithTerms: (codes, range, fewer) => ownWithTerms(query, request, codes, range, fewer),
  matchingAmong: (doc_nos) => matchingAmong(query, request, doc_nos),
  neighbours: (found) => neighboursOf(query, request, found),
  features: (doc_nos) => featuresOf(query, mark, doc_nos),
});
