/** Doctor checks of boxes and their entries. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';

export const boxChecks: readonly Check[] = [
  {
    name: 'the length of a box is the number of its entries, with ordinals up to it',
    broken: () =>
      sql`SELECT 'box ' || x.box_id || ' says ' || x.length || ', has ' || (x.inherited + x.own) AS what FROM (
            SELECT b.box_id, b.length, CASE WHEN b.base_until IS NULL THEN COALESCE(b.base_length, 0) ELSE 0 END AS inherited,
              COUNT(e.position) AS own, MIN(e.ordinal) AS first, MAX(e.ordinal) AS last, MIN(e.position) AS start, b.first_position
            FROM boxes b
            LEFT JOIN box_entries e ON e.tenant_id = b.tenant_id AND e.box_id = b.box_id AND e.removed_revision IS NULL
            WHERE b.tenant_id = ${TENANT}
            GROUP BY b.box_id, b.length, b.base_until, b.base_length, b.first_position) x
          WHERE x.inherited + x.own <> x.length OR x.first <> x.inherited + 1 OR x.last <> x.length
            OR x.start < x.first_position LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'the base length of a fork matches its base',
    broken: () =>
      sql`SELECT 'box ' || f.box_id || ' says ' || f.base_length || ' of box ' || f.base_box_id AS what FROM boxes f
          WHERE f.tenant_id = ${TENANT} AND f.base_box_id IS NOT NULL AND f.base_length <> COALESCE((
            SELECT e.ordinal FROM box_entries e WHERE e.tenant_id = f.tenant_id AND e.box_id = f.base_box_id
              AND e.position >= f.base_first AND e.position < f.base_position AND e.added_revision <= f.base_revision
              AND (e.removed_revision IS NULL OR e.removed_revision > f.base_revision)
            ORDER BY e.position DESC LIMIT 1), 0) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'no card is in a box twice',
    broken: () =>
      sql`SELECT 'card ' || e.card_id || ' in box ' || e.box_id AS what FROM box_entries e
          WHERE e.tenant_id = ${TENANT} AND e.removed_revision IS NULL
          GROUP BY e.box_id, e.card_id HAVING COUNT(*) > 1 LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'every entry of a box is a card, and lies within its box',
    broken: () =>
      sql`SELECT 'card ' || e.card_id || ' in box ' || e.box_id AS what FROM box_entries e
          LEFT JOIN cards c ON c.tenant_id = e.tenant_id AND c.card_id = e.card_id
          LEFT JOIN boxes b ON b.tenant_id = e.tenant_id AND b.box_id = e.box_id
          WHERE e.tenant_id = ${TENANT} AND (c.card_id IS NULL OR b.box_id IS NULL
            OR e.position >= b.next_position OR e.added_revision > b.revision) LIMIT ${MAX_EXAMPLES}`,
  },
];
