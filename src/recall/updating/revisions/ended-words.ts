/** The words of which a statement says that they have ended, or have gone elsewhere. */
import type { WordSpan } from './change-words.js';
import type { ContentWord } from './content-words.js';
import { isExact, type Overlap, type SharedWord } from './overlap.js';
import type { Reading } from './reading.js';

/** Number of words between a word and a phrase in the same clause; undefined if they are in different ones. */
function distance(text: string, word: WordSpan, phrase: WordSpan): number | undefined {
  const gap = word.end <= phrase.start ? text.slice(word.end, phrase.start) : text.slice(phrase.end, word.start);
  return /[.;,:!?，。；]|\b(?:and|but|und|aber|et|mais|y|pero)\b/i.test(gap)
    ? undefined
    : gap.split(/\s+/).filter((one) => one !== '').length;
}

/** Words between what has ended and the phrase that says so. */
const NEAR = 4;

/** "Gil" of "Gil's daughter"; not of "Gil's left". */
function isPossessor({ text, words }: Reading, word: ContentWord): boolean {
  const next = words[words.indexOf(word) + 1];
  return (
    /['’]s$/.test(text.slice(word.start, word.end)) &&
    next !== undefined &&
    /^ $/.test(text.slice(word.end, next.start))
  );
}

type Side = 'before' | 'after' | 'both';
const PASSIVE = /\b(?:was|were|been|is|are|being|got|be)(?: \w+ly)? $/i;

/** The words of which a phrase says that they have ended. */
function wordsEnded(own: Reading, phrase: WordSpan, side: Side): ContentWord[] {
  const near = own.words.filter(
    (one) => (distance(own.text, one, phrase) ?? NEAR + 1) <= NEAR && !isPossessor(own, one),
  );
  const before = near.filter(({ end }) => end <= phrase.start);
  const after = near.filter(({ start }) => start >= phrase.end);
  if (side === 'both') return near;
  const isBefore = side === 'before' || PASSIVE.test(own.text.slice(0, phrase.start));
  const [first, second] = isBefore ? [before, after] : [after, before];
  return first.length > 0 ? first : second;
}

export function endedWords(own: Reading, { shared }: Overlap): SharedWord[] {
  const { change } = own;
  const ended = new Set([
    ...change.ended_object.flatMap((phrase) => wordsEnded(own, phrase, 'after')),
    ...change.ended_subject.flatMap((phrase) => wordsEnded(own, phrase, 'before')),
    ...change.ended_beside.flatMap((phrase) => wordsEnded(own, phrase, 'both')),
  ]);
  return shared.filter((one) => isExact(one) && ended.has(one.own));
}

export function shiftedWords(own: Reading, { shared }: Overlap): SharedWord[] {
  const shifted = new Set(own.change.shifted.flatMap((phrase) => wordsEnded(own, phrase, 'both')));
  return shared.filter((one) => isExact(one) && shifted.has(one.own));
}
