/** Names in a text: its capitalised words. */
import { wordsOf } from '../../text/index.js';

const CAPITALISED = /(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}]+/gu;
const WITHIN_SENTENCE = /[\p{Ll}\p{N},'"’”] ["'“‘]?$/u;

interface Names {
  /** Those within a sentence. */
  readonly within: ReadonlySet<string>;
  /** Also those that begin one, where any word has a capital. */
  readonly all: ReadonlySet<string>;
}

/** Case-folded. */
export function namesIn(text: string): Names {
  const within = new Set<string>();
  const all = new Set<string>();
  for (const match of text.matchAll(CAPITALISED)) {
    const isWithin = WITHIN_SENTENCE.test(text.slice(Math.max(0, match.index - 3), match.index));
    for (const word of wordsOf(match[0])) {
      all.add(word);
      if (isWithin) within.add(word);
    }
  }
  return { within, all };
}
