/** From where the stored parts of states are seen, and which of them nobody sees any more. */

export interface LineBase {
  readonly line: number;
  readonly base_line: number | null;
  readonly base_revision: number | null;
}

/** Where in its container a part stands, as it is stored. */
export interface Place {
  readonly parent: number;
  readonly key: string | null;
  readonly position: number;
}

/** A place in which a line has put something of its own, or nothing, and since which revision. */
export interface Cover extends Place {
  readonly line: number;
  readonly added: number;
}

/** The part that stands for a container. */
export interface Holder extends Place {
  readonly child: number;
  /** Zero for one whose content was taken out. */
  readonly removed: number;
}

/** What lines that branched off cover of what they branched off from. */
export interface Covering {
  readonly covers: readonly Cover[];
  readonly holders: readonly Holder[];
}

export interface ShownPart extends Place {
  readonly line: number;
  /** It shows from this revision on, until before the other. */
  readonly added: number;
  readonly removed: number;
}

const nameOf = ({ parent, key, position }: Place): string => JSON.stringify([parent, key ?? position]);

/** The checkpoints that stay, and the lines that they show. */
export class Views {
  /** By line, the revisions of its checkpoints, rising. */
  readonly #revisions = new Map<number, number[]>();
  /** By line, those that branched off it and are shown. */
  readonly #branches = new Map<number, { readonly line: number; readonly revision: number }[]>();
  readonly #used = new Set<number>();
  /** By line and place, since when it is covered. */
  readonly #covered = new Map<number, Map<string, number>>();
  readonly #holders = new Map<number, Holder>();

  constructor(
    checkpoints: Iterable<{ readonly line: number; readonly revision: number }>,
    lines: readonly LineBase[],
    { covers, holders }: Covering,
  ) {
    for (const { line, revision } of checkpoints) listed(this.#revisions, line).push(revision);
    for (const revisions of this.#revisions.values()) revisions.sort((a, b) => a - b);
    // A line has a higher number than the one that it branched off, so that those nobody looks at are known before.
    for (const { line, base_line, base_revision } of lines.toSorted((a, b) => b.line - a.line)) {
      if (!this.#revisions.has(line) && !this.#branches.has(line)) continue;
      this.#used.add(line);
      if (base_line !== null) listed(this.#branches, base_line).push({ line, revision: base_revision! });
    }
    for (const cover of covers) {
      let of = this.#covered.get(cover.line);
      if (!of) this.#covered.set(cover.line, (of = new Map()));
      of.set(nameOf(cover), Math.min(cover.added, of.get(nameOf(cover)) ?? cover.added));
    }
    for (const holder of holders) this.#holders.set(holder.child, holder);
  }

  isUsed(line: number): boolean {
    return this.#used.has(line);
  }

  /** Whether a checkpoint shows it: of its line, or of one that branched off and has not covered it. */
  see(part: ShownPart): boolean {
    const { line, added, removed } = part;
    const first = this.#firstFrom(line, added);
    if (first !== undefined && first < removed) return true;
    const branches = this.#branches.get(line)?.filter(({ revision }) => revision >= added && revision < removed);
    if (!branches || branches.length === 0) return false;
    const places = this.#placesOf(part);
    if (!places) return false;
    return branches.some((branch) => this.#seeFrom(branch.line, places));
  }

  /** The first revision of a checkpoint on a line, from one on. */
  #firstFrom(line: number, from: number): number | undefined {
    const revisions = this.#revisions.get(line) ?? [];
    let low = 0;
    let high = revisions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (revisions[middle]! < from) low = middle + 1;
      else high = middle;
    }
    return revisions[low];
  }

  /** Its own place and those of the containers that it is in: what covers one of them covers it. None once one is empty. */
  #placesOf(part: Place): string[] | undefined {
    const places = [nameOf(part)];
    for (let at = this.#holders.get(part.parent); at; at = this.#holders.get(at.parent)) {
      if (at.removed === 0) return undefined;
      places.push(nameOf(at));
    }
    return places;
  }

  #seeFrom(line: number, places: readonly string[]): boolean {
    const covered = this.#covered.get(line);
    let until = Number.POSITIVE_INFINITY;
    for (const place of places) until = Math.min(until, covered?.get(place) ?? until);
    const first = this.#revisions.get(line)?.[0];
    if (first !== undefined && first < until) return true;
    return (this.#branches.get(line) ?? []).some(
      (branch) => branch.revision < until && this.#seeFrom(branch.line, places),
    );
  }
}

function listed<V>(map: Map<number, V[]>, key: number): V[] {
  let list = map.get(key);
  if (!list) map.set(key, (list = []));
  return list;
}
