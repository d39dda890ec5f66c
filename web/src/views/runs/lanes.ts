/** The branch tree as lanes, like a commit graph: a row per checkpoint, a lane per branch. */
import type { CheckpointNode } from 'cairndb/client';

export interface LaneRow {
  readonly node: CheckpointNode;
  readonly lane: number;
  /** Lanes whose lines pass by without a checkpoint here. */
  readonly passing: readonly number[];
  /** Lanes that begin at this checkpoint. */
  readonly forks: readonly number[];
  readonly hasParent: boolean;
  /** The lane goes on below. */
  readonly continues: boolean;
}

/** Nodes in the order of their times, parents first. The first child continues the lane of its parent. */
export function lanesOf(nodes: readonly CheckpointNode[]): readonly LaneRow[] {
  const sorted = [...nodes].sort((a, b) => a.timestamp - b.timestamp || a.step_number - b.step_number);
  const rowOf = new Map(sorted.map((node, row) => [node.checkpoint_id, row]));
  const lanes = new Map<string, number>();
  const first = new Map<string, string>();
  let free = 0;
  for (const { checkpoint_id: id, parent_checkpoint_id: parent } of sorted) {
    const above = parent === null ? undefined : lanes.get(parent);
    if (parent !== null && above !== undefined && !first.has(parent)) {
      first.set(parent, id);
      lanes.set(id, above);
    } else lanes.set(id, free++);
  }
  const passing: number[][] = sorted.map(() => []);
  const forks: number[][] = sorted.map(() => []);
  for (const [row, { checkpoint_id: id, parent_checkpoint_id: parent }] of sorted.entries()) {
    const from = parent === null ? undefined : rowOf.get(parent);
    if (from === undefined) continue;
    const lane = lanes.get(id)!;
    for (let between = from + 1; between < row; between++) passing[between]!.push(lane);
    if (first.get(parent!) !== id) forks[from]!.push(lane);
  }
  return sorted.map((node, row) => ({
    node,
    lane: lanes.get(node.checkpoint_id)!,
    passing: passing[row]!,
    forks: forks[row]!,
    hasParent: node.parent_checkpoint_id !== null && rowOf.has(node.parent_checkpoint_id),
    continues: first.has(node.checkpoint_id),
  }));
}

/** From the root to a checkpoint. */
export function pathTo(nodes: readonly CheckpointNode[], id: string | null | undefined): readonly CheckpointNode[] {
  const byId = new Map(nodes.map((node) => [node.checkpoint_id, node]));
  const path: CheckpointNode[] = [];
  for (let node = id ? byId.get(id) : undefined; node; node = byId.get(node.parent_checkpoint_id ?? ''))
    path.unshift(node);
  return path;
}
