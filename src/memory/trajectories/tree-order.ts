/** The order of a trajectory tree, and how much of it fits into an answer. */
import { groupBy } from '../../kernel/index.js';

export interface TreePosition {
  readonly id: string;
  readonly depth: number;
}

/** Depth first: parents before children, siblings in the order given. */
export function depthFirst<R>(
  rows: readonly R[],
  idOf: (row: R) => string,
  /** A parent that is not among the rows counts as null. */
  parentOf: (row: R) => string | null,
): TreePosition[] {
  const known = new Set(rows.map(idOf));
  const isRoot = (row: R) => !known.has(parentOf(row) ?? '');
  const below = groupBy(
    rows.filter((row) => !isRoot(row)),
    (row) => parentOf(row)!,
  );
  // An explicit stack: a chain of tasks can be deeper than the call stack.
  const stack = rows.filter(isRoot).map((row) => ({ row, depth: 0 }));
  stack.reverse();
  const positions: TreePosition[] = [];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { row, depth } = next;
    positions.push({ id: idOf(row), depth });
    for (const child of (below.get(idOf(row)) ?? []).reverse()) stack.push({ row: child, depth: depth + 1 });
  }
  return positions;
}

/** The leading trajectories whose nodes reach the limit; the last one may fit only in part. */
export function withinLimit(
  order: readonly TreePosition[],
  /** Number of scopes, artifacts and notes per trajectory. */
  sizes: ReadonlyMap<string, number>,
  limit: number,
): { readonly included: readonly TreePosition[]; readonly complete: boolean } {
  let nodes = 0;
  let count = 0;
  while (count < order.length && nodes < limit) nodes += 1 + (sizes.get(order[count++]!.id) ?? 0);
  return { included: order.slice(0, count), complete: count === order.length && nodes <= limit };
}
