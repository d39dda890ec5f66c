/** Contradictions between parts of a window, remarked on beside each part: the model cannot see the edges. */
import { contradicted } from '../updating/mark-text.js';
import { cutAt, shortened } from './cut.js';
import { inOneLine } from './escaping.js';
import type { WindowPart } from './window.js';

export interface Conflict {
  /** The name by which remarks on other parts refer to it. */
  readonly called: string;
  /** Ids at the other ends of its Contradicts edges, in either direction. */
  readonly with: readonly string[];
  /** When it was true, in ms; a statement recorded later may be about an earlier time. */
  readonly at: number;
}

interface Conflicting {
  readonly id: string;
  readonly conflict?: Conflict;
}

const LONGEST_NAME = 80;

/** Its name, or the beginning of its text. */
export function calledBy(name: string | null | undefined, text: string): string {
  const called = inOneLine((name || text.slice(0, 2 * LONGEST_NAME).toWellFormed()).trim());
  return called.length <= LONGEST_NAME ? called : shortened(called, cutAt(called, LONGEST_NAME));
}

/** For each in the list, the others in the list that it is in conflict with, in list order. */
export function conflictsAmong<T extends Conflicting>(list: readonly T[]): Map<T, T[]> {
  const inConflict = list.filter(({ conflict }) => conflict !== undefined);
  return new Map(inConflict.map((one) => [one, inConflict.filter(({ id }) => one.conflict!.with.includes(id))]));
}

export const withRemarks = (part: WindowPart, own: Conflicting, others: readonly Conflicting[] = []): WindowPart => ({
  ...part,
  contradicts: others.map(({ conflict }) => contradicted(conflict!.called, conflict!.at, own.conflict!.at)),
});
