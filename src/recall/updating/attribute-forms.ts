/** Attributes of people and things: "the deadline is May 1", "we raised the budget to 2,400", "Anna's phone number". */
import { PROPER } from '../extraction/english/names.js';
import { type ClaimForm, claimAt, type FoundClaim, type SlotKind, slotKey } from './found-claims.js';
import { holderForms } from './holder-forms.js';
import { ownedPhrase } from './subjects.js';
import { attributeKey, isSolid } from './values.js';

/** What exists several times: another date is another one. */
const REPEATED =
  'meeting|appointment|call|interview|exam|flight|party|review|lesson|class|session|sessions|game|match|visit|checkup|check-up|workshop|standup|stand-up|sync|retro|demo|course|concert|delivery|booking|reservation|dinner|lunch|train|trip|practice|rehearsal|rehearsals|shift|deploy|deployment|roll-?out|tournament|tutoring|tasting';
/** What never changes: another value contradicts it. */
const FIXED =
  'birthday|birth date|date of birth|birthplace|place of birth|anniversary|mother tongue|native language|maiden name|blood type|star sign|zodiac sign|root cause';
/** What has a name, number or date as its value. */
const SOLID =
  'deadline|due date|launch|launch date|release|release date|go-live|start date|end date|wedding|move|moving date|submission|renewal date|code freeze|kickoff|kick-off|closing time|opening hours|budget|price|rate|fee|rent|salary|cost|costs|bill|quota|password|passcode|passphrase|pin|code|port|version|limit|rate limit|timeout|threshold|interval|retention|phone|phone number|mobile|mobile number|cell|number|e-?mail|e-?mail address|mail address|address|office|room|room number|seat|desk|gate|hotel|weight|height|size|shoe size|age|contact|contact person|manager|boss|lead|team lead|tech lead|owner|product owner|maintainer|CEO|CTO|CFO|COO|president|chair|captain|treasurer|secretary|doctor|GP|dentist|physio|therapist|vet|landlord|landlady|accountant|lawyer|coach|trainer|teacher|tutor|mentor|supervisor|advisor|adviser|roommate|flatmate|neighbou?r|editor|shell|formatter|linter|database|language|framework|region|time ?zone|provider|host|hosting|bank|insurer|employer|company|team|department|school|university|supplier|vendor|dealer|name|last name|surname|first name|nickname|username|user name|handle|url|URL|domain|branch|main branch|repo|repository|headcount|score|wifi password|wi-fi password|wifi|capacity|model|plan|tier|phone plan|car|laptop|bike|printer|monitor|chat tool|wiki|tracker|issue tracker|CI|CI system|package manager|payment provider|queue|cache|search engine|crash reporting|error tracking|storage|bucket|cluster|registry|license|licence|' +
  'membership|subscription|tariff|allowance|dose|dosage|pension|wage|deposit|discount|hotline|insurance|platform|locker|classroom|class teacher|babysitter|nanny|cleaner|gardener|plumber|mechanic|hairdresser|pharmacy|clinic|gym|p(?:a)?ediatrician|physiotherapist|midwife|conductor|agent|broker|notary|guide|carrier|courier|runtime|base image|bundler|test runner|message broker|load balancer|proxy|log level|pool size|batch size|page size|ttl|replicas|minimum order|quota|deploy day|release day|delivery day|training day|market day|collection day|pay ?day|payment terms|turnaround|lead time|notice period|dilution|temperature|humidity|heart rate|pulse|blood pressure';
/** What may have any short value. */
const FREE =
  'password|passcode|passphrase|wifi password|wi-fi password|branch|main branch|default branch|editor|shell|formatter|linter|database|language|framework|handle|username|user name|nickname|package manager|chat tool|wiki|host|goal|target|status|theme|colou?r|diet|cadence|schedule|day off|release cycle|release cadence|hobby|major|degree|job title|title|role|job|occupation|mode|policy|strategy|split|frequency|topic|subject|destination|venue|location|place|format|convention|dress code|motto|opener|opening song|route|code word';
const FAVOURITE = '(?:favou?rite|preferred) (?:[\\p{L}-]+ ){0,2}[\\p{L}-]+';

const NOUN = `(?:${FAVOURITE}|${SOLID}|${FREE}|${REPEATED}|${FIXED})`;
const OWNER = `(?:[Tt]he |[Oo]ur |[Mm]y |${PROPER}'s? (?!is|was|has)|[Mm]y [\\p{Ll}-]+'s |[Tt]he [\\p{Ll}-]+'s )`;
/** "the new summer holiday budget for Anna". */
const PHRASE = `(?:${OWNER})?(?:[\\p{L}\\d.&-]+ ){0,3}?${NOUN}(?: (?:for|of|with|at|in|to|on) [^,:]{2,40}?)?`;

