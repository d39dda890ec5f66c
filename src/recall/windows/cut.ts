/** Cuts a text that is too long, at the end of a paragraph, line, sentence or word near the limit. */
import { endsWithFence } from './escaping.js';

/** Shows the reader that the text goes on. */
const CUT_MARK = ' […]';

/** A cut before this part of the limit wastes too much room… */
const MIN_KEPT_SHARE = 0.5;
/** …unless it would split a word shorter than this. */
const LONGEST_WORD = 40;

const BOUNDARIES: readonly RegExp[] = [
  // Paragraph, line, sentence; then word, with punctuation as a boundary for text without spaces such as JSON.
  /\n\s*\n/g,
  /\n/g,
  /[.!?…]["'”’)\]]*(?=\s)|[。！？]["」』）]*/gu,
  /\s/g,
  /[\p{P}\p{S}]/gu,
];
const FIRST_WORD_BOUNDARY = 3;

/** How many characters of a text to keep if `fitting` fit; never splits a surrogate pair. */
export function cutAt(text: string, fitting: number): number {
  if (fitting >= text.length) return text.length;
  const room = text.slice(0, fitting);
  for (const [kind, boundary] of BOUNDARIES.entries()) {
    let last = 0;
    for (const match of room.matchAll(boundary)) {
      const at = match.index + (/^\s/.test(match[0]) ? 0 : match[0].length);
      if (at <= fitting) last = at;
    }
    const isWord = kind >= FIRST_WORD_BOUNDARY && last > 0 && fitting - last < LONGEST_WORD;
    if (isWord || last >= fitting * MIN_KEPT_SHARE) return last;
  }
  const splits = fitting > 0 && /[\ud800-\udbff]/.test(text[fitting - 1]!);
  return splits ? fitting - 1 : fitting;
}

/** Begins an excerpt from within a text. */
const LEAD_MARK = '[…] ';

/** A part of a text, with marks where it goes on. */
export function excerptOf(text: string, from: number, kept: number): string {
  const rest = text.slice(from);
  const shown = kept >= rest.length ? rest : shortened(rest, kept);
  return from === 0 ? shown : `${LEAD_MARK}${shown}`;
}

/** The end of a sentence or line. */
const SENTENCE_END = /[.!?…]["'”’)\]]*\s+|[。！？]["」』）]*|\n+/gu;
/** A longer sentence is entered in the middle. */
const LONGEST_SENTENCE = 400;

/** The beginning of the sentence around a position; never within a surrogate pair. */
export function sentenceStart(text: string, at: number): number {
  const from = Math.max(0, at - LONGEST_SENTENCE);
  let start = from;
  for (const { 0: end, index } of text.slice(from, at).matchAll(SENTENCE_END)) start = from + index + end.length;
  return /[\udc00-\udfff]/.test(text[start] ?? '') ? start + 1 : start;
}

/** After a fence the mark goes on a line of its own, since it would become part of the fence. */
export function shortened(text: string, kept: number): string {
  const shown = text.slice(0, kept);
  return endsWithFence(shown) ? `${shown}\n${CUT_MARK.trimStart()}` : `${shown}${CUT_MARK}`;
}
