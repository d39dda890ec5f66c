/** Shared by the stores of memory: reading ids and times. */
import type { Query, Sql } from '../driver/index.js';
import { toIso } from '../kernel/index.js';

/** The ids that a statement selects as `id`. */
export const selectIds = async (query: Pick<Query, 'all'>, statement: Sql): Promise<string[]> =>
  (await query.all<{ id: string }>(statement)).map(({ id }) => id);

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms));