const TO =
  "(?:is|are)(?: now)? with|(?:is|are|was|'s)(?: (?:now|currently|actually|still|due|fixed|(?:set|scheduled|planned)(?= (?:on|at|in))))*(?: (?:(?:changed|moved|pushed(?: back| out)?|postponed|extended|rescheduled|raised|increased|lowered|reduced|set|scheduled|planned|shifted|brought forward|renamed|cut)(?: (?:to|for|until))|called))?|(?:has|have|got|was|were|is|has been|have been|just|had) ?(?:been |now |just )*(?:changed|moved|pushed(?: back| out)?|postponed|extended|rescheduled|raised|increased|lowered|reduced|shifted|slipped|brought forward|renamed|gone up|gone down|risen|dropped|cut|bumped|updated)(?: from .+?)? (?:to|until|for)|(?:now )?(?:raised|lowered|reduced|bumped|cut|extended|postponed|rescheduled|delayed|brought forward|pushed|changed|changes|moved|moves|pushed back|shifted|shifts|slipped|slips|rose|rises|went up|goes up|goes|went|dropped|drops|fell|increased|increases|shrinks|switched|switches|stands)(?: up| down| back)?(?: from .+?)? (?:to|at|until)|will (?:now )?be";
const MOVES =
  /\b(?:changed|changes|moved|moves|pushed|postponed|extended|rescheduled|raised|increased|increases|lowered|reduced|shifted|shifts|slipped|slips|brought forward|renamed|gone|goes|risen|rose|rises|went|dropped|drops|fell|cut|bumped|updated|shrinks|switched|switches|now)\b/i;

const IS = new RegExp(`^(?<phrase>${PHRASE}) (?<verb>${TO}) (?<not>no longer |not )?(?<value>.+)$`, 'u');
const ACTS =
  'moved|pushed back|pushed|postponed|extended|raised|increased|bumped|lowered|cut|reduced|dropped|changed|set|switched|rescheduled|updated|renamed|shifted|delayed|brought forward';
const MOVED = new RegExp(
  `^(?:(?:I|[Ww]e|[Tt]hey|[Tt]he [\\p{Ll}]+|${PROPER})(?:'ve| have| has)? (?:just |now |finally |all |recently )*)?(?<verb>${ACTS.split(
    '|',
  )
    .map((act) => `[${act[0]!.toUpperCase()}${act[0]}]${act.slice(1)}`)
    .join(
      '|',
    )}) (?<phrase>${PHRASE})(?: from (?<from>.+?))?(?: (?:back|forward|up|down|out|over))? (?:to|until|for|by) (?<value>.+)$`,
  'u',
);
const LABEL = new RegExp(
  `^(?<phrase>(?:[\\p{L}\\d.&'-]+ ){0,3}?${NOUN}(?: (?:for|of|with|at|in|to) [^,:]{2,40}?)?): (?<value>.+)$`,
  'iu',
);
/** "The budget went from 400 to 500". */
const FROM = /\bfrom (.{1,40}?) (?:to|until)\b/i;

const ofKind = (nouns: string): RegExp => new RegExp(`\\b(?:${nouns})$`, 'i');
const KINDS: readonly (readonly [RegExp, SlotKind])[] = [
  [ofKind(REPEATED), 'named'],
  [ofKind(FIXED), 'fixed'],
];
const IS_FREE = new RegExp(`\\b(?:${FREE}|${FAVOURITE})$`, 'iu');
const AFTER_NOUN = / (?:for|of|with|at|in|to|on) .+$/i;

/** "The wedding of Anna" is about the wedding. */
const nounOf = (phrase: string): string => {
  const bare = phrase.replace(AFTER_NOUN, '');
  return new RegExp(`${NOUN}$`, 'iu').test(bare) ? bare : phrase;
};

/** Several of a kind at once: "the deadlines", "phone numbers". */
function claimOf(
  sentence: string,
  phrase: string,
  start: number,
  rest: Partial<FoundClaim>,
  speaker: string | null,
): readonly FoundClaim[] {
  const noun = nounOf(phrase);
  const kind = KINDS.find(([form]) => form.test(noun))?.[1] ?? 'one';
  const owned = ownedPhrase(phrase, speaker);
  const slot = attributeKey(owned);
  if (slot === '') return [];
  const from = start + (/^(?:on|at|in|by|for|due) /.exec(sentence.slice(start))?.[0].length ?? 0);
  const free = IS_FREE.test(noun);
  const fits = free
    ? (value: string) => value.split(' ').length <= 8
    : (value: string) => isSolid(value) && value.split(' ').length <= 12;
  const claim = claimAt(sentence, from, { key: slotKey('', `is:${slot}`), kind, free, ...rest }, fits);
  return claim ? [claim] : [];
}

