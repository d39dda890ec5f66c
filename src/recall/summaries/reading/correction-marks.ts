/** The words by which a statement corrects an earlier one, in several languages. */
import { type StatedValue, valuesIn } from './values.js';

/** Says that it corrects: what it gives anew may have been said of anything just before. */
const EXPLICIT =
  /\b(?:corrections?|corrected|scratch that|misremembered|misspoke|mistake|my bad|i was wrong|typo|(?:two|three|one|small|quick|more) fix(?:es)?|hold on|wait|sorry|actually|in fact|swap(?:ped)?|on inverse|je corrige|je me suis tromp\w*|en fait|pardon|korrektur|moment|verzeihung|wir tauschen|eigentlich|en realidad|corrección|perdón|me equivoqué|in realtà|correzione|scusa|mi sono sbagliat\w*|eigenlijk|correctie|na verdade|correção|desculpa)(?![\p{L}])/iu;
/** Says that something is different from now on. */
const CHANGED =
  /\b(?:updated?|changed|changes|moved|moves|switched|switching|postponed|rescheduled|pushed|delayed|brought forward|extended|shifted|revised|replaced|make (?:it|that)|no longer|from now on|from [^,.]{1,20} on|instead|(?:isn|wasn|aren)['’]t|it's not|is not|turns out|is now|now|already|went (?:up|down|from)|(?:up|down) (?:to|from)|(?:in|de)creased|reduced|rose|dropped|doubled|halved|(?:put|set|raise|lower|bump|cut|bring|push)\w* .{0,30}\b(?:down|up|back)?\b ?to|after all|finalement|ce n['’]est (?:pas|plus)|n['’]est plus|au lieu de|désormais|à partir d[eu]|plutôt|reporté\w*|déplacé\w*|avancé\w*|changé\w*|sondern|nicht mehr|statt|stattdessen|ab jetzt|jetzt|verschoben|geändert|doch nicht|stimmt nicht|ya no|en vez de|ahora|cambiad\w*|movid\w*|sino|non più|invece|adesso|spostat\w*|cambiat\w*|niet meer|in plaats van|verplaatst|gewijzigd|em vez de|agora|mudou)(?![\p{L}])/iu;

const ALL_MARKS = new RegExp(`${EXPLICIT.source}|${CHANGED.source}`, 'giu');

export const correctsOpenly = (statement: string): boolean => EXPLICIT.test(statement);

/** A text without the words by which it corrects. */
export const withoutMarks = (text: string): string =>
  // "Put the budget down to" says what is changed.
  text.replace(ALL_MARKS, (mark) => (mark.split(' ').length > 2 ? mark : ' '));

/** "The handover was moved.": says that something changes, and the next sentence says to what. */
export const announcesChange = (statement: string): boolean => EXPLICIT.test(statement) || CHANGED.test(statement);

/** "Correction: …", "Oh wait, …". */
export function withoutLead(statement: string): string {
  const lead = /^[^:,.]{0,30}[:,]\s+/.exec(statement)?.[0] ?? '';
  return correctsOpenly(lead) ? statement.slice(lead.length) : statement;
}

/** The values that a statement gives anew: those of a kind that stands in a part of it which speaks of a change. */
export function changedValues(statement: string): StatedValue[] {
  const values = valuesIn(statement);
  if (correctsOpenly(statement)) return values;
  const changed = new Set<string>();
  let announced = false;
  for (const part of statement.split(/[;,]\s+|\s[–—]\s/)) {
    const given = valuesIn(part);
    const changes = CHANGED.test(part);
    if (changes || announced) for (const { kind } of given) changed.add(kind);
    // "It was extended, until 31 May": the next part says to what.
    announced = changes && given.length === 0;
  }
  return values.filter(({ kind }) => changed.has(kind));
}

/** Says that something is less or more than was thought; alone it tells little. */
const HINTS = /\b(?:only|just|even|nur|bloß|seulement|plus que|solo|sólo|soltanto|maar|alleen)(?![\p{L}])/iu;
export const hintsAtChange = (statement: string): boolean => HINTS.test(statement);

/** "From eight to six episodes." */
const FROM_TO = /\bfrom (\p{L}+|\d[\d.,]*) to (\p{L}+|\d[\d.,]*) (\p{L}{3,})/iu;

/** "Margit swapped the Elgar for three part-songs." */
const SWAPS = [
  /\b(?:swap(?:s|ped)?|exchang(?:es?|ed)|replac(?:es?|ed)|substitut(?:es?|ed)|trad(?:es?|ed)) (?:the |our |my )?(?<old>.{2,40}?) (?:for|with|by|against) (?<name>.{2,60}?)(?=[.,;:!?]|$| (?:because|since|so|now)\b)/iu,
];
/** What is put in place of something else; the earlier statement keeps its words. */
export function swappedName(statement: string): { readonly old: string; readonly name: string } | undefined {
  for (const pattern of SWAPS) {
    const found = pattern.exec(statement)?.groups;
    if (found && /\p{Lu}|\d/u.test(found.old!)) return { old: found.old!, name: found.name! };
  }
  return undefined;
}

/** An old value that is named: "not 140", "isn't 20", "instead of Monday", "the 20 is from last year". */
const DENIED_BEFORE =
  /(?:\bnot|n['’]t(?: \w+)?|\bno longer|\binstead of|\brather than|\bpas|n['’]est plus|\bau lieu d[eu]|\bnicht(?: mehr)?|\bkein\w*|\bstatt|\bya no|\ben vez de|\bnon|\binvece d[ei]l?|\bniet(?: meer)?|\bgeen|\bin plaats van|\bnão|\bem vez de|\bscratch|\bforget) (?:(?:on|the|le|la|les|am|den|der|die|das|el|il|op|de|at|in|for|pour) ){0,2}$/iu;
const DENIED_AFTER =
  /^(?:s)?(?:,? (?:is|was|were|are|thing|est|était|ist|war|es|era|è) ?(?:from|before|old|last|wrong|outdated|thing|too|trop|zu|demasiado|troppo|te|avant|alt|falsch|vor|antes|prima)|,? (?:thing )?(?:—|–|-|,)? ?scratch that)/iu;

export const isDenied = (text: string, { index, text: value }: StatedValue): boolean =>
  DENIED_BEFORE.test(text.slice(0, index)) || DENIED_AFTER.test(text.slice(index + value.length));

const A_NAME = "\\p{Lu}[\\p{L}\\p{M}\\d&'’-]*(?: \\p{Lu}[\\p{L}\\p{M}\\d&'’-]*){0,2}";
const PLACE = '(?:in |at |to |with |by |à |chez |bei |mit |en |con |a |op |met |em )?';
const DENIED_NAMES = [
  `(?<name>${A_NAME})(?: now)?,? (?:and )?(?:not|instead of|rather than|pas|au lieu de|nicht|statt|no|en vez de|non|invece di|niet|in plaats van|não|em vez de) ${PLACE}(?<old>${A_NAME})`,
  `(?:not|n['’]t|pas|nicht|no|non|niet|não) ${PLACE}(?<old>${A_NAME}),? (?:but|mais|sondern|sino|ma|maar|mas|it['’]s|c['’]est) ${PLACE}(?<name>${A_NAME})`,
].map((pattern) => new RegExp(`(?<![\\p{L}])(?:${pattern})`, 'u'));

interface DeniedName {
  readonly old: string;
  readonly name: string;
  /** Whether both are numbers of the same things. */
  readonly counted: boolean;
}

/** "Munich, not Hamburg", "Munich instead of Hamburg", "not Hamburg but Munich". */
export function deniedName(statement: string): DeniedName | undefined {
  for (const pattern of DENIED_NAMES) {
    const found = pattern.exec(statement)?.groups;
    if (found) return { old: found.old!, name: found.name!, counted: false };
  }
  const [, old, name, unit] = FROM_TO.exec(statement) ?? [];
  return unit === undefined ? undefined : { old: `${old} ${unit}`, name: `${name} ${unit}`, counted: true };
}

/** "So 120 connections altogether": what follows from something said before. */
const CONCLUSION =
  /^(?:so|then|that(?:['’]s| is| makes| means)|which makes|in total|together|with|donc|alors|cela fait|also|das (?:macht|sind)|zusammen|entonces|son|quindi|sono|dus|dat is|então)(?![\p{L}'’])/iu;
export const concludes = (statement: string): boolean => CONCLUSION.test(statement);
