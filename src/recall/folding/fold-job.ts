/** Measures the oldest documents of a tail and makes a segment of them, off the event loop (`driver.away`). */
import type { Query } from '../../driver/index.js';
import { type Fold, makeFold } from '../../index/sql.js';
import { measureDocs } from './contents.js';

export const run = (query: Query, input: unknown): Promise<Fold | undefined> =>
  makeFold(query, measureDocs, (input as { readonly limit: number }).limit);
