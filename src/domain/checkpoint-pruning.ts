/** Which checkpoints of an execution stay, what they descend from then, and which stored parts nobody sees any more. */

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
export function planPruning(
  nodes: readonly PrunedNode[],
  head_id: string | null,
  rules: KeepRules,
): PrunePlan {
  const keep = new Set<string>();
  if (head_id !== null) keep.add(head_id);
  for (const { checkpoint_id } of nodes.slice(-rules.keep_newest)) keep.add(checkpoint_id);
  if (rules.keep_daily) {
    const lastOf = new Map(nodes.map((node) => [Math.floor(node.timestamp / DAY_MS), node.checkpoint_id]));
    for (const id of lastOf.values()) keep.add(id);
  }
  if (rules.keep_named)
    for (const { checkpoint_id, name } of nodes) if (name !== null) keep.add(checkpoint_id);
  if (rules.keep_branch_points) for (const id of branchPoints(nodes)) keep.add(id);
  const kept = nodes.filter(({ checkpoint_id }) => keep.has(checkpoint_id));
  const removed = nodes.filter(({ checkpoint_id }) => !keep.has(checkpoint_id));
  const gone = new Map(removed.map(({ checkpoint_id, parent_id }) => [checkpoint_id, parent_id]));
  const parents = new Map<string, string | null>();
  for (const { checkpoint_id, parent_id } of kept) {
    let parent = parent_id;
    while (parent !== null && gone.has(parent)) parent = gone.get(parent)!;
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

export interface LineBase {
  readonly line: number;
  readonly base_line: number | null;
  readonly base_revision: number | null;
}

/** From where stored parts are seen: the checkpoints that stay, and the lines that branched off. */
export class Views {
  /** By line, the revisions at which it is looked at, rising. */
  readonly #revisions = new Map<number, number[]>();
  readonly #lines = new Set<number>();

  constructor(checkpoints: Iterable<Pick<PrunedNode, 'line' | 'revision'>>, lines: readonly LineBase[]) {
    for (const { line, revision } of checkpoints) this.#look(line, revision);
    // A line has a higher number than the one that it branched off, so that those nobody looks at are known before.
    for (const { line, base_line, base_revision } of lines.toSorted((a, b) => b.line - a.line)) {
      if (!this.#revisions.has(line)) continue;
      this.#lines.add(line);
      if (base_line !== null) this.#look(base_line, base_revision!);
    }
    for (const revisions of this.#revisions.values()) revisions.sort((a, b) => a - b);
  }

  #look(line: number, revision: number): void {
    const revisions = this.#revisions.get(line);
    if (revisions) revisions.push(revision);
    else this.#revisions.set(line, [revision]);
  }

  isUsed(line: number): boolean {
    return this.#lines.has(line);
  }

  /** Whether a part that shows on a line from one revision until before another is seen. */
  see(line: number, added: number, removed: number): boolean {
    const revisions = this.#revisions.get(line);
    if (!revisions) return false;
    let low = 0;
    let high = revisions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (revisions[middle]! < added) low = middle + 1;
      else high = middle;
    }
    return low < revisions.length && revisions[low]! < removed;
  }
}
