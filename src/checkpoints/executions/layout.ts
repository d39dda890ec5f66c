/** Lays out checkpoints that come together: which line each is on, and the rows that their states become. */
import type { Steps } from '../../kernel/index.js';
import type { CheckpointSummary, PendingWrite } from '../checkpoints/model.js';
import { bytesOf, type Draft, ownerOf, rowFor } from '../checkpoints/rows.js';
import type { CheckpointRow, LineRow } from '../checkpoints/store.js';
import { carriedBy } from '../states/carried-members.js';
import { emptyState, nextSteps, type State } from '../states/snapshot-state.js';
import { endable, type PartRows, rowsOf } from '../states/store.js';
import type { BundledCheckpoint } from './bundle.js';

export interface LaidOut {
  readonly rows: readonly CheckpointRow[];
  readonly lines: readonly LineRow[];
  readonly parts: PartRows;
  readonly writes: readonly { readonly checkpoint_id: string; readonly writes: readonly PendingWrite[] }[];
  readonly bytes: number;
}

interface Placed {
  readonly row: CheckpointRow & { followed: number };
  readonly state: State;
}

/** Parents stand before their children. */
export function* layOut(tenant: string, checkpoints: readonly BundledCheckpoint[]): Steps<LaidOut> {
  const placed = new Map<string, Placed>();
  const lines = new Map<number, LineRow>();
  const parts: PartRows = { items: [], thoughts: [], tool_calls: [] };
  /** By revision. */
  const ends: ReturnType<typeof endable>[] = [];
  let bytes = 0;
  const rows: CheckpointRow[] = [];
  for (const { summary, snapshot } of checkpoints) {
    yield;
    const revision = rows.length + 1;
    const parent = placed.get(summary.parent?.checkpoint_id ?? '');
    const line = lineFor(parent, lines, revision);
    const next = yield* nextSteps(parent?.state ?? emptyState, snapshot);
    Object.assign(next.stamp, { line: line.line, revision });
    const row = rowFor(draftOf(summary), undefined, { line: line.line, revision, agent_id: summary.agent_id }, next, 0);
    const made = rowsOf(tenant, ownerOf(row, line.base_line !== null, next.state), next, next.stamp);
    for (const { ref } of next.ended)
      if (ref.stamp.line === line.line) ends[ref.stamp.revision]!.get(ref.ordinal)!(revision);
    ends[revision] = endable(made);
    bytes += bytesOf(next);
    for (const name of ['items', 'thoughts', 'tool_calls'] as const)
      for (const part of made[name]) parts[name].push(part);
    placed.set(summary.id, { row, state: next.state });
    rows.push(row);
  }
  return {
    rows,
    lines: [...lines.values()],
    parts,
    writes: checkpoints
      .filter(({ pending_writes }) => pending_writes.length > 0)
      .map(({ summary, pending_writes }) => ({ checkpoint_id: summary.id, writes: pending_writes })),
    bytes,
  };
}

/** That of the parent if it is the last there, else a line of its own. */
function lineFor(parent: Placed | undefined, lines: Map<number, LineRow>, revision: number): LineRow {
  const before = parent && lines.get(parent.row.line)!;
  const line =
    before && parent.row.followed === 0
      ? before
      : { line: revision, base_line: parent?.row.line ?? null, base_revision: parent?.row.revision ?? null };
  if (line === before) parent!.row.followed = 1;
  lines.set(line.line, line);
  return line;
}

const draftOf = (summary: CheckpointSummary): Draft => ({
  checkpoint_id: summary.id,
  execution_id: summary.execution_id,
  parent_id: null,
  absent_parent_id: summary.parent?.checkpoint_id,
  branch: { is_branch: summary.parent?.is_branch ?? false, reason: summary.parent?.branch_reason ?? null },
  metadata: summary.metadata,
  name: summary.name ?? null,
  description: summary.description ?? null,
  labels: summary.labels,
  timestamp: summary.timestamp,
  carried: carriedBy(summary),
});
