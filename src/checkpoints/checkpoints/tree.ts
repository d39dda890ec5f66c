/** How the checkpoints of an execution descend from each other. */

export interface Descent {
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
}

export interface Descended<R> {
  readonly row: R;
  readonly children: string[];
}

/**
 * In the order given, but for those that came before their parent: they stand behind it. One whose parent is not among
 * the rows is a root; so is the first that is met where files that were brought in name each other in a circle.
 */
export function descend<R extends Descent>(rows: readonly R[]): { roots: string[]; nodes: Descended<R>[] } {
  const byId = new Map(rows.map((row) => [row.checkpoint_id, row]));
  const placed = new Map<string, Descended<R>>();
  const roots: string[] = [];
  for (const row of rows) {
    for (const next of unplacedAbove(row, byId, placed)) {
      const { checkpoint_id, parent_id } = next;
      const parent = parent_id === null ? undefined : placed.get(parent_id);
      if (parent) parent.children.push(checkpoint_id);
      else roots.push(checkpoint_id);
      placed.set(checkpoint_id, { row: next, children: [] });
    }
  }
  return { roots, nodes: [...placed.values()] };
}

/** A row and those above it that have no place yet, the topmost first. */
function unplacedAbove<R extends Descent>(
  row: R,
  byId: ReadonlyMap<string, R>,
  placed: ReadonlyMap<string, unknown>,
): Iterable<R> {
  const chain = new Set<R>();
  for (let at: R | undefined = row; at && !placed.has(at.checkpoint_id) && !chain.has(at); ) {
    chain.add(at);
    at = at.parent_id === null ? undefined : byId.get(at.parent_id);
  }
  return [...chain].reverse();
}
