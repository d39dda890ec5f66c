/** Stems of English words: Porter's algorithm (1980), and irregular forms by a table. */
import { irregularForms } from './irregular-forms.js';
import { shortForms } from './short-forms.js';
import { familyOf } from './word-families.js';

const isVowel = (word: string, at: number): boolean => {
  const letter = word[at]!;
  if ('aeiou'.includes(letter)) return true;
  return letter === 'y' && at > 0 && !isVowel(word, at - 1);
};

/** Porter's m: the number of vowel-consonant sequences in the first `end` letters. */
function measure(word: string, end: number): number {
  let turns = 0;
  let afterVowel = false;
  for (let at = 0; at < end; at++) {
    const letter = word[at]!;
    const vowel: boolean = 'aeiou'.includes(letter) || (letter === 'y' && at > 0 && !afterVowel);
    if (!vowel && afterVowel) turns++;
    afterVowel = vowel;
  }
  return turns;
}

function hasVowel(word: string, end: number): boolean {
  for (let at = 0; at < end; at++) if (isVowel(word, at)) return true;
  return false;
}

const endsDouble = (word: string): boolean =>
  word.length > 1 && word.at(-1) === word.at(-2) && !isVowel(word, word.length - 1);

/** Ends with consonant, vowel, consonant, as "hop": such a stem lost an e. */
function endsShort(word: string, end: number): boolean {
  if (end < 3 || 'wxy'.includes(word[end - 1]!)) return false;
  return !isVowel(word, end - 3) && isVowel(word, end - 2) && !isVowel(word, end - 1);
}

type Endings = readonly (readonly [ending: string, replacement: string])[];

const endings = (text: string): Endings =>
  text
    .trim()
    .split(/,\s+/)
    .map((pair) => pair.split(':') as [string, string]);

/** Longer endings first, where one is the end of another. */
const step2 = endings(`
  ational:ate, tional:tion, enci:ence, anci:ance, izer:ize, bli:ble, alli:al, entli:ent, eli:e, ousli:ous, ization:ize,
  ation:ate, ator:ate, alism:al, iveness:ive, fulness:ful, ousness:ous, aliti:al, iviti:ive, biliti:ble, logi:log`);
const step3 = endings('icate:ic, ative:, alize:al, iciti:ic, ical:ic, ful:, ness:');
const step4: Endings = [
  ...['al', 'ance', 'ence', 'er', 'ic', 'able', 'ible', 'ant', 'ement', 'ment', 'ent', 'sion', 'tion', 'ou'],
  ...['ism', 'ate', 'iti', 'ous', 'ive', 'ize'],
].map((ending) => [ending, /^[st]ion$/.test(ending) ? ending[0]! : ''] as const);

/** Replaces the first matching ending, if the measure of the stem exceeds `above`. */
function replaceEnding(word: string, endings: Endings, above: number): string {
  for (const [ending, replacement] of endings) {
    if (!word.endsWith(ending)) continue;
    const kept = word.slice(0, word.length - ending.length) + replacement;
    // In step 4 the s or t of -sion and -tion belongs to the measured stem.
    const measured = above === 1 ? kept.length : word.length - ending.length;
    return measure(word, measured) > above ? kept : word;
  }
  return word;
}

function withoutPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function withoutTense(word: string): string {
  if (word.endsWith('eed')) return measure(word, word.length - 3) > 0 ? word.slice(0, -1) : word;
  const ending = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0;
  if (ending === 0 || !hasVowel(word, word.length - ending)) return word;
  const kept = word.slice(0, -ending);
  if (kept.endsWith('at') || kept.endsWith('bl') || kept.endsWith('iz')) return `${kept}e`;
  if (endsDouble(kept)) return 'lsz'.includes(kept.at(-1)!) ? kept : kept.slice(0, -1);
  return measure(kept, kept.length) === 1 && endsShort(kept, kept.length) ? `${kept}e` : kept;
}

function withoutLastE(word: string): string {
  if (!word.endsWith('e')) return word;
  const end = word.length - 1;
  const turns = measure(word, end);
  return turns > 1 || (turns === 1 && !endsShort(word, end)) ? word.slice(0, -1) : word;
}

function porter(word: string): string {
  let kept = withoutTense(withoutPlural(word));
  if (kept.endsWith('y') && hasVowel(kept, kept.length - 1)) kept = `${kept.slice(0, -1)}i`;
  kept = replaceEnding(kept, step2, 0);
  kept = replaceEnding(kept, step3, 0);
  kept = withoutLastE(replaceEnding(kept, step4, 1));
  return kept.endsWith('ll') && measure(kept, kept.length) > 1 ? kept.slice(0, -1) : kept;
}

const ENGLISH = /^[a-z]{3,40}$/;
/** Not plurals of the word without s. */
const NOT_PLURALS = new Set(['news', 'goods', 'customs']);
/** Words whose comparatives differ in meaning: better is more than good. */
const COMPARED = new Set(['good', 'bad', 'far']);

/** A lower-case word without endings of number and tense; other endings stay: "important" is no "import". */
export function baseForm(word: string): string {
  if (!ENGLISH.test(word) || NOT_PLURALS.has(word)) return word;
  const regular = irregularForms.get(word) ?? word;
  let kept = withoutTense(withoutPlural(COMPARED.has(regular) ? word : regular));
  if (/[^aeiou]y$/.test(kept)) kept = `${kept.slice(0, -1)}i`;
  kept = withoutLastE(kept);
  return kept.endsWith('ll') && measure(kept, kept.length) > 1 ? kept.slice(0, -1) : kept;
}

/** Whether a lower-case word is a past or -ing form, or another irregular form. */
export const isInflected = (word: string): boolean => /(?:ed|ing)$/.test(word) || irregularForms.has(word);

const CACHED = 20_000;
const cache = new Map<string, string>();

const MAX_CACHED_LENGTH = 40;

/** A copy of a word: a slice would keep its whole text in memory. */
export const ownCopy = (word: string): string => Buffer.from(word, 'utf16le').toString('utf16le');

function stemOf(word: string): string {
  if (!ENGLISH.test(word)) return word;
  const family = familyOf(irregularForms.get(word) ?? word);
  return withoutFamilyEnding(porter(family));
}

/** Endings that Porter's algorithm keeps: of "history" for "historic", of "deployment" for "deploy". */
function withoutFamilyEnding(stemmed: string): string {
  const [, before_i, before_ment] = FAMILY_ENDING.exec(stemmed) ?? [];
  return before_i ?? before_ment ?? stemmed;
}
const FAMILY_ENDING = /^([a-z]{5,})i$|^([a-z]{4,})ment$/;

/** The stem of a lower-case word; a word that is not English stays as it is. */
export function stem(word: string): string {
  if (word.length > MAX_CACHED_LENGTH) return word;
  const known = cache.get(word);
  if (known !== undefined) return known;
  const own = ownCopy(word);
  const found = stemOf(shortForms.get(own) ?? own);
  if (cache.size >= CACHED) cache.clear();
  cache.set(own, found);
  return found;
}
