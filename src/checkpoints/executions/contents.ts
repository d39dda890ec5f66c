/** All that is stored of an execution, read at once to carry it elsewhere. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { CheckpointRow, LineRow } from '../checkpoints/store.js';
import type { WriteRow } from '../checkpoints/writes.js';
import type { StoredPart } from '../states/assembly.js';
import { ROOTS } from '../states/parts.js';

export interface PartOnLine extends Omit<StoredPart, 'depth'> {
  readonly removed: number;
}

export interface ExecutionContents {
  /** In the order of their revisions. */
  readonly checkpoints: readonly CheckpointRow[];
  readonly lines: readonly LineRow[];
  readonly parts: readonly PartOnLine[];
  readonly writes: readonly (WriteRow & { readonly checkpoint_id: string })[];
}

export async function readContents(query: Query, execution_id: string): Promise<ExecutionContents> {
  const checkpoints = await query.all<CheckpointRow>(
    sql`SELECT * FROM checkpoints WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} ORDER BY revision`,
  );
  const lines = await query.all<LineRow>(
    sql`SELECT line, base_line, base_revision FROM execution_lines
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );
  const items = await query.all<PartOnLine>(
    sql`SELECT line, added, ordinal, removed, parent, key, position, kind, child, value FROM checkpoint_items
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );
  const thoughts = await query.all<Omit<PartOnLine, 'parent' | 'key' | 'kind' | 'child'>>(
    sql`SELECT line, added, ordinal, removed, position, body AS value FROM thoughts
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );
  const tool_calls = await query.all<Omit<PartOnLine, 'parent' | 'key' | 'kind' | 'child'>>(
    sql`SELECT line, added, ordinal, removed, position, body AS value FROM tool_calls
        WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`,
  );
  const writes = await query.all<WriteRow & { checkpoint_id: string }>(
    sql`SELECT w.checkpoint_id, w.task_id, w.place, w.channel, w.value
        FROM checkpoints c CROSS JOIN checkpoint_writes w
        WHERE c.tenant_id = ${TENANT} AND c.execution_id = ${execution_id}
          AND w.tenant_id = ${TENANT} AND w.checkpoint_id = c.checkpoint_id AND w.execution_id = c.execution_id
        ORDER BY w.checkpoint_id, w.ordinal`,
  );
  const element = { key: null, kind: 'element', child: null } as const;
  const parts = [
    ...items,
    ...thoughts.map((part) => ({ ...part, ...element, parent: ROOTS.thoughts })),
    ...tool_calls.map((part) => ({ ...part, ...element, parent: ROOTS.tool_calls })),
  ];
  return { checkpoints, lines, parts, writes };
}

/** What the parts of an execution that came up to a revision take, as text: what several states share is there once. */
export async function storedBytes(
  query: Query,
  { execution_id, revision }: { readonly execution_id: string; readonly revision: number },
): Promise<number> {
  const which = sql`WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND added <= ${revision}`;
  const row = await query.get<{ bytes: number }>(
    sql`SELECT CAST(COALESCE(SUM(stored.bytes), 0) AS BIGINT) AS bytes FROM (
          SELECT OCTET_LENGTH(CAST(value AS text)) AS bytes FROM checkpoint_items ${which}
          UNION ALL SELECT OCTET_LENGTH(CAST(body AS text)) AS bytes FROM thoughts ${which}
          UNION ALL SELECT OCTET_LENGTH(CAST(body AS text)) AS bytes FROM tool_calls ${which}
          UNION ALL SELECT OCTET_LENGTH(CAST(carried AS text)) AS bytes FROM checkpoints
            WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id} AND revision <= ${revision}) stored`,
  );
  return row!.bytes;
}
