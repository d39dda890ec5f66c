/** The search terms of a text in any script: words without accents, stop words and endings. */
import { shortForms } from './short-forms.js';
import { stem } from './stem.js';
import { stopWords } from './stop-words.js';

/** Maximum number of terms per text. */
export const MAX_TERMS = 20_000;
/** Longer words are truncated. */
const MAX_WORD = 64;
/** Maximum length of an analyzed text, in UTF-16 units. */
const MAX_TEXT = 1_000_000;

/** A run of letters and digits with inner apostrophes, or a pictograph. Unambiguous, hence linear. */
export const WORD =
  /(?<![\p{L}\p{N}_])\p{N}{1,3}(?:,\p{N}{3})+(?![\p{L}\p{N}_])|[\p{L}\p{N}\p{M}_]+(?:['’][\p{L}\p{N}\p{M}_]+)*|\p{Extended_Pictographic}/gu;

/** Scripts without spaces between words, and Hangul, whose words include particles. */
const UNSPACED_CLASS =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\p{Script=Yi}' +
  '\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Tibetan}\\u30fc]';
const UNSPACED = new RegExp(UNSPACED_CLASS, 'u');
const UNSPACED_RUN = new RegExp(`(${UNSPACED_CLASS}+)`, 'u');
const HAN = /\p{Script=Han}/u;
const BEYOND_ASCII = /[^ -~]/;

/** Boundaries in identifiers: snake_case, camelCase, HTTPServer, sqlite3. */
const PARTS = /_+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[\p{L}\p{M}])(?=\p{N})|(?<=\p{N})(?=\p{L})/u;

/** Accents of Latin, Greek and Cyrillic, vowel signs of Arabic and Hebrew; in other scripts marks are letters. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]/g;

const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ł: 'l', ı: 'i', ς: 'σ' };

/** Lower case, without accents. */
export function fold(word: string): string {
  const lower = word.toLowerCase();
  if (!BEYOND_ASCII.test(lower)) return lower;
  return lower
    .normalize('NFD')
    .replace(MARKS, '')
    .normalize('NFC')
    .replace(/[ßæœøđłıς]/g, (letter) => LETTERS[letter]!);
}

/** A word without 's, 'll and the like, and without the l' of l'eau. */
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

/** The parts of a compound with a hyphen that is also written as one word. */
const COMPOUND_PART = /^[A-Za-z]{1,12}$/;

/** Thousands separated by commas. */
const THOUSANDS = /^\p{N}{1,3}(?:,\p{N}{3})+$/u;

/** Fast path for most words. */
const PLAIN = /^[A-Z]?[a-z]{1,63}$/;

function addWord(word: string, words: string[]): void {
  if (PLAIN.test(word)) {
    words.push(word.toLowerCase());
    return;
  }
  if (THOUSANDS.test(word)) {
    words.push(word.replaceAll(',', '').slice(0, MAX_WORD));
    return;
  }
  const whole = withoutContraction(word).slice(0, MAX_WORD);
  const parts = shortForms.has(whole.toLowerCase()) ? [whole] : whole.split(PARTS).filter((part) => part !== '');
  const folded = fold(parts.length > 1 ? parts.join('') : (parts[0] ?? ''));
  if (folded === '') return;
  // Folding removes a part of marks alone.
  // A single letter or digit beside others says nothing: "k8s" is not found by "8".
  if (parts.length > 1) words.push(...parts.map(fold).filter((part) => part.length > 1));
  words.push(folded);
}

/** Splits a word into runs of scripts without spaces and others. */
export const scriptRuns = (word: string): { readonly text: string; readonly unspaced: boolean }[] =>
  BEYOND_ASCII.test(word) && UNSPACED.test(word)
    ? word
        .split(UNSPACED_RUN)
        .filter((text) => text !== '')
        .map((text) => ({ text, unspaced: UNSPACED.test(text) }))
    : [{ text: word, unspaced: false }];

/** The folded words of a text, including stop words. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  // Truncated again, since normalization may turn one character into 18.
  const normal = text.slice(0, MAX_TEXT).normalize('NFKC').slice(0, MAX_TEXT);
  let before = '';
  let end = -1;
  for (const { 0: found, index } of normal.matchAll(WORD)) {
    if (words.length >= MAX_TERMS) break;
    // "e-mail" is also "email".
    if (index === end + 1 && normal[end] === '-' && COMPOUND_PART.test(before) && COMPOUND_PART.test(found))
      words.push(`${before}${found}`.toLowerCase());
    before = found;
    end = index + found.length;
    if (!BEYOND_ASCII.test(found) || !UNSPACED.test(found)) addWord(found, words);
    else
      for (const run of found.split(UNSPACED_RUN))
        if (UNSPACED.test(run)) addBigrams(fold(run.slice(0, MAX_TERMS)), words);
        else addWord(run, words);
  }
  if (words.length > MAX_TERMS) words.length = MAX_TERMS;
  return words;
}

/** Words without stop words. */
export const contentWords = (words: readonly string[]): string[] => words.filter((word) => !stopWords.has(word));

/** The terms of a text, in order, with repetitions. */
export const analyse = (text: string): string[] => contentWords(wordsOf(text)).map(stem);
