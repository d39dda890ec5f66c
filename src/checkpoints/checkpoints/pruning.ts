/** Which checkpoints of an execution stay when it is pruned, and what they descend from then. */

export interface PrunedNode {
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
  readonly line: number;
  readonly revision: number;
  readonly name: string | null;
  readonly timestamp: number;
}

export interface KeepRules {
  readonly keep_newest: number;
  readonly keep_daily: boolean;
  readonly keep_branch_points: boolean;
  readonly keep_named: boolean;
}

export interface PrunePlan {
  readonly kept: readonly PrunedNode[];
  readonly removed: readonly PrunedNode[];
  /** Of those whose parent goes: the nearest ancestor that stays, or null for a root. */
  readonly parents: ReadonlyMap<string, string | null>;
}

const DAY_MS = 86_400_000;

/** The nodes are given in the order of their revisions. Where the execution stands always stays. */
export function planPruning(nodes: readonly PrunedNode[], head_id: string | null, rules: KeepRules): PrunePlan {
  const keep = new Set<string>();
  if (head_id !== null) keep.add(head_id);
  for (const { checkpoint_id } of nodes.slice(-rules.keep_newest)) keep.add(checkpoint_id);
  if (rules.keep_daily) {
    const lastOf = new Map(nodes.map((node) => [Math.floor(node.timestamp / DAY_MS), node.checkpoint_id]));
    for (const id of lastOf.values()) keep.add(id);
  }
  if (rules.keep_named) for (const { checkpoint_id, name } of nodes) if (name !== null) keep.add(checkpoint_id);
  if (rules.keep_branch_points) for (const id of branchPoints(nodes)) keep.add(id);
  const kept = nodes.filter(({ checkpoint_id }) => keep.has(checkpoint_id));
  const removed = nodes.filter(({ checkpoint_id }) => !keep.has(checkpoint_id));
  const gone = new Map(removed.map(({ checkpoint_id, parent_id }) => [checkpoint_id, parent_id]));
  const parents = new Map<string, string | null>();
  for (const { checkpoint_id, parent_id } of kept) {
    let parent = parent_id;
    // A file may have named a parent that was made later, as its child: a circle ends where it began.
    const passed = new Set([checkpoint_id]);
    while (parent !== null && gone.has(parent) && !passed.has(parent)) {
      passed.add(parent);
      parent = gone.get(parent)!;
    }
    if (parent !== null && passed.has(parent)) parent = null;
    if (parent !== parent_id) parents.set(checkpoint_id, parent);
  }
  return { kept, removed, parents };
}

function branchPoints(nodes: readonly PrunedNode[]): string[] {
  const children = new Map<string, number>();
  for (const { parent_id } of nodes)
    if (parent_id !== null) children.set(parent_id, (children.get(parent_id) ?? 0) + 1);
  return [...children].filter(([, count]) => count > 1).map(([id]) => id);
}

/** An entry, by the checkpoint that brought it, and one of the stretches of lines on which it shows. */
export interface EntrySpan {
  readonly checkpoint_id: string;
  readonly id: string;
  readonly line: number;
  readonly start: number;
  readonly until: number;
}

/** For each entry that a checkpoint which stays still has, the first of those. */
export function heirsOf(
  kept: readonly PrunedNode[],
  spans: readonly EntrySpan[],
): { readonly entry: EntrySpan; readonly heir: string }[] {
  const lines = new Map<number, PrunedNode[]>();
  for (const node of kept) {
    const before = lines.get(node.line);
    if (before) before.push(node);
    else lines.set(node.line, [node]);
  }
  const found = new Map<string, { entry: EntrySpan; node: PrunedNode }>();
  for (const entry of spans) {
    const nodes = lines.get(entry.line) ?? [];
    const node = nodes.find(({ revision }) => revision >= entry.start);
    if (!node || node.revision >= entry.until) continue;
    const key = JSON.stringify([entry.checkpoint_id, entry.id]);
    const before = found.get(key);
    if (!before || node.revision < before.node.revision) found.set(key, { entry, node });
  }
  return [...found.values()].map(({ entry, node }) => ({ entry, heir: node.checkpoint_id }));
}
