/** Decides which checkpoints of an execution a prune keeps, and who becomes their parent. */
import type { In } from '../../engine/contract.js';
import { groupBy } from '../../kernel/index.js';
import type { CheckpointRow } from './store.js';

export type PrunedNode = Pick<
  CheckpointRow,
  'checkpoint_id' | 'parent_id' | 'line' | 'revision' | 'name' | 'timestamp'
>;

export interface PrunePlan {
  readonly kept: readonly PrunedNode[];
  readonly removed: readonly PrunedNode[];
}

const DAY_MS = 86_400_000;

/** `nodes` are in the order of their revisions. The current checkpoint is always kept. */
export function planPruning(
  nodes: readonly PrunedNode[],
  head_id: string | null,
  { keep_newest = 1, keep_daily, keep_branch_points = true, keep_named = true }: In<'executions.prune'>,
): PrunePlan {
  const keep = new Set<string>();
  if (head_id !== null) keep.add(head_id);
  for (const { checkpoint_id } of nodes.slice(-keep_newest)) keep.add(checkpoint_id);
  if (keep_daily) {
    const lastOf = new Map(nodes.map((node) => [Math.floor(node.timestamp / DAY_MS), node.checkpoint_id]));
    for (const id of lastOf.values()) keep.add(id);
  }
  if (keep_named) for (const { checkpoint_id, name } of nodes) if (name !== null) keep.add(checkpoint_id);
  if (keep_branch_points)
    for (const [id, children] of groupBy(nodes, ({ parent_id }) => parent_id))
      if (id !== null && children.length > 1) keep.add(id);
  const kept = nodes.filter(({ checkpoint_id }) => keep.has(checkpoint_id));
  const removed = nodes.filter(({ checkpoint_id }) => !keep.has(checkpoint_id));
  return { kept, removed };
}

/** New parents once some checkpoints are removed: the nearest remaining ancestor, or null for a root. */
export function parentsWithout(
  removed: readonly PrunedNode[],
  kept: readonly PrunedNode[],
): ReadonlyMap<string, string | null> {
  const gone = new Map(removed.map(({ checkpoint_id, parent_id }) => [checkpoint_id, parent_id]));
  const parents = new Map<string, string | null>();
  for (const { checkpoint_id, parent_id } of kept) {
    let parent = parent_id;
    // Imported files can name each other as parents: a cycle ends where it began.
    const passed = new Set([checkpoint_id]);
    while (parent !== null && gone.has(parent) && !passed.has(parent)) {
      passed.add(parent);
      parent = gone.get(parent)!;
    }
    if (parent !== null && passed.has(parent)) parent = null;
    if (parent !== parent_id) parents.set(checkpoint_id, parent);
  }
  return parents;
}

/** A thought or tool call, and one of the line segments on which it is visible. */
export interface EntrySpan {
  readonly checkpoint_id: string;
  readonly id: string;
  readonly line: number;
  readonly start: number;
  readonly until: number;
}

/** For each entry, the first remaining checkpoint that still has it. */
export function newOwners(
  kept: readonly PrunedNode[],
  spans: readonly EntrySpan[],
): { readonly entry: EntrySpan; readonly owner: PrunedNode }[] {
  const lines = groupBy(kept, ({ line }) => line);
  const owners = new Map<string, { entry: EntrySpan; owner: PrunedNode }>();
  for (const entry of spans) {
    const owner = lines.get(entry.line)?.find(({ revision }) => revision >= entry.start);
    if (!owner || owner.revision >= entry.until) continue;
    const key = JSON.stringify([entry.checkpoint_id, entry.id]);
    const before = owners.get(key);
    if (!before || owner.revision < before.owner.revision) owners.set(key, { entry, owner });
  }
  return [...owners.values()];
}
