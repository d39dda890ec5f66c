/** How two statements that share their words differ all the same: by the small words between them, or by their order. */
import { stem, stopWords, wordsOf } from '../../../text/index.js';

export interface Wording {
  /** What it is about, each stem once. */
  readonly stems: ReadonlySet<string>;
  /** The same as it is said, some of it more than once. */
  readonly order: readonly string[];
  /** By relation, such as "before", the stems that it stands before; `''` where nothing follows. */
  readonly relations: ReadonlyMap<string, ReadonlySet<string>>;
  /** By stem, the stems that stand right behind it. */
  readonly followers: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * `opposed`: the one says before, the other after. `swapped`: what is first in the one is last in the other. `other`: a
 * small word changes what is meant. `replaced`: each has a word that the other has not. `narrowed`: one has a word more,
 * right before what both speak of: "the public API", "every second Monday".
 */
export type Difference = 'none' | 'opposed' | 'swapped' | 'other' | 'replaced' | 'narrowed';

/** Of these a statement may have one more, and still say the same: "on Monday" and "Monday". */
const WEAK = 'in on at of for to over than as when while if then is has not all and';
/** With one of these it is another statement. */
const STRICT =
  'before after with without off out inside outside above below near under up down from toward until since by through ' +
  'during between against about except unless only or some few most more once again both can must';

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

/** What stands behind these is one more, and is not known by the others. */
const ADDING = ['and', 'or', 'except'];

/** Whatever they stand before, they change nothing about it. */
const FILLERS = new Set(
  'always ever really truly actually finally already definitely currently simply personally please'
    .split(' ')
    .map(stem),
);

const COUNTS = new Set(
  (
    'one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million ' +
    'dozen half twice first second third fourth fifth sixth seventh eighth ninth tenth last'
  )
    .split(' ')
    .map(stem),
);

const weak = new Set(WEAK.split(' '));
const relationWords = new Set([...weak, ...STRICT.split(' '), ...Object.keys(SPELLINGS)]);

const relationOf = (word: string): string | undefined => {
  if (relationWords.has(word)) return SPELLINGS[word] ?? word;
  return stopWords.has(word) && /nt$/.test(word) ? 'not' : undefined;
};

/** "Without" is the contrary of "with", which wordings tell: it is not one more no. */
export const withForWithout = (text: string): string => text.replace(/\bwithout\b/gi, 'with');

/** A word with a capital where no sentence begins; of words in capitals those that are no stress ("do NOT"). */
const INNER_CAPITAL = /(?<=[\p{L}\p{N},;)\]"'’`] |[-/("'`])(?:\p{Lu}\p{Ll}*|IT|WHO)(?![\p{L}\p{N}]|['’](?!s\b)\p{L})/gu;

/** Written with a capital in titles, and the first always. */
const NEVER_NAMES = new Set(['i', 'the', 'an', 'we', 'my', 'our']);

const NAME = /(?<=[\p{L}\p{N},;)\]"'’`] )\p{Lu}[\p{L}\p{N}\p{M}]*/gu;

/** "Server A", "to Will", "IT": marked, so that a name is not taken for the small word that is written like it. */
export const withNames = (text: string): string =>
  text.replace(INNER_CAPITAL, (word) => {
    const small = word.toLowerCase();
    return !NEVER_NAMES.has(small) && stopWords.has(small) && relationOf(small) === undefined
      ? `${word.charAt(0)}${small.slice(1)}zz`
      : word;
  });

