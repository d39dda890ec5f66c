/** Which terms a text is found by: its words, without accents, stop words and endings, in every script. */
import { stem } from './stem.js';
import { stopWords } from './stop-words.js';

/** Of one text; what comes after is not searched. */
export const MAX_TERMS = 20_000;
/** Longer runs of letters are no words: what they begin with stands for them. */
const MAX_WORD = 64;
/** In UTF-16 units: of more than this not even the words are counted. */
const MAX_TEXT = 1_000_000;

/** A run of letters and digits with apostrophes within, or a pictograph. No two ways to match, so linear. */
export const WORD = /[\p{L}\p{N}\p{M}_]+(?:['’][\p{L}\p{N}\p{M}_]+)*|\p{Extended_Pictographic}/gu;

/** Scripts that put no space between words, and Hangul, whose words carry their particles. */
const UNSPACED_CLASS =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\p{Script=Yi}' +
  '\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Tibetan}\\u30fc]';
const UNSPACED = new RegExp(UNSPACED_CLASS, 'u');
const UNSPACED_RUN = new RegExp(`(${UNSPACED_CLASS}+)`, 'u');
const HAN = /\p{Script=Han}/u;
const BEYOND_ASCII = /[^ -~]/;

/** Where an identifier is made of parts: snake_case, camelCase, HTTPServer, sqlite3. */
const PARTS = /_+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[\p{L}\p{M}])(?=\p{N})|(?<=\p{N})(?=\p{L})/u;

/** Accents of Latin, Greek and Cyrillic, and the vowel signs of Arabic and Hebrew: in other scripts marks are letters. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]/g;

const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ł: 'l', ı: 'i', ς: 'σ' };

/** One spelling of a word: lower case, no accents. */
export function fold(word: string): string {
  const lower = word.toLowerCase();
  if (!BEYOND_ASCII.test(lower)) return lower;
  return lower
    .normalize('NFD')
    .replace(MARKS, '')
    .normalize('NFC')
    .replace(/[ßæœøđłıς]/g, (letter) => LETTERS[letter]!);
}

/** What is said of the word itself: without 's and 'll and the like, and without the l' of l'eau. */
function withoutContraction(word: string): string {
  const at = word.search(/['’]/);
  if (at < 0) return word;
  const [head, tail] = [word.slice(0, at), word.slice(at + 1)];
  if (/^(?:s|re|ve|ll|d|m)$/i.test(tail)) return head;
  if (/^t$/i.test(tail) && /n$/i.test(head)) return `${head}t`;
  if (/^(?:[ldjtmnsc]|qu)$/i.test(head)) return withoutContraction(tail);
  return word.replace(/['’]/g, '');
}

function addBigrams(run: string, words: string[]): void {
  const letters = [...run];
  letters.forEach((letter, at) => {
    // A single Han character may be a word.
    if (HAN.test(letter) || letters.length === 1) words.push(letter);
    if (at + 1 < letters.length) words.push(letter + letters[at + 1]!);
  });
}

/** Most words of most texts: nothing to take off or apart. */
const PLAIN = /^[A-Z]?[a-z]{1,63}$/;

function addWord(word: string, words: string[]): void {
  if (PLAIN.test(word)) {
    words.push(word.toLowerCase());
    return;
  }
  const whole = withoutContraction(word).slice(0, MAX_WORD);
  const parts = whole.split(PARTS).filter((part) => part !== '');
  const folded = fold(parts.length > 1 ? parts.join('') : (parts[0] ?? ''));
  if (folded === '') return;
  // Nothing is left of a part that is nothing but marks.
  if (parts.length > 1) words.push(...parts.map(fold).filter((part) => part !== ''));
  words.push(folded);
}

/** A run of letters in its parts: those of scripts that put no space between words, and others. */
export const partsOf = (word: string): { readonly text: string; readonly unspaced: boolean }[] =>
  BEYOND_ASCII.test(word) && UNSPACED.test(word)
    ? word
        .split(UNSPACED_RUN)
        .filter((text) => text !== '')
        .map((text) => ({ text, unspaced: UNSPACED.test(text) }))
    : [{ text: word, unspaced: false }];

/** The words of a text as they stand, stop words among them, folded. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  // One character may become 18: what they are more than fits is not looked at either.
  for (const [found] of text.slice(0, MAX_TEXT).normalize('NFKC').slice(0, MAX_TEXT).matchAll(WORD)) {
    if (words.length >= MAX_TERMS) break;
    if (!BEYOND_ASCII.test(found) || !UNSPACED.test(found)) addWord(found, words);
    else
      for (const run of found.split(UNSPACED_RUN))
        if (UNSPACED.test(run)) addBigrams(fold(run.slice(0, MAX_TERMS)), words);
        else addWord(run, words);
  }
  if (words.length > MAX_TERMS) words.length = MAX_TERMS;
  return words;
}

/** The words that say what a text is about. */
export const contentWords = (words: readonly string[]): string[] => words.filter((word) => !stopWords.has(word));

/** The terms of a text, in order, each as often as it occurs. */
export const analyse = (text: string): string[] => contentWords(wordsOf(text)).map(stem);
