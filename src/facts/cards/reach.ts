/** Which cards an agent reaches. */
import { type Sql, sql } from '../../driver/index.js';
import type { CardReach, Extent } from '../../engine/index.js';
import { NOTHING } from '../../engine/sql.js';

/** The same as `reachesCard` of the domain, in SQL. */
export function cardsWithin({ loose, held, agent_id }: CardReach): Sql {
  const by = (extent: Extent): Sql => {
    if (extent === 'all') return sql`1 = 1`;
    return extent === 'none' ? NOTHING : sql`c.author_id = ${agent_id}`;
  };
  return sql`((c.held_by IS NULL AND ${by(loose)}) OR (c.held_by IS NOT NULL AND ${by(held)}))`;
}
