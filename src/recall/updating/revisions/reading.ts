/** A statement as its parts: values, words that tell of a change, and the words that say what it is about. */
import { type ChangeWords, changeWordsIn, statedParts, type WordSpan } from './change-words.js';
import { type ContentWord, contentWordsIn } from './content-words.js';
import { type Measure, measuresIn } from './measures.js';

export interface Reading {
  readonly text: string;
  /** Sentences that say what is: no questions and plans. */
  readonly stated: readonly WordSpan[];
  readonly measures: readonly Measure[];
  readonly change: ChangeWords;
  /** Without values and words that tell of a change. */
  readonly words: readonly ContentWord[];
  /** Without values. */
  readonly all_words: readonly ContentWord[];
  readonly clauses: readonly WordSpan[];
}

/** A longer text states too much. */
const MAX_LENGTH = 240;
const MAX_SENTENCES = 3;
/** A turn of a conversation is about much in passing. */
const CONVERSED =
  /\b(?:you|your|yours|yourself)\b|!\s|\?|^\W*(?:hey|hi|hello|thanks|thank|wow|yeah|yep|yes|nope|sure|got it|great|awesome|cool|haha|oh|ok|okay|sounds|congrats|how|what|can|could|i need help|help me|i'd like to know|i'm (?:trying|considering|looking for|kinda|wondering))\b/i;
const CLAUSE =
  /[.!?;:,\n–—。！？；，]+(?=\s|$|[^\d\s])|\s+(?:and|but|so|because|und|aber|weil|et|mais|y|pero|porque)\s+/gu;

const SENTENCE_END = /[.!?。！？]+(?=\s+\S)/gu;

function clausesOf(text: string): WordSpan[] {
  const clauses: WordSpan[] = [];
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(CLAUSE)) {
    if (index > start) clauses.push({ start, end: index });
    start = index + mark.length;
  }
  if (start < text.length) clauses.push({ start, end: text.length });
  return clauses;
}

export function readingOf(text: string): Reading | undefined {
  if (text.length > MAX_LENGTH || CONVERSED.test(text)) return undefined;
  if ((text.match(SENTENCE_END)?.length ?? 0) >= MAX_SENTENCES) return undefined;
  const stated = statedParts(text);
  const measures = measuresIn(text);
  const change = changeWordsIn(text, stated);
  // Codes are names as well.
  const values = measures.flatMap(({ kind, number }) => (kind === 'code' ? [] : [number]));
  const told = Object.values(change).flat();
  const all_words = contentWordsIn(text, values);
  const words = all_words.filter(({ start, end }) => !told.some((one) => start < one.end && end > one.start));
  return { text, stated, measures, change, words, all_words, clauses: clausesOf(text) };
}

/** Whether it can revise anything. */
export const tellsOfChange = ({ change: { added: _, continued: __, ...rest } }: Reading): boolean =>
  Object.values(rest).some((spans: readonly WordSpan[]) => spans.length > 0);

/** The clause that a part of the text is in. */
export const clauseOf = ({ clauses, text }: Reading, span: WordSpan): WordSpan =>
  clauses.find(({ start, end }) => span.start < end && span.end > start) ?? { start: 0, end: text.length };
