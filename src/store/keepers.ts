/** What keeps turns of a scope from being erased: checkpoints, restored scopes and sealed boxes that hold them. */
import type { Driver } from '../driver/driver.js';
import { sql } from '../driver/sql.js';
import type { ClosedScope } from '../model/scope.js';
import { BOX_ENDED } from './endings.js';

type Keeper = ClosedScope['kept_by'][number];

/** How many are named at most. */
const FEW = 100;

/**
 * Boxes that start with the scope's box, or with one that does, and hold its turns up to a position; and boxes that
 * hold turns of it on their own. A long read: it looks at every turn.
 */
export async function keepersOf(driver: Driver, tenant: string, box_id: string): Promise<Keeper[]> {
  const rows = await driver.long<{
    box_id: string;
    held_by: string | null;
    scope_id: string | null;
    turns: number;
  }>(
    tenant,
    sql`WITH RECURSIVE derived(box_id, upto) AS (
          SELECT b.box_id, b.next_position - 1 FROM boxes b WHERE b.tenant_id = ${tenant} AND b.box_id = ${box_id}
          UNION
          SELECT f.box_id, CASE WHEN d.upto < f.base_position - 1 THEN d.upto ELSE f.base_position - 1 END
            FROM derived d CROSS JOIN boxes f
            WHERE f.tenant_id = ${tenant} AND f.base_box_id = d.box_id AND f.base_until IS NULL
        ), holding(box_id, turns) AS (
          SELECT d.box_id, d.upto FROM derived d WHERE d.box_id <> ${box_id}
          UNION ALL
          SELECT o.box_id, COUNT(*) FROM box_entries e
            JOIN box_entries o ON o.tenant_id = e.tenant_id AND o.card_id = e.card_id AND o.box_id <> e.box_id
              AND o.removed_revision IS NULL
            WHERE e.tenant_id = ${tenant} AND e.box_id = ${box_id} GROUP BY o.box_id
        )
        SELECT b.box_id, b.held_by, k.scope_id, h.turns FROM holding h
          JOIN boxes b ON b.tenant_id = ${tenant} AND b.box_id = h.box_id
          LEFT JOIN scope_checkpoints k ON k.tenant_id = b.tenant_id AND b.held_by = 'checkpoint:' || b.box_id
            AND k.box_id = b.box_id
          WHERE (b.sealed_at IS NOT NULL OR b.held_by IS NOT NULL) AND (b.held_by IS NULL OR ${BOX_ENDED} IS NULL)
            AND h.turns > 0
          ORDER BY b.box_id LIMIT ${FEW}`,
  );
  return rows.map(({ box_id: id, held_by, scope_id, turns }): Keeper => {
    if (scope_id !== null) return { kind: 'checkpoint', id: scope_id, turns };
    if (held_by?.startsWith('scope:')) return { kind: 'scope', id: held_by.slice('scope:'.length), turns };
    return { kind: 'sealed_box', id, turns };
  });
}
