/** Sentences in many scripts. Other blocks (code, tables, headings) stay whole, with their kind. */
import { blocksOf } from './text-blocks.js';

type UnitKind = 'sentence' | 'heading' | 'quote' | 'table' | 'code' | 'fragment';

/** A sentence, or a block without sentences. */
interface TextUnit {
  readonly kind: UnitKind;
  readonly text: string;
  /** Whether it is part of a list. */
  readonly item: boolean;
  /** The number of its block in the text. */
  readonly block: number;
  /** The info string after the opening fence of code. */
  readonly info?: string;
}

/** Characters per call of the segmenter, whose time grows with the square of the text. */
const WINDOW = 1000;
/** Longer runs are no sentences: a dump, or text without punctuation. */
const MAX_SENTENCE = 4000;

/** Created on first use, since that takes 15 ms. */
let segmenter: Intl.Segmenter | undefined;

export function* unitsOf(text: string): Generator<TextUnit> {
  let block = 0;
  for (const { kind, text: content, info } of blocksOf(text)) {
    const item = kind === 'item';
    if (kind === 'prose' || item) {
      for (const sentence of sentencesOf(content))
        yield { kind: sentence.length > MAX_SENTENCE ? 'fragment' : 'sentence', text: sentence, item, block };
    } else if (content.trim() !== '') {
      yield { kind, text: content, item, block, ...(info === undefined ? {} : { info }) };
    }
    block += 1;
  }
}

/** The trimmed sentences of one paragraph; together they are all of it except white space. */
export function* sentencesOf(paragraph: string): Generator<string> {
  let held = '';
  for (let start = 0; start < paragraph.length; start += WINDOW) {
    const last = start + WINDOW >= paragraph.length;
    const parts = segmentsOf(held + paragraph.slice(start, start + WINDOW));
    // The end of the window is no end of a sentence: the last part is segmented again with the next window.
    held = last ? '' : (parts.pop() ?? '');
    for (const part of parts) if (part.trim() !== '') yield part.trim();
    if (held.length <= MAX_SENTENCE) continue;
    // Too long for a sentence: ends at the next sentence end followed by white space.
    const end = endOfRun(paragraph, start + WINDOW);
    yield held + paragraph.slice(start + WINDOW, end);
    held = '';
    start = end - WINDOW;
  }
}

const RUN_END = /[.!?。！？…؟۔।॥](?:\s|$)|[。！？]/gu;

function endOfRun(paragraph: string, from: number): number {
  RUN_END.lastIndex = from;
  const found = RUN_END.exec(paragraph);
  return found ? found.index + found[0].length : paragraph.length;
}

/** An end with text behind it; without one the segmenter, which takes 10 µs, is not needed. */
const INNER_END = /\p{STerm}[\p{Pe}\p{Pf}"']*\s*[^\p{STerm}\p{Pe}\p{Pf}"'\s]/u;

function segmentsOf(text: string): string[] {
  if (!INNER_END.test(text)) return [text];
  const parts: string[] = [];
  let held = '';
  for (const { segment } of (segmenter ??= new Intl.Segmenter('und', { granularity: 'sentence' })).segment(text)) {
    if (held !== '' && !isEnd(held, segment)) {
      held += segment;
      continue;
    }
    if (held !== '') parts.push(...lowerCaseStarts(held));
    held = segment;
  }
  if (held !== '') parts.push(...lowerCaseStarts(held));
  return parts;
}

/** Abbreviations before names and numbers, whose full stop ends no sentence. */
const BEFORE_MORE = new Set(
  'mr mrs ms mx dr prof st gen sen rep gov capt lt col sgt rev hon fig figs eq sec vol vs cf approx ca e.g i.e z.b d.h u.a bzw sr sra srta mme mlle hr fr nr art abs bd pp ed eds al resp incl excl dept univ inc ltd corp est'.split(
    ' ',
  ),
);
/** Abbreviations before numbers only. */
const BEFORE_NUMBER = new Set(
  'no nos jan feb mar apr jun jul aug sep sept oct nov dec p pg ch chap ver v art'.split(' '),
);
/** Words that start a sentence even after an abbreviation such as U.S. or p.m. */
const STARTERS =
  /^["'“‘(]*(?:The|A|An|He|She|It|We|They|I|You|This|That|These|Those|There|In|On|At|But|And|So|My|Our|His|Her|Then|When|If|For|As|After|Before)\b/;

/** "5. März": an ordinal. */
const GERMAN_MONTH = /^(?:Jan|Jän|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)/;

const LAST_LENGTH = 60;
const LAST_WORD = /(?<![^\s("'“‘[])([\p{L}\p{M}\p{N}.&-]+)\.["'”’)\]]*\s+$/u;

/** Whether a sentence ends between two segments. */
function isEnd(before: string, after: string): boolean {
  const closing = before.trimEnd();
  // Inside an address, a number or a file name.
  if (closing === before && /[.?!]["')\]]*$/.test(before)) return false;
  // "1." and "a." in running text belong to what they number.
  if (/^[\s("'“]*(?:\d{1,3}|\p{L})\.$/u.test(closing)) return false;
  const word = LAST_WORD.exec(before.slice(-LAST_LENGTH))?.[1];
  if (word === undefined) return true;
  const small = word.toLowerCase();
  if (BEFORE_MORE.has(small)) return false;
  if (BEFORE_NUMBER.has(small) && /^\d/.test(after)) return false;
  if (/^\p{Ll}$/u.test(word)) return false;
  if (/^\d{1,2}$/.test(word) && GERMAN_MONTH.test(after)) return false;
  // An initial, but not "so do I."
  if (/^\p{Lu}$/u.test(word) && word !== 'I') return !/^\p{Lu}/u.test(after);
  if (/^(?:\p{L}\.)+\p{L}$/u.test(word)) return STARTERS.test(after);
  return true;
}

const LOWER_START = /[.!?]["'”’)\]]*\s+(?=\p{Ll})/gu;
const NEVER_LAST = new Set([...BEFORE_MORE, ...BEFORE_NUMBER, 'etc', 'usw', 'ecc', 'max', 'min', 'a.m', 'p.m']);

/** Splits before lower case, which is common in chats and which the segmenter does not do. */
function lowerCaseStarts(sentence: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (const { 0: gap, index } of sentence.matchAll(LOWER_START)) {
    const before = sentence.slice(start, index + gap.length);
    if (/\.\.\s+$/.test(before.slice(-LAST_LENGTH))) continue;
    if (gap.startsWith('.')) {
      const word = LAST_WORD.exec(before.slice(-LAST_LENGTH))?.[1]?.toLowerCase();
      if (word === undefined || word.length < 2 || NEVER_LAST.has(word) || /^(?:\p{L}\.)+\p{L}$/u.test(word)) continue;
    }
    // After a closing quote or bracket the sentence continues.
    if (/["'”’)\]]/.test(gap)) continue;
    parts.push(before);
    start = index + gap.length;
  }
  parts.push(sentence.slice(start));
  return parts;
}