export function wordingOf(text: string): Wording {
  const order: string[] = [];
  const followers = new Map<string, Set<string>>();
  let previous: string | undefined;
  const relations = new Map<string, Set<string>>();
  let before: string[] = [];
  const relate = (to: string): void => {
    for (const relation of before) relations.set(relation, (relations.get(relation) ?? new Set()).add(to));
    before = [];
  };
  // "To" before a verb is nothing, before a name it is where something goes.
  for (const word of wordsOf(withNames(text).replace(/\bto (?=[\p{Lu}\d`])/gu, 'toward '))) {
    const relation = relationOf(word);
    if (relation !== undefined) before.push(relation);
    else if (!stopWords.has(word)) {
      const stemmed = stem(word);
      relate(stemmed);
      order.push(stemmed);
      if (previous !== undefined) followers.set(previous, (followers.get(previous) ?? new Set()).add(stemmed));
      previous = stemmed;
      continue;
    }
    previous = undefined;
  }
  relate('');
  return { stems: new Set(order), order, relations, followers };
}

function differenceOf(a: Wording, b: Wording): Difference {
  const opposed = isOpposed(a, b);
  const turned = turnedRelations(a, b);
  const ordered = isMoved(
    a.order.filter((one) => b.stems.has(one)),
    b.order.filter((one) => a.stems.has(one)),
  );
  if (turned.length > 0 || !ordered) {
    const contrary = ordered && !opposed && turned.every((relation) => ORDERS.has(relation));
    return contrary ? 'opposed' : 'swapped';
  }
  if (opposed) return 'opposed';
  if (lacks(a, b) && lacks(b, a)) return 'replaced';
  if (hasMore(a, b) || hasMore(b, a)) return 'other';
  return narrows(a, b) || narrows(b, a) ? 'narrowed' : 'none';
}

/** "The user lives in Bonn" is what "I live in Bonn" says: who it is, where it is known, is no word more. */
export function differenceBetween(a: string, b: string, subject = ''): Difference {
  const difference = differenceOf(wordingOf(a), wordingOf(b));
  if (difference !== 'narrowed' || subject === '') return difference;
  return differenceOf(wordingOf(withoutSubject(a, subject)), wordingOf(withoutSubject(b, subject)));
}

function withoutSubject(text: string, subject: string): string {
  const said = text.replace(/^the (?=user\b)/i, '').replace(/^the team\b/i, 'we');
  if (!said.toLowerCase().startsWith(`${subject} `)) return text;
  return said.split(' ').slice(subject.split(' ').length).join(' ');
}

/** Whether it has a word right before what both speak of that the other has not. */
const narrows = (a: Wording, b: Wording): boolean =>
  [...a.followers].some(
    ([one, next]) => !b.stems.has(one) && !FILLERS.has(one) && [...next].some((stem) => b.stems.has(stem)),
  );

/** Whether the first has a name, a number or an ordinal, wherever it stands, that the second has not. */
export function namesMore(text: string, than: string): boolean {
  const { stems } = wordingOf(than);
  const marked = withNames(text);
  const isNew = (word: string): boolean =>
    !stopWords.has(word) && relationOf(word) === undefined && !stems.has(stem(word));
  return (
    [...marked.matchAll(NAME)].some(([name]) => wordsOf(name).some(isNew)) ||
    wordsOf(marked).some((word) => COUNTS.has(stem(word)) && isNew(word))
  );
}

/** Whether there is a stem in b that a has not. */
const lacks = (a: Wording, b: Wording): boolean => [...b.stems].some((one) => !a.stems.has(one));

/** Of both, or behind the last word, which both have. */
const isIn = ({ stems }: Wording, one: string): boolean => one === '' || stems.has(one);

const has = ({ relations }: Wording, relation: string, one: string): boolean =>
  relations.get(relation)?.has(one) === true;

function isOpposed(a: Wording, b: Wording): boolean {
  for (const [relation, ours] of a.relations)
    for (const [other, theirs] of b.relations) {
      if (!OPPOSED.has(`${relation} ${other}`)) continue;
      for (const one of ours) if (theirs.has(one) && !has(b, relation, one) && !has(a, other, one)) return true;
    }
  return false;
}

/** Relations of both that stand before other words, each of which both have. */
function turnedRelations(a: Wording, b: Wording): string[] {
  const turned: string[] = [];
  for (const [relation, ours] of a.relations) {
    const theirs = b.relations.get(relation);
    // Tea and coffee are coffee and tea.
    if (!theirs || relation === 'and' || relation === 'or') continue;
    const left = [...ours].some((one) => isIn(b, one) && !theirs.has(one));
    const right = [...theirs].some((one) => isIn(a, one) && !ours.has(one));
    if (left && right) turned.push(relation);
  }
  return turned;
}

/** Whether the same words are in the same order, but for one phrase that has moved: "every night the cache is cleared". */
function isMoved(one: readonly string[], other: readonly string[]): boolean {
  // Where one says something more often, the first time counts.
  const [a, b] = one.length === other.length ? [one, other] : [[...new Set(one)], [...new Set(other)]];
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = a.length;
  while (end > start && a[end - 1] === b[end - 1]) end -= 1;
  const [ours, theirs] = [a.slice(start, end), b.slice(start, end)];
  return ` ${[...ours, ...ours].join(' ')} `.includes(` ${theirs.join(' ')} `);
}

/** Whether it adds something, or has a small word before what both speak of that the other has nowhere. */
function hasMore(a: Wording, b: Wording): boolean {
  for (const [relation, stems] of a.relations) {
    if (ADDING.includes(relation) && [...stems].some((one) => !isIn(b, one))) return true;
    if (!weak.has(relation) && !b.relations.has(relation) && [...stems].some((one) => isIn(b, one))) return true;
  }
  return false;
}
