/** How statements with the same words differ: by small words such as prepositions, or by word order. */
import { stem, stopWords, wordsOf } from '../../../text/index.js';

interface Wording {
  readonly stems: ReadonlySet<string>;
  /** The stems in order, with repetitions. */
  readonly order: readonly string[];
  /** By relation, such as "before", the stems that follow it; `''` at the end. */
  readonly relations: ReadonlyMap<string, ReadonlySet<string>>;
  /** By stem, the stems right after it. */
  readonly followers: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * `opposed`: before and after. `swapped`: another order. `other`: a small word changes the meaning. `replaced`: each has
 * a word that the other lacks. `narrowed`: one has a further word right before a common one, as in "the public API".
 */
type Difference = 'none' | 'opposed' | 'swapped' | 'other' | 'replaced' | 'narrowed';

/** One of these more does not change a statement: "on Monday" and "Monday". */
const WEAK = 'in on at of for to over than as when while if then is has not all and';
/** One of these more makes another statement. */
const STRICT =
  'before after with without off out inside outside above below near under up down from toward until since by through ' +
  'during between against about except unless only or some few most more once again both can must';

/** By word, the forms that mean the same. */
const FORMS: Readonly<Record<string, string>> = {
  in: 'into',
  on: 'onto',
  inside: 'within',
  toward: 'towards',
  until: 'till',
  below: 'beneath',
  through: 'via',
  is: 'are am be was were',
  has: 'have had',
  all: 'each',
  not: 'no never none nor neither cannot',
};
const wordOfForm = new Map(
  Object.entries(FORMS).flatMap(([word, forms]) => forms.split(' ').map((form) => [form, word])),
);

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

/** Relations whose sides cannot be exchanged: reversed they are opposites. */
const ORDERS = new Set(['before', 'after', 'above', 'below', 'over', 'under', 'than', 'then']);

/** What follows these is additional. */
const ADDING = ['and', 'or', 'except'];

/** Words that change nothing about what follows. */
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
const relationWords = new Set([...weak, ...STRICT.split(' '), ...wordOfForm.keys()]);

const relationOf = (word: string): string | undefined => {
  if (relationWords.has(word)) return wordOfForm.get(word) ?? word;
  return stopWords.has(word) && /nt$/.test(word) ? 'not' : undefined;
};

/** Wordings treat "without" as the opposite of "with", so it must not count as a negation too. */
export const withForWithout = (text: string): string => text.replace(/\bwithout\b/gi, 'with');

/** A word with a capital inside a sentence; not a word in capitals for stress ("do NOT"). */
const INNER_CAPITAL = /(?<=[\p{L}\p{N},;)\]"'’`] |[-/("'`])(?:\p{Lu}\p{Ll}*|IT|WHO)(?![\p{L}\p{N}]|['’](?!s\b)\p{L})/gu;

/** Capitalised in titles; "I" always. */
const NEVER_NAMES = new Set(['i', 'the', 'an', 'we', 'my', 'our']);

const NAME = /(?<=[\p{L}\p{N},;)\]"'’`] )\p{Lu}[\p{L}\p{N}\p{M}]*/gu;

/** Marks names such as "Server A", "to Will" and "IT", so that they are not taken for stop words. */
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
  // "To" before a name is a direction, before a verb it means nothing.
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
  const ordered = isOrdered(
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

/** With a known subject, "the user lives in Bonn" equals "I live in Bonn". */
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

/** Whether `a` has a further word right before a common one. */
const narrows = (a: Wording, b: Wording): boolean =>
  [...a.followers].some(
    ([one, next]) => !b.stems.has(one) && !FILLERS.has(one) && [...next].some((stem) => b.stems.has(stem)),
  );

/** Whether `text` has a name, number or ordinal that `than` lacks. */
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

/** Whether `b` has a stem that `a` lacks. */
const lacks = (a: Wording, b: Wording): boolean => [...b.stems].some((one) => !a.stems.has(one));

/** Whether it is a stem of the wording, or its end. */
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

/** Common relations that stand before different common words. */
function turnedRelations(a: Wording, b: Wording): string[] {
  const turned: string[] = [];
  for (const [relation, ours] of a.relations) {
    const theirs = b.relations.get(relation);
    // "Tea and coffee" is "coffee and tea".
    if (!theirs || relation === 'and' || relation === 'or') continue;
    const left = [...ours].some((one) => isIn(b, one) && !theirs.has(one));
    const right = [...theirs].some((one) => isIn(a, one) && !ours.has(one));
    if (left && right) turned.push(relation);
  }
  return turned;
}

/** Whether the words are in the same order, except for one phrase that moved: "every night the cache is cleared". */
function isOrdered(one: readonly string[], other: readonly string[]): boolean {
  // If one repeats words, their first occurrence counts.
  const [a, b] = one.length === other.length ? [one, other] : [[...new Set(one)], [...new Set(other)]];
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = a.length;
  while (end > start && a[end - 1] === b[end - 1]) end -= 1;
  const [ours, theirs] = [a.slice(start, end), b.slice(start, end)];
  return ` ${[...ours, ...ours].join(' ')} `.includes(` ${theirs.join(' ')} `);
}

/** Whether `a` adds something, or has a strict relation before a common word that `b` lacks. */
function hasMore(a: Wording, b: Wording): boolean {
  for (const [relation, stems] of a.relations) {
    if (ADDING.includes(relation) && [...stems].some((one) => !isIn(b, one))) return true;
    if (!weak.has(relation) && !b.relations.has(relation) && [...stems].some((one) => isIn(b, one))) return true;
  }
  return false;
}
