/** The renderer of `cairn tree`: items with a depth become lines with branches. */
import { color, grey, plain, shorten } from './terminal.js';

export interface TreeItem {
  readonly depth: number;
  /** A character and its colour. Without one, the item is a remark in grey. */
  readonly sign?: readonly [character: string, color: number];
  readonly label: string;
  readonly details?: readonly string[];
  readonly id?: string;
}

/** Stored text in a tree: harmless and at most 60 characters. */
export const brief = (text: string): string => shorten(plain(text), 60);

function textOf({ sign, label, details = [], id }: TreeItem, ids: boolean): string {
  const head = sign ? `${color(sign[1], sign[0])} ${label}` : grey(label);
  return [head, ...details, ...(ids && id !== undefined ? [grey(id)] : [])].join('  ');
}

/** Draws items that are in depth-first order. */
export function drawTree(items: readonly TreeItem[], { ids = false } = {}): string[] {
  const drawn: string[] = [];
  // Goes from the last item to the first: an entry says that an item of that depth follows below.
  const follows: boolean[] = [];
  for (const item of [...items].reverse()) {
    const { depth } = item;
    let branches = '';
    for (let level = 1; level < depth; level++) branches += follows[level] ? '│  ' : '   ';
    if (depth > 0) branches += follows[depth] ? '├─ ' : '└─ ';
    drawn.push(`${grey(branches)}${textOf(item, ids)}`);
    follows[depth] = true;
    follows.length = depth + 1;
  }
  return drawn.reverse();
}
