/** Two texts word by word: what stayed, went and came. */

export interface Part {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Steps of the comparison. Longer texts are compared by lines, and then as a whole. */
const MAX_STEPS = 4_000_000;

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function commonStart(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

/** Lengths of the longest common sequence of what follows each pair of positions. */
function lengthsOf(a: readonly string[], b: readonly string[]): Uint32Array[] {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      rows[i]![j] = a[i] === b[j] ? rows[i + 1]![j + 1]! + 1 : Math.max(rows[i + 1]![j]!, rows[i]![j + 1]!);
  return rows;
}

function middle(a: readonly string[], b: readonly string[]): Part[] {
  const rows = lengthsOf(a, b);
  const parts: Part[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      parts.push({ kind: 'same', text: a[i]! });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && rows[i + 1]![j]! >= rows[i]![j + 1]!))
      parts.push({ kind: 'removed', text: a[i++]! });
    else parts.push({ kind: 'added', text: b[j++]! });
  }
  return parts;
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
    const [restA, restB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
    if (restA.length * restB.length > MAX_STEPS) continue;
    const same = (text: string[]): Part => ({ kind: 'same', text: text.join('') });
    const parts = [same(a.slice(0, start)), ...middle(restA, restB), same(a.slice(a.length - end))];
    return joined(parts.filter(({ text }) => text !== ''));
  }
  return [
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ];
}
