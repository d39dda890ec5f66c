/** What two statements have in common: the words that both have, and how much of each they make up. */
import type { ContentWord } from './content-words.js';
import { likeness } from './content-words.js';
import { isNumbered, labelOf } from './labels.js';
import type { Reading } from './reading.js';

export interface SharedWord {
  readonly own: ContentWord;
  readonly known: ContentWord;
  /** From 0 to 1. */
  readonly likeness: number;
}

const FOR =
  /^ (?:for|of|to|from|in|at|with|on|für|von|nach|pour|de|à|para|per|voor) (?:the |our |my |der |die |das |la |le |el )?$/i;

/** What the word before or after it says of which one is meant: "summer" of "summer concert", "Bonn" of "train to Bonn". */
function modifiersOf(
  text: string,
  words: readonly ContentWord[],
  word: ContentWord,
): { before?: ContentWord | undefined; after?: ContentWord | undefined } {
  const at = words.indexOf(word);
  const [last, next] = [words[at - 1], words[at + 1]];
  const before = last && /^(?:['’]s?)?[ -]$/.test(text.slice(last.end, word.start)) ? last : undefined;
  if (!next) return { before };
  const gap = text.slice(word.end, next.start);
  return { before, after: FOR.test(gap) || (gap === ' ' && next.is_name) ? next : undefined };
}

/** "The summer concert" and "the Christmas concert" are two concerts. */
function areDistinct(own: Reading, known: Reading, a: ContentWord, b: ContentWord): boolean {
  const [one, other] = [modifiersOf(own.text, own.words, a), modifiersOf(known.text, known.all_words, b)];
  const isForeign = (word: ContentWord, words: readonly ContentWord[]) => words.every((two) => likeness(word, two) < 1);
  const differ = (x: ContentWord | undefined, y: ContentWord | undefined) =>
    x !== undefined && y !== undefined && isForeign(x, known.all_words) && isForeign(y, own.all_words);
  return differ(one.before, other.before) || differ(one.after, other.after) || haveOtherNumbers(own, known, a, b);
}

/** "Room 3" and "room 4", unless somebody moved from one to the other. */
function haveOtherNumbers(own: Reading, known: Reading, a: ContentWord, b: ContentWord): boolean {
  if (own.change.shifted.length > 0) return false;
  const [one, other] = [numberOf(own, a), numberOf(known, b)];
  return one !== undefined && other !== undefined && one !== other;
}

const numberOf = (reading: Reading, word: ContentWord): string | undefined =>
  isNumbered(word) ? reading.measures.find((one) => labelOf(reading, one) === word)?.value : undefined;

/** For each word of the known text its nearest in the own one. */
function sharedWords(own: Reading, known: Reading): SharedWord[] {
  const shared = new Map<string, SharedWord>();
  for (const b of known.all_words)
    for (const a of own.words) {
      const like = likeness(a, b);
      if (like <= (shared.get(b.stem)?.likeness ?? 0) || areDistinct(own, known, a, b)) continue;
      shared.set(b.stem, { own: a, known: b, likeness: like });
    }
  return [...shared.values()];
}

const weightOf = (words: Iterable<ContentWord>): number => {
  const byStem = new Map<string, number>();
  for (const { stem, weight } of words) byStem.set(stem, weight);
  return [...byStem.values()].reduce((sum, weight) => sum + weight, 0);
};

export interface Overlap {
  readonly shared: readonly SharedWord[];
  /** Names that only one of the two has. */
  readonly own_names: readonly ContentWord[];
  readonly known_names: readonly ContentWord[];
  /** Weight of the shared words. */
  readonly mass: number;
  /** The same times the share of both texts that they make up. */
  readonly strength: number;
  /** The same, names that only one has left aside. */
  readonly strength_without_names: number;
  /** Share of the known text, and of the own one. */
  readonly covered: readonly [known: number, own: number];
}

/** Texts of common words weigh little. */
export const LIGHT = 0.3;

const isCode = ({ measures }: Reading, word: ContentWord): boolean =>
  measures.some(({ kind, start, end }) => kind === 'code' && word.start >= start && word.end <= end);

export function overlapOf(own: Reading, known: Reading): Overlap {
  const shared = sharedWords(own, known);
  const ownStems = new Set(shared.map((one) => one.own.stem));
  const knownStems = new Set(shared.map((one) => one.known.stem));
  const own_names = own.words.filter(({ is_name, stem }) => is_name && !ownStems.has(stem));
  const known_names = known.words.filter(({ is_name, stem }) => is_name && !knownStems.has(stem));
  const mass = shared.reduce((sum, one) => sum + one.likeness * Math.min(one.own.weight, one.known.weight), 0);
  const share = (words: readonly ContentWord[]) => Math.min(1, mass / Math.max(LIGHT, weightOf(words)));
  const without = (words: readonly ContentWord[], some: readonly ContentWord[]) =>
    share(words.filter((one) => !some.includes(one)));
  const codes = (reading: Reading, names: readonly ContentWord[]) => names.filter((one) => isCode(reading, one));
  const covered = [without(known.words, codes(known, known_names)), without(own.words, codes(own, own_names))] as const;
  return {
    shared,
    own_names,
    known_names,
    mass,
    covered,
    strength: mass * Math.sqrt(covered[0] * covered[1]),
    strength_without_names: mass * Math.sqrt(without(known.words, known_names) * without(own.words, own_names)),
  };
}

/** Likeness of two forms of one word. */
const EXACT = 0.8;
export const isExact = (one: SharedWord): boolean => one.likeness >= EXACT;
