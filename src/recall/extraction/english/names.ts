/** Recognises names at the start of a sentence, where every word has a capital. */
import { rankOf } from '../../../text/index.js';
import type { Voice } from './drafts.js';

export const PROPER =
  "(?!(?:The|Our|My|Your|His|Her|Their|This|That|A|An)\\b)(?:[A-Z][\\p{L}\\p{M}\\d'&.-]*)(?: (?:of |the |de |van |von )?[A-Z0-9][\\p{L}\\p{M}\\d'&.-]*){0,3}";

/** Common first words of a sentence. */
const NO_NAMES =
  /^(?:everything|everyone|everybody|nothing|nobody|whoever|someone|somebody|something|anyone|anything|people|today|tomorrow|yesterday|life|work|time|dinner|lunch|breakfast|coffee|dinner|music|love|money|home|mom|dad|school|most|many|some|each|every|all|none|no|yes|what|who|which|one|two|three|another|other|others|there|here|this|that|these|those|it|he|she|they|we|you|i|my|our|your|his|her|their|its|the|a|an|if|when|while|after|before|since|because|although|also|then|now|so|but|and|or|not|only|just|being|having|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|god|man|dude|guys|folks|kids|misery|society|fortune|luck|karma|weather|traffic|food|sleep|nature|art|honesty|family|part|step|task|note|example|option|phase|day|week|section|version|update|todo|summary|answer|question|result|output|error|warning|user|assistant|overall|finally|first|second|third|next|last)$/i;

/** Subjects of "likes" and "hates" in sayings and of programs that are no people. */
const NO_PEOPLE = new Set(
  (
    'water oil fire ice air wind rain snow sun moon earth light darkness night winter sea sand rust dust metal wood glass ' +
    'acid salt sugar milk tea beer wine bread chocolate business industry finance staff press media government congress ' +
    'court law history science evil death fate fear power pride envy greed guilt trouble chaos order silence truth beauty ' +
    'wisdom knowledge mankind woman mother father mum grandma grandpa brother sister baby boy girl child kid friend boss ' +
    'customer client team company bank market world cat dog horse cow fish bird mouse snake skin hair body brain heart cancer ' +
    'chrome firefox safari google apple microsoft amazon facebook twitter netflix slack zoom git docker kubernetes linux ' +
    'windows android node python java react postgres sqlite redis kafka nginx apache webpack code production staging ' +
    'browser server database cache europe asia africa america germany france england russia china japan'
  ).split(' '),
);
/** "Happiness", "automation"; but not Ling, Florence, Clement and Felicity. */
const ABSTRACT = /^\p{L}{2,}(?:ness|tion|sion|ism|ship|hood|ware|ology|ality|ility|rity)$|^\p{L}{4,}ing$/u;
/** Acronyms and spellings of programs; not McDonald. */
const NO_SPELLING = /[\d_/&]|\.\p{L}|^\p{Lu}{3,}|\p{Ll}\p{Lu}{2}|(?<!\bM)\p{Ll}{2}\p{Lu}/u;

const NAME_IN_S = /(?:us|is|homas|ucas|onas|ames|arlos|gnes)$/;

/** Whether a name at the start of a sentence, the subject of `verb`, is that of a person. */
export function isPerson(name: string, verb: string, { names }: Pick<Voice, 'names'>): boolean {
  const words = name.split(' ').map((word) => word.replace(/'s$/, '').toLowerCase());
  if (NO_SPELLING.test(name) || NO_NAMES.test(words[0]!)) return false;
  if (words.some((word) => NO_PEOPLE.has(word)) || ABSTRACT.test(words.at(-1)!)) return false;
  // "Dogs can't eat chocolate": "can" does not tell plural from singular.
  if (words.length > 1 || !verb.startsWith('can') || !/[^s]s$/.test(words[0]!)) return true;
  return names.has(words[0]!) || NAME_IN_S.test(words[0]!);
}

/** A capital in the middle, digits, or two names in a row. */
const isUnmistakable = (name: string): boolean =>
  /^`|[\d_./]|[a-z][A-Z]|^[A-Z]{2,}/.test(name) || (/ /.test(name) && !/^[A-Z][a-z]* [a-z]/.test(name));

/** Whether the first word of a name is no other word: it is used inside a sentence, or hardly ever without its capital. */
export function isUsedAsName(name: string, voice: Pick<Voice, 'names'>): boolean {
  const first = name.split(' ')[0]!.replace(/['’]s?$/, '');
  if (!isName(name, true, voice)) return false;
  if (voice.names.has(first.toLowerCase()) || /^(?:Mr|Mrs|Ms|Dr|Prof)\.?$/.test(first)) return true;
  const plain = rankOf(` ${first.toLowerCase()}`);
  return plain === undefined || (rankOf(` ${first}`) ?? Number.POSITIVE_INFINITY) < plain;
}

/** `of_person`: the verb or role implies a person, so a first word with a capital is a name. */
export function isName(name: string, of_person: boolean, { names }: Pick<Voice, 'names'>): boolean {
  const first = name.split(' ')[0]!.replace(/'s$/, '');
  if (NO_NAMES.test(first)) return false;
  return of_person || isUnmistakable(name) || names.has(first.toLowerCase());
}
