/** Trees as pictures: lines that know how deep they stand. */
import { grey } from './terminal.js';

export interface Line {
  readonly depth: number;
  readonly text: string;
}

/** Puts the branches before lines that are in depth-first order. */
export function draw(lines: readonly Line[]): string[] {
  const drawn: string[] = [];
  // From the last to the first: what is set for a depth says that a line follows there.
  const follows: boolean[] = [];
  for (const { depth, text } of [...lines].reverse()) {
    let branches = '';
    for (let level = 1; level <= depth; level++) {
      if (level === depth) branches += follows[level] ? '├─ ' : '└─ ';
      else branches += follows[level] ? '│  ' : '   ';
    }
    drawn.push(`${grey(branches)}${text}`);
    follows[depth] = true;
    follows.length = depth + 1;
  }
  return drawn.reverse();
}
