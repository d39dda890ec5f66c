/** The clauses of a sentence: a summary may keep one and leave out another. */

/** Where a long sentence may be divided: before a conjunction, or at a mark. */
const BREAK =
  /;\s+|\s+[–—-]\s+|,\s+(?=(?:and|but|so|because|though|although|which|who|where|et|mais|donc|parce|car|und|aber|weil|denn|pero|porque|y|ma|perché|en|maar|want|mas)\s)|\s+(?=(?:because|but|and (?:i|he|she|it|we|they|the|then)|so that|et (?:on|je|il|elle)|und (?:ich|er|sie|wir))\s)|,\s+/giu;
/** "…, she also had our old dog": a clause that only a comma divides from the one before. */
const SPLICE = /,\s+(?=(?:he|she|it|we|they|i)(?:['’]\p{L}+)?\s)/giu;
/** Both sides of a break have at least so many words. */
const MIN_WORDS = 4;
/** Shorter sentences stay whole. */
const LONG_SENTENCE = 14;

export const wordCount = (text: string): number => text.match(/\S+/g)?.length ?? 0;

/** The clauses as [start, end) of the sentence; together they are all of it except the marks between them. */
export function clausesOf(sentence: string): (readonly [start: number, end: number])[] {
  const long = wordCount(sentence) >= LONG_SENTENCE;
  const clauses: (readonly [number, number])[] = [];
  let start = 0;
  for (const { 0: mark, index } of sentence.matchAll(long ? BREAK : SPLICE)) {
    if (index < start || isInside(sentence, start, index)) continue;
    if (wordCount(sentence.slice(start, index)) < MIN_WORDS) continue;
    if (wordCount(sentence.slice(index + mark.length)) < MIN_WORDS) break;
    clauses.push([start, index]);
    start = index + mark.length;
  }
  clauses.push([start, sentence.length]);
  return clauses;
}

/** Whether a bracket or a quotation is open. */
function isInside(sentence: string, start: number, end: number): boolean {
  const before = sentence.slice(start, end);
  const count = (mark: RegExp): number => before.match(mark)?.length ?? 0;
  return count(/[([{]/g) > count(/[)\]}]/g) || count(/"/g) % 2 === 1 || count(/[“«]/g) > count(/[”»]/g);
}
