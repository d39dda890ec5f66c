/** How two statements that share their words differ all the same: by the small words between them, or by their order. */
import { stem } from './stem.js';
import { stopWords } from './stop-words.js';
import { wordsOf } from './text-analysis.js';

export interface Wording {
  /** What it is about, in order, each stem once. */
  readonly stems: readonly string[];
  /** By relation, such as "before", the stems that it stands before; `''` where nothing follows. */
  readonly relations: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * `opposed`: the one says before, the other after. `swapped`: what is first in the one is last in the other. `other`: one
 * has a word in the place of another's, or a small word that changes what is meant.
 */
export type Difference = 'none' | 'opposed' | 'swapped' | 'other';

/** Of these a statement may have one more, and still say the same: "on Monday" and "Monday". */
const WEAK = 'in on at of for to as when while if then is has not all';
/** With one of these it is another statement. */
const STRICT =
  'before after with without off out inside outside above below over under up down from toward until since by through ' +
  'during between against about except unless only than or some few most more once again both can must';

const SPELLINGS: Readonly<Record<string, string>> = {
  into: 'in',
  onto: 'on',
  within: 'inside',
  towards: 'toward',
  till: 'until',
  beneath: 'below',
  via: 'through',
  are: 'is',
  am: 'is',
  be: 'is',
  was: 'is',
  were: 'is',
  have: 'has',
  had: 'has',
  each: 'all',
  no: 'not',
  never: 'not',
  none: 'not',
  nor: 'not',
  neither: 'not',
  cannot: 'not',
};

const OPPOSITES: Readonly<Record<string, readonly string[]>> = {
  before: ['after'],
  until: ['after', 'since', 'from'],
  since: ['until', 'before'],
  with: ['without'],
  on: ['off'],
  in: ['out', 'outside'],
  inside: ['outside', 'out'],
  above: ['below', 'under'],
  over: ['under', 'below'],
  up: ['down'],
  from: ['to', 'toward'],
};
const OPPOSED = new Set(
  Object.entries(OPPOSITES).flatMap(([one, others]) =>
    others.flatMap((other) => [`${one} ${other}`, `${other} ${one}`]),
  ),
);

/** The one before the other: turned round it is the contrary. */
const ORDERS = new Set(['before', 'after', 'above', 'below', 'over', 'under', 'than', 'then']);

const weak = new Set(WEAK.split(' '));
const relationWords = new Set([...weak, ...STRICT.split(' '), ...Object.keys(SPELLINGS)]);

const relationOf = (word: string): string | undefined => {
  if (relationWords.has(word)) return SPELLINGS[word] ?? word;
  return stopWords.has(word) && /nt$/.test(word) ? 'not' : undefined;
};

/** "Without" is the contrary of "with", which wordings tell: it is not one more no. */
export const withForWithout = (text: string): string => text.replace(/\bwithout\b/gi, 'with');

export function wordingOf(text: string): Wording {
  const stems = new Set<string>();
  const relations = new Map<string, Set<string>>();
  let before: string[] = [];
  const relate = (to: string): void => {
    for (const relation of before) relations.set(relation, (relations.get(relation) ?? new Set()).add(to));
    before = [];
  };
  // "To" before a verb is nothing, before a name it is where something goes.
  for (const word of wordsOf(text.replace(/\bto (?=[\p{Lu}\d`])/gu, 'toward '))) {
    const relation = relationOf(word);
    if (relation !== undefined) before.push(relation);
    else if (!stopWords.has(word)) {
      const stemmed = stem(word);
      relate(stemmed);
      stems.add(stemmed);
    }
  }
  relate('');
  return { stems: [...stems], relations };
}

export function differenceOf(a: Wording, b: Wording): Difference {
  const ours = new Set([...a.stems, '']);
  const theirs = new Set([...b.stems, '']);
  const opposed = isOpposed(a, b);
  const turned = turnedRelations(a, b, ours, theirs);
  const inOrder = isMoved(
    a.stems.filter((one) => theirs.has(one)),
    b.stems.filter((one) => ours.has(one)),
  );
  if (turned.length > 0 || !inOrder) {
    const contrary = inOrder && !opposed && turned.every((relation) => ORDERS.has(relation));
    return contrary ? 'opposed' : 'swapped';
  }
  if (opposed) return 'opposed';
  const replaced = a.stems.some((one) => !theirs.has(one)) && b.stems.some((one) => !ours.has(one));
  return replaced || hasMore(a, b, theirs) || hasMore(b, a, ours) ? 'other' : 'none';
}

const has = ({ relations }: Wording, relation: string, one: string): boolean =>
  relations.get(relation)?.has(one) === true;

function isOpposed(a: Wording, b: Wording): boolean {
  for (const [relation, ours] of a.relations)
    for (const [other, theirs] of b.relations) {
      if (!OPPOSED.has(`${relation} ${other}`)) continue;
      for (const one of ours)
        if (theirs.has(one) && !has(b, relation, one) && !has(a, other, one)) return true;
    }
  return false;
}

/** Relations of both that stand before other words, each of which both have. */
function turnedRelations(
  a: Wording,
  b: Wording,
  ours: ReadonlySet<string>,
  theirs: ReadonlySet<string>,
): string[] {
  const turned: string[] = [];
  for (const [relation, before] of a.relations) {
    const others = b.relations.get(relation);
    if (!others) continue;
    const left = [...before].some((one) => theirs.has(one) && !others.has(one));
    const right = [...others].some((one) => ours.has(one) && !before.has(one));
    if (left && right) turned.push(relation);
  }
  return turned;
}

/** Whether the same words are in the same order, but for one phrase that has moved: "every night the cache is cleared". */
function isMoved(a: readonly string[], b: readonly string[]): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = a.length;
  while (end > start && a[end - 1] === b[end - 1]) end -= 1;
  const length = end - start;
  const shift = a.indexOf(b[start]!, start) - start;
  for (let i = 0; i < length; i++) if (b[start + i] !== a[start + ((i + shift) % length)]) return false;
  return true;
}

/** Whether it has a small word, before what both speak of, that the other has nowhere. */
function hasMore(a: Wording, b: Wording, theirs: ReadonlySet<string>): boolean {
  for (const [relation, stems] of a.relations)
    if (!weak.has(relation) && !b.relations.has(relation) && [...stems].some((one) => theirs.has(one)))
      return true;
  return false;
}
