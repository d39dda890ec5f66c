/** "Did you mean": the nearest of the words that would fit. */

const MAX_LENGTH = 60;

/** Both words without the letters that they begin and end with in common. */
function differingParts(a: string, b: string): readonly [string, string] {
  const shorter = Math.min(a.length, b.length);
  let begin = 0;
  while (begin < shorter && a[begin] === b[begin]) begin++;
  let end = 0;
  while (end < shorter - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return [a.slice(begin, a.length - end), b.slice(begin, b.length - end)];
}

/** Edits (insert, delete, replace, swap of neighbours) from one word to another; more than `most` count as `most` + 1. */
function distance(word: string, candidate: string, most: number): number {
  const [a, b] = differingParts(word, candidate);
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, beforeLast[j - 2]! + 1);
      row.push(best);
      least = Math.min(least, best);
    }
    // A swap may look back two rows, which are at most one edit better.
    if (least > most + 1) return most + 1;
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

const MAX_EDITS = 3;

/** The nearest candidate, if it is near enough to be meant: a third of its letters may differ, and their case. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const meant = word.toLowerCase();
  let best: { readonly candidate: string; readonly edits: number } | undefined;
  for (const candidate of candidates) {
    const most = Math.min(Math.floor(candidate.length / 3), (best?.edits ?? MAX_EDITS + 1) - 1);
    if (Math.abs(candidate.length - word.length) > most || candidate === word) continue;
    const edits = distance(meant, candidate.toLowerCase(), most);
    if (edits <= most) best = { candidate, edits };
  }
  return best?.candidate;
}

/** Comparisons with the names of a source: enough for 100 mistakes among 200 names. */
const MAX_COMPARISONS = 20_000;

/** Suggests names of one source. Gives up once it has compared too many. */
export class NameSuggestions {
  #left = MAX_COMPARISONS;

  nearest(word: string, names: readonly string[]): string | undefined {
    if (this.#left <= 0) return undefined;
    this.#left -= names.length;
    return nearest(word, names);
  }
}
