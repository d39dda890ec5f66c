/** Two texts word by word: what stayed, went and came. */

export interface Part {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Words or lines that may differ. Texts with more differences are compared by lines, and then as a whole. */
const MAX_EDITS = 1000;

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function commonStart(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

/**
 * The fewest edits by the algorithm of Myers: for each number of edits, how far each diagonal reaches in `a`. Undefined if
 * it takes too many.
 */
function reachOf(a: readonly string[], b: readonly string[]): Int32Array[] | undefined {
  const reach = new Int32Array(2 * MAX_EDITS + 3);
  const at = (diagonal: number) => diagonal + MAX_EDITS + 1;
  const reached: Int32Array[] = [];
  for (let edits = 0; edits <= MAX_EDITS; edits++) {
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let i = isAddition(reach, at(diagonal), diagonal, edits)
        ? reach[at(diagonal + 1)]!
        : reach[at(diagonal - 1)]! + 1;
      while (i < a.length && i - diagonal < b.length && a[i] === b[i - diagonal]) i += 1;
      reach[at(diagonal)] = i;
      if (i >= a.length && i - diagonal >= b.length) return reached;
    }
    reached.push(reach.slice());
  }
  return undefined;
}

/** Whether the best way to a diagonal adds a part of `b`, rather than to remove one of `a`. */
const isAddition = (reach: Int32Array, at: number, diagonal: number, edits: number): boolean =>
  diagonal === -edits || (diagonal !== edits && reach[at - 1]! < reach[at + 1]!);

function editsBetween(a: readonly string[], b: readonly string[]): Part[] | undefined {
  const reached = reachOf(a, b);
  if (!reached) return undefined;
  const parts: Part[] = [];
  let [i, j] = [a.length, b.length];
  for (let edits = reached.length; edits > 0; edits--) {
    const reach = reached[edits - 1]!;
    const diagonal = i - j;
    const at = diagonal + MAX_EDITS + 1;
    const added = isAddition(reach, at, diagonal, edits);
    const fromI = added ? reach[at + 1]! : reach[at - 1]!;
    const fromJ = fromI - (added ? diagonal + 1 : diagonal - 1);
    while (i > fromI && j > fromJ) {
      i -= 1;
      j -= 1;
      parts.push({ kind: 'same', text: a[i]! });
    }
    parts.push(added ? { kind: 'added', text: b[j - 1]! } : { kind: 'removed', text: a[i - 1]! });
    [i, j] = [fromI, fromJ];
  }
  while (i > 0) parts.push({ kind: 'same', text: a[--i]! });
  return parts.reverse();
}

/** Removed before added, and neighbours of one kind as one part. Spaces between two changes belong to them. */
function joined(parts: readonly Part[]): Part[] {
  const out: { kind: Part['kind']; text: string }[] = [];
  let removed = '';
  let added = '';
  const flush = () => {
    if (removed !== '') out.push({ kind: 'removed', text: removed });
    if (added !== '') out.push({ kind: 'added', text: added });
    removed = added = '';
  };
  parts.forEach(({ kind, text }, at) => {
    if (kind === 'removed') removed += text;
    else if (kind === 'added') added += text;
    else if (/^[ \t]+$/.test(text) && (removed || added) && parts[at + 1]?.kind !== 'same' && at + 1 < parts.length) {
      removed += text;
      added += text;
    } else {
      flush();
      const last = out.at(-1);
      if (last?.kind === 'same') last.text += text;
      else out.push({ kind, text });
    }
  });
  flush();
  return out;
}

export function diffTexts(before: string, after: string): Part[] {
  for (const split of [wordsOf, linesOf]) {
    const [a, b] = [split(before), split(after)];
    const start = commonStart(a, b);
    const end = commonStart(a.slice(start).reverse(), b.slice(start).reverse());
    const edits = editsBetween(a.slice(start, a.length - end), b.slice(start, b.length - end));
    if (!edits) continue;
    const same = (text: string[]): Part => ({ kind: 'same', text: text.join('') });
    const parts = [same(a.slice(0, start)), ...edits, same(a.slice(a.length - end))];
    return joined(parts.filter(({ text }) => text !== ''));
  }
  return [
    { kind: 'removed' as const, text: before },
    { kind: 'added' as const, text: after },
  ].filter(({ text }) => text !== '');
}
