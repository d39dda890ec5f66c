/** The order of a tree of trajectories, and how much of it fits into an answer. */

export interface Placed {
  readonly id: string;
  readonly depth: number;
}

/** What hangs under what, depth first: each before what is below it, and those of one parent in the order given. */
export function depthFirst<R>(
  rows: readonly R[],
  idOf: (row: R) => string,
  /** Null at the top, as is a parent that is not among the rows. */
  parentOf: (row: R) => string | null,
): Placed[] {
  const known = new Set(rows.map(idOf));
  const below = new Map<string | null, string[]>();
  for (const row of rows) {
    const parent = parentOf(row);
    const at = parent !== null && known.has(parent) ? parent : null;
    const siblings = below.get(at);
    if (siblings) siblings.push(idOf(row));
    else below.set(at, [idOf(row)]);
  }
  // A stack of its own: a chain of tasks may be deeper than calls can be.
  const stack = (below.get(null) ?? []).map((id) => ({ id, depth: 0 })).reverse();
  const placed: Placed[] = [];
  for (let next = stack.pop(); next; next = stack.pop()) {
    placed.push(next);
    const { depth } = next;
    for (const id of (below.get(next.id) ?? []).reverse()) stack.push({ id, depth: depth + 1 });
  }
  return placed;
}

/** Of trajectories in their order, those that are reached before there are enough nodes; the last maybe in part. */
export function reachedBy(
  order: readonly Placed[],
  /** How much a trajectory has besides itself. */
  sizes: ReadonlyMap<string, number>,
  limit: number,
): { readonly reached: readonly Placed[]; readonly complete: boolean } {
  let nodes = 0;
  let count = 0;
  while (count < order.length && nodes < limit) nodes += 1 + (sizes.get(order[count++]!.id) ?? 0);
  return { reached: order.slice(0, count), complete: count === order.length && nodes <= limit };
}
