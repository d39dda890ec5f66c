/** Ids to look rows up by, each in a query of its own. */
import { type Sql, sql } from './sql.js';

/**
 * A list of ids on PostgreSQL, each once and under the name i, to be followed by CROSS JOIN LATERAL: without statistics
 * PostgreSQL takes what a tenant has for little, and would rather read all of it than look for each id.
 */
export const eachId = (ids: readonly string[]): Sql => sql`(SELECT DISTINCT unnest(${ids}::text[]) AS id) i`;
