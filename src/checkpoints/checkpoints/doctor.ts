/** Doctor checks of executions, their checkpoints, and the parts of their states. */
import { join, type Sql, sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';
import { ROOTS } from '../states/parts.js';
import { NEVER } from '../states/store.js';

const LAST_ROOT = Math.max(...Object.values(ROOTS));

/** Rows of table x whose execution is not deleted: others may be under erasure. */
const live = (): Sql =>
  sql`EXISTS (SELECT 1 FROM executions e WHERE e.tenant_id = ${TENANT} AND e.execution_id = x.execution_id
        AND e.deleted_at IS NULL)`;

/** The same, and the execution has no erasure pending after a prune. */
const settled = (): Sql =>
  sql`${live()} AND NOT EXISTS (SELECT 1 FROM endings u WHERE u.tenant_id = ${TENANT}
        AND u.holder = 'pruned:' || x.execution_id AND u.done_at IS NULL)`;

/** All parts of a tenant, without their content. */
const everyPart = (): Sql =>
  sql`(SELECT p.execution_id, p.line, p.added, p.ordinal, p.removed, p.parent, p.key, p.position, p.kind
         FROM checkpoint_items p WHERE p.tenant_id = ${TENANT}
       UNION ALL
       SELECT p.execution_id, p.line, p.added, p.ordinal, p.removed, 1, NULL, p.position, 'element'
         FROM thoughts p WHERE p.tenant_id = ${TENANT}
       UNION ALL
       SELECT p.execution_id, p.line, p.added, p.ordinal, p.removed, 2, NULL, p.position, 'element'
         FROM tool_calls p WHERE p.tenant_id = ${TENANT})`;

const part = sql`'part ' || x.line || '.' || x.added || '.' || x.ordinal || ' of execution ' || x.execution_id`;

/** Whether a column differs from the body of row x. */
const differsAsText = (member: Sql, column: Sql): Sql => sql`COALESCE(x.body ->> ${member}, '') <> ${column}`;
const differsAsNumber = (member: Sql, column: Sql): Sql =>
  sql`CAST(x.body ->> ${member} AS double precision) <> ${column}`;

export const checkpointChecks: readonly Check[] = [
  {
    name: 'the checkpoint count, revision and current checkpoint of an execution match its checkpoints',
    broken: () =>
      sql`SELECT 'execution ' || x.execution_id || ' says ' || x.checkpoints || ' up to ' || x.revision || ', has '
            || COUNT(c.checkpoint_id) || ' up to ' || COALESCE(MAX(c.revision), 0) AS what
          FROM executions x
          LEFT JOIN checkpoints c ON c.tenant_id = x.tenant_id AND c.execution_id = x.execution_id
          WHERE x.tenant_id = ${TENANT} AND x.deleted_at IS NULL
          GROUP BY x.execution_id, x.checkpoints, x.revision, x.head_id
          HAVING COUNT(c.checkpoint_id) <> x.checkpoints OR MAX(c.revision) > x.revision
            OR COUNT(CASE WHEN c.checkpoint_id = x.head_id THEN 1 END) <> CASE WHEN x.checkpoints = 0 THEN 0 ELSE 1 END
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'every checkpoint is on a line of its execution, and alone at its revision',
    broken: () =>
      sql`SELECT 'checkpoint ' || x.checkpoint_id || ' at ' || x.line || '.' || x.revision AS what FROM checkpoints x
            LEFT JOIN execution_lines l ON l.tenant_id = x.tenant_id AND l.execution_id = x.execution_id AND l.line = x.line
            WHERE x.tenant_id = ${TENANT} AND ${live()}
              AND (l.line IS NULL OR x.revision < l.line)
          UNION ALL
          SELECT 'execution ' || x.execution_id || ' has ' || COUNT(*) || ' checkpoints at ' || x.revision AS what
            FROM checkpoints x WHERE x.tenant_id = ${TENANT} AND ${live()}
            GROUP BY x.execution_id, x.revision HAVING COUNT(*) > 1
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    // The last checkpoint of a line may have been pruned.
    name: 'a line ends where it says, and has no checkpoint or part behind',
    broken: () =>
      sql`SELECT 'line ' || y.line || ' of execution ' || y.execution_id AS what FROM (
            SELECT l.execution_id, l.line, CASE WHEN l.line = x.line THEN x.revision ELSE l.last END AS last
            FROM execution_lines l
            JOIN executions x ON x.tenant_id = l.tenant_id AND x.execution_id = l.execution_id
            WHERE l.tenant_id = ${TENANT} AND ${settled()}) y
          WHERE y.last IS NULL
            OR EXISTS (SELECT 1 FROM checkpoints c WHERE c.tenant_id = ${TENANT} AND c.execution_id = y.execution_id
              AND c.line = y.line AND c.revision > y.last)
            OR EXISTS (SELECT 1 FROM checkpoint_items p WHERE p.tenant_id = ${TENANT} AND p.execution_id = y.execution_id
              AND p.line = y.line AND (p.added > y.last OR (p.removed > y.last AND p.removed <> ${NEVER})))
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'the base of a line exists and is older',
    broken: () =>
      sql`SELECT 'line ' || x.line || ' of execution ' || x.execution_id AS what FROM execution_lines x
          LEFT JOIN execution_lines b ON b.tenant_id = x.tenant_id AND b.execution_id = x.execution_id
            AND b.line = x.base_line
          WHERE x.tenant_id = ${TENANT} AND ${live()} AND ((x.base_line IS NULL) <> (x.base_revision IS NULL)
            OR (x.base_line IS NOT NULL AND (b.line IS NULL OR b.line >= x.line OR x.base_revision >= x.line
              OR x.base_revision < b.line))) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    // The first checkpoint of a line without a base may name a parent that was never imported.
    name: 'the parent of a checkpoint is the one before it on its line, or where the line branched off',
    broken: () =>
      sql`SELECT 'checkpoint ' || y.checkpoint_id || ' has parent ' || COALESCE(y.parent_id, 'none') AS what FROM (
            SELECT x.execution_id, x.checkpoint_id, x.parent_id, x.line,
              LAG(x.checkpoint_id) OVER (PARTITION BY x.execution_id, x.line ORDER BY x.revision) AS previous
            FROM checkpoints x WHERE x.tenant_id = ${TENANT} AND ${live()}) y
          JOIN execution_lines l ON l.tenant_id = ${TENANT} AND l.execution_id = y.execution_id AND l.line = y.line
          WHERE COALESCE(y.previous, (SELECT b.checkpoint_id FROM checkpoints b WHERE b.tenant_id = ${TENANT}
              AND b.execution_id = y.execution_id AND b.line = l.base_line AND b.revision <= l.base_revision
              ORDER BY b.revision DESC LIMIT 1), y.parent_id, '') <> COALESCE(y.parent_id, '')
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'nothing remains of removed checkpoints and of deleted executions after their erasure',
    broken: () =>
      sql`SELECT 'checkpoint ' || x.checkpoint_id AS what FROM checkpoints x
            JOIN checkpoints_gone g ON g.tenant_id = x.tenant_id AND g.checkpoint_id = x.checkpoint_id
            WHERE x.tenant_id = ${TENANT} AND ${live()}
          UNION ALL
          SELECT 'pending write ' || w.task_id || ' of checkpoint ' || w.checkpoint_id AS what FROM checkpoint_writes w
            LEFT JOIN checkpoints c ON c.tenant_id = w.tenant_id AND c.checkpoint_id = w.checkpoint_id
            LEFT JOIN checkpoints_gone g ON g.tenant_id = w.tenant_id AND g.checkpoint_id = w.checkpoint_id
            LEFT JOIN executions e ON e.tenant_id = w.tenant_id AND e.execution_id = w.execution_id
            WHERE w.tenant_id = ${TENANT} AND (e.execution_id IS NULL OR c.execution_id NOT IN (w.execution_id, '')
              OR (c.checkpoint_id IS NULL AND g.checkpoint_id IS NOT NULL))
          UNION ALL
          SELECT 'execution ' || e.execution_id AS what FROM executions e
            JOIN endings u ON u.tenant_id = e.tenant_id AND u.holder = 'execution:' || e.execution_id
            WHERE e.tenant_id = ${TENANT} AND e.deleted_at IS NOT NULL AND u.done_at IS NOT NULL AND (
              e.name IS NOT NULL OR e.metadata IS NOT NULL OR e.thread_id IS NOT NULL OR e.sent_hash IS NOT NULL
              OR EXISTS (SELECT 1 FROM checkpoints c WHERE c.tenant_id = ${TENANT} AND c.execution_id = e.execution_id)
              OR EXISTS (SELECT 1 FROM execution_lines l WHERE l.tenant_id = ${TENANT} AND l.execution_id = e.execution_id)
              OR EXISTS (SELECT 1 FROM ${everyPart()} p WHERE p.execution_id = e.execution_id))
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'every part is on an existing line, and visible between revisions of that line',
    broken: () =>
      sql`SELECT ${part} AS what FROM ${everyPart()} x
          LEFT JOIN execution_lines l ON l.tenant_id = ${TENANT} AND l.execution_id = x.execution_id AND l.line = x.line
          LEFT JOIN executions r ON r.tenant_id = ${TENANT} AND r.execution_id = x.execution_id
          WHERE ${settled()} AND (l.line IS NULL OR x.added < l.line OR x.added > r.revision OR x.removed <= x.added
            OR (x.removed > r.revision AND x.removed <> ${NEVER})) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    // `gone` parts never end: a later part in the same slot overrides them.
    name: 'one part at a time is visible in a slot of a line',
    broken: () =>
      sql`SELECT ${part} AS what FROM (
            SELECT p.*, LEAD(p.added) OVER (PARTITION BY p.execution_id, p.line, p.parent, p.key, p.position
              ORDER BY p.added, p.ordinal) AS next
            FROM ${everyPart()} p WHERE p.kind <> 'gone') x
          WHERE x.next < x.removed AND ${settled()} LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'exactly one part stands for each container',
    broken: () =>
      sql`SELECT ${part} AS what FROM checkpoint_items x
            LEFT JOIN checkpoint_items h ON h.tenant_id = x.tenant_id AND h.execution_id = x.execution_id AND h.child = x.parent
            WHERE x.tenant_id = ${TENANT} AND x.parent > ${LAST_ROOT} AND x.kind <> 'gone' AND h.child IS NULL AND ${settled()}
          UNION ALL
          SELECT 'container ' || x.child || ' of execution ' || x.execution_id AS what FROM checkpoint_items x
            WHERE x.tenant_id = ${TENANT} AND x.child IS NOT NULL AND ${settled()}
            GROUP BY x.execution_id, x.child HAVING COUNT(*) > 1
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    // A prune moves entries to the first remaining checkpoint that has them.
    name: 'thoughts and tool calls match their bodies, and belong to a checkpoint that has them',
    broken: () => {
      const misplaced = (table: Sql) =>
        sql`SELECT ${part} AS what FROM ${table} x
            JOIN checkpoints c ON c.tenant_id = x.tenant_id AND c.checkpoint_id = x.checkpoint_id
            WHERE x.tenant_id = ${TENANT} AND ${settled()}
              AND (c.execution_id <> x.execution_id OR c.revision < x.added
                OR (c.line = x.line AND c.revision >= x.removed))`;
      // A call without an id has a derived one: tool, time, and a suffix if it is not the first.
      const named = sql`x.tool_id || '@' || CAST(x.body -> 'timestamp' AS text)`;
      return sql`${join(
        [
          sql`SELECT ${part} AS what FROM thoughts x WHERE x.tenant_id = ${TENANT} AND ${settled()}
              AND (${differsAsText(sql`'id'`, sql`x.id`)} OR ${differsAsText(sql`'type'`, sql`x.type`)}
                OR ${differsAsNumber(sql`'confidence'`, sql`x.confidence`)})`,
          sql`SELECT ${part} AS what FROM tool_calls x WHERE x.tenant_id = ${TENANT} AND ${settled()}
              AND (${differsAsText(sql`'tool_id'`, sql`x.tool_id`)}
                OR (CAST(x.body -> 'success' AS text) = 'true') <> (x.success = 1)
                OR ${differsAsNumber(sql`'duration_ms'`, sql`x.duration_ms`)}
                OR CASE WHEN x.body ->> 'id' IS NULL
                    THEN x.id <> ${named} AND substr(x.id, 1, length(${named}) + 1) <> ${named} || '#'
                    ELSE x.id <> x.body ->> 'id' END)`,
          misplaced(sql`thoughts`),
          misplaced(sql`tool_calls`),
        ],
        ' UNION ALL ',
      )} LIMIT ${MAX_EXAMPLES}`;
    },
  },
];
