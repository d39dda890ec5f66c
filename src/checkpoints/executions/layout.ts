/** Lays out the checkpoints of a bundle: the line of each, and the rows of their states. */
import type { Steps } from '../../kernel/index.js';
import type { PendingWrite } from '../checkpoints/model.js';
import { bytesOf, draftOf, ownerOf, rowFor } from '../checkpoints/rows.js';
import type { CheckpointRow, NewLine } from '../checkpoints/store.js';
import { emptyState, nextSteps, type State } from '../states/snapshot-state.js';
import { endsByOrdinal, PART_KINDS, type PartRows, rowsOf } from '../states/store.js';
import type { BundledCheckpoint } from './bundle.js';

export interface LaidOut {
  readonly rows: readonly CheckpointRow[];
  readonly lines: readonly NewLine[];
  readonly parts: PartRows;
  readonly writes: readonly { readonly checkpoint_id: string; readonly writes: readonly PendingWrite[] }[];
  readonly bytes: number;
}

interface Placed {
  readonly row: CheckpointRow;
  readonly state: State;
}

/** `checkpoints` have parents before their children. */
export function* layOut(tenant: string, checkpoints: readonly BundledCheckpoint[]): Steps<LaidOut> {
  const placed = new Map<string, Placed>();
  const lines = new Map<number, NewLine>();
  const parts: PartRows = { items: [], thoughts: [], tool_calls: [] };
  /** By revision. */
  const ends: ReturnType<typeof endsByOrdinal>[] = [];
  let bytes = 0;
  const rows: CheckpointRow[] = [];
  for (const { summary, snapshot } of checkpoints) {
    yield;
    const revision = rows.length + 1;
    const parent = placed.get(summary.parent?.checkpoint_id ?? '');
    const line = lineFor(parent, lines, revision);
    const next = yield* nextSteps(parent?.state ?? emptyState, snapshot);
    Object.assign(next.stamp, { line: line.line, revision });
    const at = { line: line.line, revision, agent_id: summary.agent_id };
    const row = rowFor(draftOf(summary), null, at, next, 0);
    const added = rowsOf(tenant, ownerOf(row, line.base_line !== null, next.state), next, next.stamp);
    for (const { ref } of next.ended)
      if (ref.stamp.line === line.line) ends[ref.stamp.revision]!.get(ref.ordinal)!(revision);
    ends[revision] = endsByOrdinal(added);
    bytes += bytesOf(next);
    for (const kind of PART_KINDS) for (const part of added[kind]) parts[kind].push(part);
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

/** The parent's line if the parent is its last checkpoint, else a new line. */
function lineFor(parent: Placed | undefined, lines: Map<number, NewLine>, revision: number): NewLine {
  const before = parent && lines.get(parent.row.line)!;
  const line =
    before && before.last === parent.row.revision
      ? { ...before, last: revision }
      : {
          line: revision,
          base_line: parent?.row.line ?? null,
          base_revision: parent?.row.revision ?? null,
          last: revision,
        };
  lines.set(line.line, line);
  return line;
}
