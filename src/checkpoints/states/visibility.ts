/** Which stored parts of states are still visible from a checkpoint. */
import { groupBy } from '../../kernel/index.js';
import type { LineRow } from './parts.js';

/** The slot of a part in its container, as stored. */
interface StoredSlot {
  readonly parent: number;
  readonly key: string | null;
  readonly position: number;
}

/** A slot that a branch has filled or emptied itself, and since which revision. */
export interface Override extends StoredSlot {
  readonly line: number;
  readonly added: number;
}

/** A part that stands for a container. */
export interface Holder extends StoredSlot {
  readonly child: number;
  /** Zero if its content was erased. */
  readonly removed: number;
}

/** How branches override their bases. */
export interface Overrides {
  readonly overrides: readonly Override[];
  readonly holders: readonly Holder[];
}

/** Visible on its line from revision `added` to before `removed`. */
export interface VisiblePart extends StoredSlot {
  readonly line: number;
  readonly added: number;
  readonly removed: number;
}

const nameOf = ({ parent, key, position }: StoredSlot): string => JSON.stringify([parent, key ?? position]);

export class Visibility {
  /** By line, the revisions of its checkpoints, ascending. */
  readonly #revisions = new Map<number, number[]>();
  /** By line, the used lines that branched off it. */
  readonly #branches = new Map<number, { readonly line: number; readonly revision: number }[]>();
  readonly #used = new Set<number>();
  /** By line and slot, the first revision that overrides the base. */
  readonly #overridden = new Map<number, Map<string, number>>();
  readonly #holders: ReadonlyMap<number, Holder>;

  constructor(
    checkpoints: Iterable<{ readonly line: number; readonly revision: number }>,
    lines: readonly LineRow[],
    { overrides, holders }: Overrides,
  ) {
    for (const [line, nodes] of groupBy(checkpoints, ({ line }) => line))
      this.#revisions.set(
        line,
        nodes.map(({ revision }) => revision).sort((a, b) => a - b),
      );
    // A line has a higher number than its base, so a line's branches are known before the line itself.
    for (const { line, base_line, base_revision } of lines.toSorted((a, b) => b.line - a.line)) {
      if (!this.#revisions.has(line) && !this.#branches.has(line)) continue;
      this.#used.add(line);
      if (base_line === null) continue;
      const branch = { line, revision: base_revision! };
      const siblings = this.#branches.get(base_line);
      if (siblings) siblings.push(branch);
      else this.#branches.set(base_line, [branch]);
    }
    for (const override of overrides) {
      const ofLine = this.#overridden.get(override.line) ?? new Map<string, number>();
      this.#overridden.set(override.line, ofLine);
      ofLine.set(nameOf(override), Math.min(override.added, ofLine.get(nameOf(override)) ?? override.added));
    }
    this.#holders = new Map(holders.map((holder) => [holder.child, holder]));
  }

  isUsed(line: number): boolean {
    return this.#used.has(line);
  }

  /** Whether a checkpoint of its line shows the part, or one of a branch that has not overridden it. */
  isVisible(part: VisiblePart): boolean {
    const { line, added, removed } = part;
    const first = this.#firstFrom(line, added);
    if (first !== undefined && first < removed) return true;
    const branches = this.#branches.get(line)?.filter(({ revision }) => revision >= added && revision < removed);
    if (!branches || branches.length === 0) return false;
    const slots = this.#slotsOf(part);
    return slots !== undefined && branches.some((branch) => this.#isVisibleFrom(branch.line, slots));
  }

  /** The first revision of a checkpoint on a line that is not before `from`. */
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

  /** Its slot and those of its containers: overriding one overrides the part. Undefined if a container was erased. */
  #slotsOf(part: StoredSlot): string[] | undefined {
    const slots = [nameOf(part)];
    for (let at = this.#holders.get(part.parent); at; at = this.#holders.get(at.parent)) {
      if (at.removed === 0) return undefined;
      slots.push(nameOf(at));
    }
    return slots;
  }

  #isVisibleFrom(line: number, slots: readonly string[]): boolean {
    const overridden = this.#overridden.get(line);
    let until = Number.POSITIVE_INFINITY;
    for (const slot of slots) until = Math.min(until, overridden?.get(slot) ?? until);
    const first = this.#revisions.get(line)?.[0];
    if (first !== undefined && first < until) return true;
    return (this.#branches.get(line) ?? []).some(
      (branch) => branch.revision < until && this.#isVisibleFrom(branch.line, slots),
    );
  }
}
