/** What a search asks of the index and its rows, whoever answers: the database, or memory for a tenant that is small. */
import type { Query } from '../../driver/index.js';
import { countPostings, type Features, featuresOf, postings, type Range, type StoreMark } from '../../index/sql.js';
import type { Asked } from './conditions.js';
import { type Having, ownHaving } from './lead.js';
import { type Neighbours, neighboursOf, type Placed, wantedAmong } from './wanted-docs.js';

export interface SearchedIndex {
  /** The documents that have a term, the newest first. */
  postings(code: string, range: Range, limit: number): Promise<number[]>;
  /** How many documents have a term, counted no further than a limit. */
  count(code: string, limit: number): Promise<number>;
  /** What of the scope or trajectory asked for has any of these terms, where that is shorter than so many postings. */
  ownHaving(codes: readonly string[], range: Range, postings: number): Promise<Having[] | undefined>;
  /** Which of these can be read and are wanted, in this order. */
  wantedAmong(doc_nos: readonly number[]): Promise<number[]>;
  /** The turns around those found that are not among them. */
  neighbours(found: readonly Placed[]): Promise<Neighbours>;
  /** What these are ranked by, in no order. */
  features(doc_nos: readonly number[]): Promise<Features[]>;
}

export const storedIndex = (query: Query, asked: Asked, mark: StoreMark): SearchedIndex => ({
  postings: (code, range, limit) => postings(query, code, range, limit),
  count: (code, limit) => countPostings(query, code, limit),
  ownHaving: (codes, range, fewer) => ownHaving(query, asked, codes, range, fewer),
  wantedAmong: (doc_nos) => wantedAmong(query, asked, doc_nos),
  neighbours: (found) => neighboursOf(query, asked, found),
  features: (doc_nos) => featuresOf(query, mark, doc_nos),
});
