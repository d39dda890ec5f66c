/** What a doctor check is. Modules export theirs, and maintenance runs them all. */
import type { Sql } from '../driver/index.js';

export interface Check {
  /** The invariant, as a sentence. */
  readonly name: string;
  /** Rows that break it, at most a few, each with a `what` to print. */
  readonly broken: () => Sql;
}

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly problems: readonly string[];
}

/** What was hashed when it was written. */
export interface HashedContent {
  readonly id: string;
  readonly text: string;
  readonly content_hash: string;
}

/** How many examples of a problem are shown. */
export const MAX_EXAMPLES = 5;