const places = (found: RegExpExecArray, sentence: string): number => sentence.length - found.groups!.value!.length;

/** "Rent is 900": what has no article has a capital at the beginning of a sentence. */
const attributes: ClaimForm = (sentence, speaker) => {
  const found = attributesIn(sentence, speaker);
  if (found.length > 0 || !/^\p{Lu}\p{Ll}/u.test(sentence)) return found;
  return attributesIn(`${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`, speaker);
};

const attributesIn: ClaimForm = (sentence, speaker) => {
  const moved = MOVED.exec(sentence);
  if (moved) {
    const { phrase, from, verb } = moved.groups as { phrase: string; from?: string; verb: string };
    const named = /renamed/i.test(verb) && !/name$/i.test(phrase) ? `${phrase} name` : phrase;
    return claimOf(sentence, named, places(moved, sentence), { changes: true, replaced: from }, speaker);
  }
  const is = IS.exec(sentence);
  if (is) {
    const { phrase, verb, not } = is.groups as { phrase: string; verb: string; not?: string };
    const rest = { changes: MOVES.test(verb), negated: not !== undefined, replaced: FROM.exec(verb)?.[1] };
    return claimOf(sentence, phrase, places(is, sentence), rest, speaker);
  }
  const label = LABEL.exec(sentence);
  return label ? claimOf(sentence, label.groups!.phrase!, places(label, sentence), {}, speaker) : [];
};

const RENAMED = new RegExp(
  `^(?:(?:[Tt]he|[Oo]ur|[Mm]y) (?<thing>(?:[\\p{Ll}-]+ ){0,2}[\\p{Ll}-]+) (?:(?:is|was) (?:now |also )?(?:called|named|known as|renamed(?: to)?)|got renamed to|has been renamed(?: to)?)|(?:[Ww]e|I|${PROPER}) (?:have |has )?renamed (?:the|our|my) (?<other>(?:[\\p{Ll}-]+ ){0,2}[\\p{Ll}-]+?)(?: from (?<from>.+?))? to) (?<value>\\p{Lu}.*)$`,
  'u',
);

/** "My boss is called Igor" says who it is. */
const HELD =
  /\b(?:boss|manager|landlord|landlady|dentist|doctor|gp|therapist|physio|accountant|lawyer|coach|trainer|teacher|tutor|mentor|supervisor|advis[eo]r|editor|cleaner|nanny|babysitter|gardener|conductor|vet|plumber|mechanic|hairdresser|midwife|agent|guide|lead|owner|maintainer)$/i;

const renamed: ClaimForm = (sentence) => {
  const found = RENAMED.exec(sentence);
  if (!found) return [];
  const { thing, other, from } = found.groups as { thing?: string; other?: string; from?: string };
  const what = (thing ?? other)!;
  const key = slotKey('', `is:${attributeKey(HELD.test(what) ? what : `${what} name`)}`);
  const claim = claimAt(sentence, places(found, sentence), { key, changes: other !== undefined, replaced: from });
  return claim ? [claim] : [];
};

/** "Mr Ortiz is our new accountant", "main is the default branch now". */
const IS_NOW = new RegExp(
  `^(?<value>${PROPER}|[\\p{L}\\d._-]+) (?:is|are|became|has become) (?<now>now )?(?<whose>[Tt]he|[Oo]ur|[Mm]y) (?<new>new )?(?<phrase>(?:[\\p{Ll}\\d-]+ ){0,3}?${NOUN})(?<rest>$|[,;.]| now\\b| from now on| these days| instead| as of\\b| since\\b).*$`,
  'u',
);
const PRONOUN = /^(?:it|this|that|these|those|here|there|he|she|they|we|i|what|which|who|one)$/i;

const reversed: ClaimForm = (sentence, speaker) => {
  const found = IS_NOW.exec(sentence);
  if (!found) return [];
  const { value, now, whose, new: newer, phrase, rest } = found.groups as Record<string, string>;
  const changes = now !== undefined || newer !== undefined || /\w/.test(rest!) || /bec[ao]me/.test(sentence);
  if (!changes || PRONOUN.test(value!)) return [];
  const slot = attributeKey(ownedPhrase(`${whose!.toLowerCase()} ${phrase!}`, speaker));
  const free = IS_FREE.test(phrase!);
  const own = { value: value!, start: 0, end: value!.length, kind: 'one', negated: false, changes: true } as const;
  return slot === '' ? [] : [{ ...own, key: slotKey('', `is:${slot}`), free, more: false }];
};

export const attributeForms: ClaimForm = (sentence, speaker) => {
  for (const form of [renamed, holderForms, attributes, reversed]) {
    const found = form(sentence, speaker);
    if (found.length > 0) return found;
  }
  return [];
};
