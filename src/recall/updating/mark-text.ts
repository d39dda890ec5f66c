/** The words of marks: what a value replaced, and what contradicts a statement. */
import { toIso } from '../../kernel/index.js';

const LONGEST_VALUE = 80;

const dayOf = (ms: number): string => toIso(ms).slice(0, 10);

/** Such as `since 2026-03-01; before: Hamburg`. */
export function changeMark(at: number, former: string): string {
  const line = former.replace(/\s+/g, ' ').trim().replace(/[.!]$/, '');
  const letters = [...line];
  const shown = letters.length <= LONGEST_VALUE ? line : `${letters.slice(0, LONGEST_VALUE - 1).join('')}…`;
  return `since ${dayOf(at)}; before: ${shown}`;
}

/** Such as `"Lena lives in Oslo." (2026-02-01, older)`; `own`: the time of the statement that it contradicts. */
export function contradicted(called: string, at: number, own: number): string {
  const age = at === own ? '' : at < own ? ', older' : ', newer';
  return `"${called}" (${dayOf(at)}${age})`;
}
