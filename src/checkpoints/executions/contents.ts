/** All stored content of an execution, read at once for export, and the states of its checkpoints. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { Json } from '../../kernel/contract.js';
import { freeze, type Steps } from '../../kernel/index.js';
import { linesOf } from '../checkpoints/removal.js';
import type { CheckpointRow } from '../checkpoints/store.js';
import type { WriteRow } from '../checkpoints/writes.js';
import type { StoredPart } from '../states/assembly.js';
import { type LineRow, ROOTS } from '../states/parts.js';
import { type Rest, type State, stateOf } from '../states/snapshot-state.js';

interface PartOnLine extends Omit<StoredPart, 'depth'> {
  readonly removed: number;
}

interface ExecutionContents {
  /** In the order of their revisions. */
  readonly checkpoints: readonly CheckpointRow[];
  readonly lines: readonly LineRow[];
  readonly parts: readonly PartOnLine[];
  readonly writes: readonly (WriteRow & { readonly checkpoint_id: string })[];
}

export async function readContents(query: Query, execution_id: string): Promise<ExecutionContents> {
  const ofExecution = sql`WHERE tenant_id = ${TENANT} AND execution_id = ${execution_id}`;
  const checkpoints = await query.all<CheckpointRow>(sql`SELECT * FROM checkpoints ${ofExecution} ORDER BY revision`);
  const lines = await linesOf(query, execution_id);
  const items = await query.all<PartOnLine>(
    sql`SELECT line, added, ordinal, removed, parent, key, position, kind, child, value FROM checkpoint_items
        ${ofExecution}`,
  );
  type Entry = Omit<PartOnLine, 'parent' | 'key' | 'kind' | 'child'>;
  const entry = sql`SELECT line, added, ordinal, removed, position, body AS value`;
  const thoughts = await query.all<Entry>(sql`${entry} FROM thoughts ${ofExecution}`);
  const tool_calls = await query.all<Entry>(sql`${entry} FROM tool_calls ${ofExecution}`);
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

interface Position {
  readonly line: number;
  readonly revision: number;
}

/** Returns a function that gives the state at a position. The states share frozen values. */
export function* statesFrom(
  parts: readonly PartOnLine[],
  lines: readonly LineRow[],
): Steps<(at: Position, rest: Rest) => State> {
  const bases = new Map(lines.map((line) => [line.line, line]));
  const onLine = new Map<number, PartOnLine[]>();
  for (const part of parts) {
    yield;
    const parsed = part.value === null ? part : { ...part, parsed: freeze(JSON.parse(part.value) as Json) };
    const group = onLine.get(part.line);
    if (group) group.push(parsed);
    else onLine.set(part.line, [parsed]);
  }
  return (at, rest) => {
    const visible: StoredPart[] = [];
    let segment: Position | undefined = at;
    for (let depth = 0; segment; depth++) {
      const { line, revision }: Position = segment;
      for (const part of onLine.get(line) ?? [])
        if (part.added <= revision && part.removed > revision) visible.push({ ...part, depth });
      const base = bases.get(line);
      segment = base && base.base_line !== null ? { line: base.base_line, revision: base.base_revision! } : undefined;
    }
    return stateOf(visible, rest, false);
  };
}

/** Size of the parts of an execution up to a revision, as text; shared parts count once. */
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
