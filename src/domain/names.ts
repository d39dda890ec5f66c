/** What a name looks like at the start of a sentence, where every word has a capital. */
import type { Voice } from './fact-drafts.js';

export const PROPER =
  "(?!(?:The|Our|My|Your|His|Her|Their|This|That|A|An)\\b)(?:[A-Z][\\p{L}\\p{M}\\d'&.-]*)(?: (?:of |the |de |van |von )?[A-Z0-9][\\p{L}\\p{M}\\d'&.-]*){0,3}";

/** Words that stand first in many a sentence, and have their capital from that. */
const NO_NAMES =
  /^(?:everything|everyone|everybody|nothing|nobody|whoever|someone|somebody|something|anyone|anything|people|today|tomorrow|yesterday|life|work|time|dinner|lunch|breakfast|coffee|dinner|music|love|money|home|mom|dad|school|most|many|some|each|every|all|none|no|yes|what|who|which|one|two|three|another|other|others|there|here|this|that|these|those|it|he|she|they|we|you|i|my|our|your|his|her|their|its|the|a|an|if|when|while|after|before|since|because|although|also|then|now|so|but|and|or|not|only|just|being|having|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|god|man|dude|guys|folks|kids|misery|society|fortune|luck|karma|weather|traffic|food|sleep|nature|art|honesty|family|part|step|task|note|example|option|phase|day|week|section|version|update|todo|summary|answer|question|result|output|error|warning|user|assistant|overall|finally|first|second|third|next|last)$/i;

/** A capital in the middle, digits, or two names in a row: no ordinary word. */
const isUnmistakable = (name: string): boolean =>
  /^`|[\d_./]|[a-z][A-Z]|^[A-Z]{2,}/.test(name) || (/ /.test(name) && !/^[A-Z][a-z]* [a-z]/.test(name));

/** `of_person`: what is said is said of people, so that a first word with a capital is one's name. */
export function isName(name: string, of_person: boolean, { names }: Pick<Voice, 'names'>): boolean {
  const first = name.split(' ')[0]!.replace(/'s$/, '');
  if (NO_NAMES.test(first)) return false;
  return of_person || isUnmistakable(name) || names.has(first.toLowerCase());
}
