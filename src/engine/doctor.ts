/** Doctor checks. Modules export theirs, and maintenance runs them all. */
import type { Sql } from '../driver/index.js';

export interface Check {
  /** The invariant, as a sentence. */
  readonly name: string;
  /** A few rows that break it, each with a `what` to print. */
  readonly broken: () => Sql;
}

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly problems: readonly string[];
}

/** Content held against its hash or checksum. */
export interface CheckedContent {
  readonly id: string;
  readonly intact: boolean;
}

export const MAX_EXAMPLES = 5;
