/** The tree of checkpoints of an execution. */
import { invalid } from '../../kernel/index.js';

interface TreeNode<R> {
  readonly row: R;
  readonly children: string[];
}

/**
 * Keeps the order of the rows, but puts parents before their children. A row whose parent is missing is a root; so is
 * the first row of a cycle, which imported files can form.
 */
export function buildTree<R extends { readonly checkpoint_id: string; readonly parent_id: string | null }>(
  rows: readonly R[],
): { roots: string[]; nodes: TreeNode<R>[] } {
  const byId = new Map(rows.map((row) => [row.checkpoint_id, row]));
  const placed = new Map<string, TreeNode<R>>();
  const roots: string[] = [];
  for (const row of rows) {
    const chain = new Set<R>();
    for (let at: R | undefined = row; at && !placed.has(at.checkpoint_id) && !chain.has(at); ) {
      chain.add(at);
      at = byId.get(at.parent_id ?? '');
    }
    for (const next of [...chain].reverse()) {
      const { checkpoint_id, parent_id } = next;
      const siblings = placed.get(parent_id ?? '')?.children ?? roots;
      siblings.push(checkpoint_id);
      placed.set(checkpoint_id, { row: next, children: [] });
    }
  }
  return { roots, nodes: [...placed.values()] };
}

export interface Descendant {
  readonly id: string;
  readonly timestamp: number;
  readonly parent_id: string | undefined;
}

/** Parents before their children, otherwise by time and id, so that the same files always give the same order. */
export function parentsFirst<T extends Descendant>(all: readonly T[]): T[] {
  const byId = new Map(all.map((one) => [one.id, one]));
  const sorted = all.toSorted((a, b) => a.timestamp - b.timestamp || (a.id < b.id ? -1 : 1));
  const rows = sorted.map((one) => ({ one, checkpoint_id: one.id, parent_id: one.parent_id ?? null }));
  const { roots, nodes } = buildTree(rows);
  const cycle = roots.find((id) => byId.has(byId.get(id)!.parent_id ?? ''));
  if (cycle !== undefined) throw invalid(`checkpoint ${cycle} descends from itself`);
  return nodes.map(({ row }) => row.one);
}
