/** What in a window contradicts what, as it is told beside each: the model cannot see the edge between them. */
import { toIso } from '../../kernel/index.js';
import { inOneLine } from './contained.js';
import { cutAt, shortened } from './cut.js';
import type { WindowPart } from './window.js';

export interface Conflict {
  /** What others call it. */
  readonly called: string;
  /** The ids of those that it contradicts, or that contradict it. */
  readonly with: readonly string[];
  /** When it was so, in ms: what was told later may be of long ago. */
  readonly at: number;
}

interface Told {
  readonly id: string;
  readonly conflict?: Conflict;
}

const LONGEST_NAME = 80;

/** By its name, or by how its text begins. */
export function calledBy(name: string | null | undefined, text: string): string {
  const called = inOneLine((name || text.slice(0, 2 * LONGEST_NAME).toWellFormed()).trim());
  return called.length <= LONGEST_NAME ? called : shortened(called, cutAt(called, LONGEST_NAME));
}

const ageOf = (other: Conflict, own: Conflict): string =>
  other.at === own.at ? '' : other.at < own.at ? ', older' : ', newer';

/** Of each in the list, those in the list that it is in conflict with, in the order of the list. */
export function conflictsAmong<T extends Told>(list: readonly T[]): Map<T, T[]> {
  const inConflict = list.filter(({ conflict }) => conflict !== undefined);
  return new Map(inConflict.map((one) => [one, inConflict.filter(({ id }) => one.conflict!.with.includes(id))]));
}

/** Such as `"The user lives in Basel." (2026-11-17, older)`. */
const remark = (own: Conflict, other: Conflict): string =>
  `"${other.called}" (${toIso(other.at).slice(0, 10)}${ageOf(other, own)})`;

export const withRemarks = (part: WindowPart, own: Told, others: readonly Told[] = []): WindowPart => ({
  ...part,
  contradicts: others.map((other) => remark(own.conflict!, other.conflict!)),
});
