/** Cutting a text that is too long: behind a sentence or line, if there is one not too far before the end of the room. */
import { endsWithFence } from './contained.js';

/** Put behind what was cut, so that nobody takes it for the whole. */
export const CUT_MARK = ' […]';

/** A good place is not too early: less than this part of the room is not worth it. */
const LEAST = 0.5;

/** Unless it is a word that would be cut: those are shorter than this. */
const LONGEST_WORD = 40;

const ENDS: readonly RegExp[] = [
  // A paragraph, a line, a sentence; then a word, also where words stand without space, as in JSON.
  /\n\s*\n/g,
  /\n/g,
  /[.!?…]["'”’)\]]*(?=\s)|[。！？]["」』）]*/gu,
  /\s/g,
  /[\p{P}\p{S}]/gu,
];
const FIRST_OF_WORDS = 3;

/** How much of a text to keep if at most so many characters fit; never half of a character that is written by two. */
export function cutAt(text: string, fitting: number): number {
  if (fitting >= text.length) return text.length;
  const room = text.slice(0, fitting);
  for (const [kind, end] of ENDS.entries()) {
    let last = 0;
    for (const match of room.matchAll(end)) {
      const at = match.index + (/^\s/.test(match[0]) ? 0 : match[0].length);
      if (at <= fitting) last = at;
    }
    const isWord = kind >= FIRST_OF_WORDS && last > 0 && fitting - last < LONGEST_WORD;
    if (isWord || last >= fitting * LEAST) return last;
  }
  const splits = fitting > 0 && /[\ud800-\udbff]/.test(text[fitting - 1]!);
  return splits ? fitting - 1 : fitting;
}

/** Behind a line that opens or closes a block of code the mark would be part of it, so it gets a line of its own. */
export function shortened(text: string, kept: number): string {
  const shown = text.slice(0, kept);
  return endsWithFence(shown) ? `${shown}\n${CUT_MARK.trimStart()}` : `${shown}${CUT_MARK}`;
}
