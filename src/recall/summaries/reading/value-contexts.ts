/** What the values of a statement are said of: the clause with each, and the subject of that clause. */
import { stem } from '../../../text/index.js';
import { carriedTerms } from './carried-terms.js';
import { type StatedValue, valuesIn } from './values.js';

export interface Mention {
  readonly value: StatedValue;
  /** Terms of its clause. */
  readonly clause: ReadonlySet<string>;
  /** Terms of the subject of its clause, or of the clause before; undefined for a pronoun, or if none is found. */
  readonly subject: ReadonlySet<string> | undefined;
  /** What is done with the things of that number, if the clause tells. */
  readonly dealing: string | undefined;
}

/** Words of a correction that do not say what is corrected. */
const NEUTRAL = new Set(
  (
    'small little quick big correction corrections corrected fix fixes update updated mistake typo wrong right actual actually sorry wait scratch ' +
    'change changed changes move moved moves shift shifted postpone postponed delay delayed push pushed bring forward extend extended raise ' +
    'raised lower lowered cut put set make made said says say tell told tells text texted texts call called calls mail mailed write wrote ' +
    'hear heard see saw read thing things part time times day days date week month year today tomorrow yesterday now new old ' +
    'current currently final finally total already again still only just exactly about around roughly almost nearly instead later ' +
    'earlier cost costs pay pays paid take takes took start starts started begin begins end ends ended come comes came go goes went ' +
    'get gets got give gives gave need needs needed want wants wanted ask asks asked agree agreed decide decided turn turned turns ' +
    'have has had is are was were be been will would can could leave leaves arrive arrives run runs keep keeps stay stays last next ' +
    'euro euros dollar dollars pound pounds eur usd gbp percent first number amount'
  )
    .split(' ')
    .map(stem),
);

/** Ends of clauses. */
const BREAK =
  /[,;:]\s+|\s[–—-]\s|[.!?…]+\s+|\s(?=(?:and|but|while|whereas|then|und|aber|et|mais|y|pero|e|ma|en|maar)\s)/giu;

const DETERMINER = '(?:the|our|my|your|his|her|their|its|this|that|these|those|an?|all|every|each)';
const VERB =
  "(?:is|are|was|were|am|has|have|had|will|would|can|could|must|should|costs?|comes?|came|goes|go|went|starts?|started|begins?|began|ends?|ended|opens?|closes?|leaves?|left|arrives?|arrived|takes?|took|moves?|moved|changes?|changed|needs?|wants?|pays?|paid|gets?|got|runs?|ran|meets?|met|lasts?|weighs?|measures?|holds?|seats?|fits?|lives?|works?|rises?|rose|went|drops?|dropped|falls?|fell|shifts?|shifted|allows?|brings?|brought|uses?|plays?|sells?|sold|buys?|bought|gives?|gave|makes?|made|says?|said|does|did|expires?|expired|turns?|turned|teaches|rents?|charges?|charged|earns?|owes?|drives?|drove|becomes?|became|stays?|stayed|requires?|supports?|listens?|returns?|returned)(?:n['’]t)?";
const ADVERBS =
  '(?:(?:only|now|just|also|already|always|usually|still|currently|actually|again|really|even|probably)\\s)*';
