/** Pins on turns: checkpoints, restored scopes and sealed boxes that keep them from being erased. */
import { type Driver, sql } from '../../driver/index.js';
import { BOX_ENDED } from '../../engine/sql.js';
import type { ClosedScope } from './model.js';

type Pin = ClosedScope['kept_by'][number];

const MAX_PINS = 100;

/**
 * The turns of a box are its own entries and ranges of the boxes that it was forked from (`chain`). Forks of any of
 * these share the range up to their fork point (`derived`); other boxes contain single cards (`taken`). Of these boxes,
 * the ones that pin a card (facts/cards/lifetime.ts) are returned. A long read: it visits every turn.
 */
export async function pinsOf(driver: Driver, tenant: string, box_id: string): Promise<Pin[]> {
  const rows = await driver.long<{ box_id: string; held_by: string | null; scope_id: string | null; turns: number }>(
    tenant,
    sql`WITH RECURSIVE chain(box_id, base_box_id, base_position, low, until) AS (
          SELECT b.box_id, b.base_box_id, b.base_position, b.first_position, b.next_position FROM boxes b
            WHERE b.tenant_id = ${tenant} AND b.box_id = ${box_id}
          UNION ALL
          SELECT b.box_id, b.base_box_id, b.base_position, b.first_position, c.base_position
            FROM chain c CROSS JOIN boxes b WHERE b.tenant_id = ${tenant} AND b.box_id = c.base_box_id
        ), derived(source, low, until, box_id, removed) AS (
          SELECT c.box_id, c.low, c.until, c.box_id, CAST(NULL AS BIGINT) FROM chain c WHERE c.until > c.low
          UNION ALL
          SELECT d.source, d.low, CASE WHEN d.until < f.base_position THEN d.until ELSE f.base_position END, f.box_id,
              f.base_until
            FROM derived d CROSS JOIN boxes f
            WHERE f.tenant_id = ${tenant} AND f.base_box_id = d.box_id AND f.base_position > d.low
              AND (d.removed IS NULL OR d.removed > f.base_revision)
        ), taken(source, card_id, box_id, added, removed) AS (
          SELECT c.box_id, o.card_id, o.box_id, o.added_revision, o.removed_revision
            FROM chain c CROSS JOIN box_entries e CROSS JOIN box_entries o
            WHERE e.tenant_id = ${tenant} AND e.box_id = c.box_id AND e.position < c.until
              AND o.tenant_id = ${tenant} AND o.card_id = e.card_id AND o.box_id <> e.box_id
          UNION
          SELECT t.source, t.card_id, f.box_id, 0, f.base_until FROM taken t CROSS JOIN boxes f
            WHERE f.tenant_id = ${tenant} AND f.base_box_id = t.box_id AND t.added <= f.base_revision
              AND (t.removed IS NULL OR t.removed > f.base_revision)
        ), holding(source, box_id, turns) AS (
          SELECT d.source, d.box_id, d.until - d.low FROM derived d WHERE d.removed IS NULL
          UNION ALL
          SELECT t.source, t.box_id, COUNT(*) FROM taken t WHERE t.removed IS NULL GROUP BY t.source, t.box_id
        )
        SELECT b.box_id, b.held_by, k.scope_id, CAST(SUM(h.turns) AS BIGINT) AS turns FROM holding h
          JOIN boxes b ON b.tenant_id = ${tenant} AND b.box_id = h.box_id
          JOIN boxes s ON s.tenant_id = ${tenant} AND s.box_id = h.source
          LEFT JOIN scope_checkpoints k ON k.tenant_id = b.tenant_id AND b.held_by = 'checkpoint:' || b.box_id
            AND k.box_id = b.box_id
          LEFT JOIN endings y ON y.tenant_id = s.tenant_id AND y.holder = s.held_by
          WHERE h.box_id <> ${box_id} AND CASE WHEN b.held_by IS NOT NULL THEN ${BOX_ENDED} IS NULL
            ELSE b.sealed_at IS NOT NULL AND (y.ended_at IS NULL OR y.ended_at > b.sealed_at) END
          GROUP BY b.box_id, b.held_by, k.scope_id ORDER BY b.box_id LIMIT ${MAX_PINS}`,
  );
  return rows.map(({ box_id: id, held_by, scope_id, turns }): Pin => {
    if (scope_id !== null) return { kind: 'checkpoint', id: scope_id, turns };
    if (held_by?.startsWith('scope:')) return { kind: 'scope', id: held_by.slice('scope:'.length), turns };
    return { kind: 'sealed_box', id, turns };
  });
}