/** "The demo moves", "Anna's flight leaves", "my new number is". */
const SUBJECT = new RegExp(
  `^(?:(?:and|but|so|oh|ok|well|also|now|then|actually|sorry|wait|update|correction|no|yes|hm+|while|because|that|since|as)[,:.]?\\s+)*(?:${DETERMINER}\\s)?((?:[\\p{L}\\p{N}&'’.-]+\\s){1,4}?)${ADVERBS}${VERB}(?![\\p{L}'’])`,
  'iu',
);
const PRONOUN =
  /^(?:(?:and|but|so|oh|ok|well|also|now|then)[,:.]?\s+)*(?:i|we|he|she|it|they|you|there|this|that|these|those|one|who|which|what|everyone|nobody|someone|all|both|some|please|let)(?:['’]\p{L}+)?\s/iu;
/** Takes up the subject of the clause before. */
const SAME = /^(?:(?:and|but|so|then) )?(?:it|they|which|that)(?:['’]\p{L}+)?\s/iu;

/** Content terms of a text, without values. */
export function topicTerms(text: string, names: ReadonlySet<string>): Set<string> {
  let rest = text;
  for (const { index, text: value } of valuesIn(text))
    rest = `${rest.slice(0, index)}${value.replace(/[^\s]/g, '0')}${rest.slice(index + value.length)}`;
  return new Set([...carriedTerms(rest, names).keys()].filter((term) => !/\d/.test(term)));
}

/** Without words that any correction may have. */
export const specificTerms = (terms: Iterable<string>): Set<string> =>
  new Set([...terms].filter((term) => !NEUTRAL.has(term)));

/** The subject of a clause; `pronoun`, if it is one; undefined if none is found. */
function subjectOf(clause: string, names: ReadonlySet<string>): Subject | 'pronoun' | undefined {
  if (SAME.test(clause)) return undefined;
  if (PRONOUN.test(clause)) return 'pronoun';
  const match = SUBJECT.exec(clause);
  if (!match) return undefined;
  const found = match[1]!;
  // "Version 3" and "version 4" are two; in "the 20 is from last year" the number is the subject.
  const named = /\p{L}\P{L}*\d/u.test(found);
  const numbers = named ? found.match(/\d+/g)! : [];
  const terms = new Set([...specificTerms(topicTerms(found, names)), ...ordinalsIn(found), ...numbers]);
  return terms.size === 0 ? undefined : { terms, named_until: named ? match[0].length : 0 };
}

interface Subject {
  readonly terms: ReadonlySet<string>;
  /** Numbers before this place are a part of its name. */
  readonly named_until: number;
}

const ordinalsIn = (text: string): string[] =>
  text.toLowerCase().match(/\b(?:first|second|third|fourth|fifth|other)\b/g) ?? [];

/** To have 45 boxes, to need 60 and to order 15 are three facts. */
const DEALINGS = {
  have: /\b(?:have|has|had|got|own|owns|there (?:is|are))\b/i,
  need: /\b(?:needs?|needed|wants?|wanted|lacks?|missing|short of)\b/i,
  get: /\b(?:order(?:s|ed|ing)?|buy|buys|bought|buying|rent(?:s|ed)?|borrow(?:s|ed)?|receive[ds]?|arrived?)\b/i,
  give: /\b(?:sell|sells|sold|selling|give|gave|lent|return(?:s|ed)?|lost|broke|broken|ate|threw)\b/i,
  owe: /\b(?:owe|owes|owed)\b/i,
};
function dealingIn(clause: string): string | undefined {
  const found = Object.entries(DEALINGS).filter(([, form]) => form.test(clause));
  // "Has to", "we have sold": of several verbs nothing tells.
  return found.length === 1 ? found[0]![0] : undefined;
}

/** The values of a text with their clauses. */
export function mentionsIn(text: string, names: ReadonlySet<string>): Mention[] {
  const values = valuesIn(text);
  if (values.length === 0) return [];
  const mentions: Mention[] = [];
  let subject: ReadonlySet<string> | undefined;
  for (const [from, to] of clauseBounds(text, values)) {
    const clause = text.slice(from, to);
    const found = subjectOf(clause, names);
    // A clause without a subject of its own has that of the clause before.
    if (found !== undefined) subject = found === 'pronoun' ? undefined : found.terms;
    const named_until = typeof found === 'object' ? from + found.named_until : from;
    const terms = topicTerms(clause, names);
    const dealing = dealingIn(clause);
    // A number in the subject names it.
    for (const value of values)
      if (value.index >= named_until && value.index < to) mentions.push({ value, clause: terms, subject, dealing });
  }
  return mentions;
}

/** The bounds of clauses; no value is divided. */
function clauseBounds(text: string, values: readonly StatedValue[]): [start: number, end: number][] {
  const bounds: [number, number][] = [];
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(BREAK)) {
    if (values.some((value) => index >= value.index && index < value.index + value.text.length)) continue;
    bounds.push([start, index]);
    start = index + mark.length;
  }
  bounds.push([start, text.length]);
  return bounds;
}
