/** Extraction rules: facts about named people, places, services and files. */
import { type FactRule, keyOf, noteOf } from './drafts.js';
import { isName, PROPER } from './names.js';
import { EVALUATIVE, isEpithet, standsAlone } from './sentences.js';

const CODE_NAME = '`[^`]{1,60}`|[a-z][\\w-]*(?:[._/][\\w-]+)+|[a-z]+[A-Z]\\w*';
/** Roles held by one person: who it is is a fact, where they are is not. */
const PEOPLE = 'CEO|CTO|CFO|COO|VP|team lead|product owner|maintainer|founder|client|customer|supplier|vendor|sponsor';
const WHEREABOUTS = new RegExp(`\\b(?:${PEOPLE})(?: (?:for|of) .+)? is (?:in|at|on) `, 'i');
/** Things named with an article, of which there is one. */
const KNOWN = `(?:[\\w.-]+ ){0,3}(?:apis?|APIs?|DB|CLI|SDK|CI|license key|licence key|API key|access token|contract|lease|subscription|insurance|passport|visa|endpoint|service|server|database|db|cluster|repo|repository|main branch|branch|build|pipeline|cron job|job|queue|bucket|table|schema|port|certificate|domain|deadline|budget|release|meeting|standup|stand-up|office|wifi password|password|library|package|module|frontend|backend|front end|back end|website|app|staging|production|staging environment|environment|gateway|proxy|load balancer|cache|index|dashboard|cli|sdk|config|config file|config(?:uration)? file|test suite|ci|rate limit|time-?out|limit|version|license|licence|${PEOPLE})`;

/** Lasting statements about things and people. */
const SAID =
  '(lives? in|lives? at|lives? near|works? at|works? for|works? as|was born (?:in|on)|grew up in|owns|manages|leads|maintains|runs on|run on|runs in|requires|require|depends on|supports|moved to|reports to|studies at|is married to|is engaged to|is allergic to|is based in|is located (?:in|at)|is in charge of|is responsible for|is written in|is built with|is built on|listens on|is deployed (?:on|to)|is hosted (?:on|at|by|in)|is called|is named|expires on|expires in|expires after|starts at|starts on|ends on|costs|is owned by|is maintained by|is managed by|is led by|is run by|was founded (?:in|by)|was acquired by|has(?= \\d)|is stored in|lives under|rotates every|times out after|is limited to|defaults to|is licensed under|uses|use|talks to|is named after|stands for)';

const THING = new RegExp(
  `^(?:(${PROPER}|${CODE_NAME})|((?:[Tt]he|[Oo]ur) ${KNOWN})) (?:(?:now|currently|also|still) )?${SAID} (.+)$`,
  'u',
);
const IS = new RegExp(
  `^(?:(${PROPER}|${CODE_NAME})|((?:[Tt]he|[Oo]ur) ${KNOWN}))(?: (?:for|of) ([^,]{2,40}?))? (?:is|are) ((?:the|an?|our|at|in|on) .+|\`.+|https?:.+|[\\d$€£].*|[A-Z].+|set to .+|not .+)$`,
  'u',
);

/** Verbs with one value at a time. */
const ONE =
  /^(?:lives?|works?|was born|grew up|runs?|moved|reports|is|listens|expires|starts|ends|costs|rotates|times|defaults|stands)\b/;
/** Verbs whose subject is a person: a first word with a capital is then a name. */
const OF_PEOPLE =
  /^(?:lives|works|was born|grew|moved|reports|studies|is married|is engaged|is allergic|owns|manages|leads|maintains|is in charge|is responsible|was founded|was acquired)/;
/** Roles of a person: a first word with a capital is then a name as well. */
const ROLE =
  /^(?:the|our|an?) (?:[\w-]+ ){0,2}(?:CEO|CTO|CFO|COO|VP|head|lead|owner|maintainer|manager|director|president|founder|co-founder|engineer|developer|designer|architect|analyst|contact|customer|client|supplier|vendor) (?:of|at|for|in) (?:the |our )?\p{Lu}/iu;

/** Phrases such as "in the end" or "at least" are no values. */
const NO_VALUE =
  /^(?:(?:in|at|on) (?:the end|general|fact|trouble|progress|danger|love|charge|place|question|least|best|worst|fire|time|track|hold|point|order|a|an|my|the way|top)\b|the (?:same|one|only|reason|problem|issue|case|best|worst|most|first|next|last|key|point|way|idea|thing|right|wrong|whole|other|most)\b|(?:not )?(?:an?|the) (?:\w+ )?(?:thing|one|way|issue|problem|question|example|idea|lot|bit|must)\b)/i;

const OF_PLACE = /^(?:lives?|moved|was born|grew|is based|is located)\b/;
const OF_EMPLOYER = /^works? (?:for|at)\b/;
const OF_CHARGE = /^(?:owns|manages|leads|maintains|supports)\b/;

/** Refuses "moved to tears", "works for free" and "leads by example": places and charges have names. */
function fits(verb: string, value: string): boolean {
  if (OF_PLACE.test(verb)) return /^(?:[\p{Ll}'-]+ ){0,3}[\p{Lu}\d]/u.test(value);
  if (OF_EMPLOYER.test(verb)) return /^(?:(?:the|an?|our|my) |[\p{Lu}`]|\d+\p{Lu})/u.test(value);
  return !OF_CHARGE.test(verb) || /^(?:the|an?|our|all|my|[A-Z`\d])/.test(value);
}

/** The subject without its article, as a key. */
const subjectOf = (name: string): string => name.toLowerCase().replace(/^(?:the|our) /, '');

export const named: FactRule = (sentence, voice) => {
  const found = THING.exec(sentence);
  if (!found) return undefined;
  const [, name, known, verb, value] = found as unknown as (string | undefined)[];
  if (name !== undefined && !isName(name, OF_PEOPLE.test(verb!), voice)) return undefined;
  if (EVALUATIVE.test(value!) || !fits(verb!, value!)) return undefined;
  const slot = verb!.toLowerCase().replace(/^(live|work|run|use|require)(?=$| )/, '$1s');
  return noteOf(voice, 'Fact', sentence, {
    subject: subjectOf(name ?? known!),
    slot: ONE.test(slot) ? slot.replace(/ (?:in|at|near|on)$/, '') : `${slot}:${keyOf(value!)}`,
    value: value!,
    confidence: 0.75,
  });
};

const isA: FactRule = (sentence, voice) => {
  const found = IS.exec(sentence);
  if (!found) return undefined;
  const [, name, known, purpose, value] = found as unknown as (string | undefined)[];
  const named = name !== undefined && isName(name, ROLE.test(value!), voice);
  if (name !== undefined && (!named || !/^(?:the|an?|our) /i.test(value!))) return undefined;
  if (EVALUATIVE.test(value!) || NO_VALUE.test(value!) || /\bnot\b/i.test(value!)) return undefined;
  if (known !== undefined && (isEpithet(value!) || WHEREABOUTS.test(sentence))) return undefined;
  // "The build is a disaster" is an opinion.
  if (known !== undefined && !/[A-Z\d`]|\w[./]\w/.test(value!)) return undefined;
  if (name !== undefined && value!.split(' ').length < 3 && !/^(?:the|our) /i.test(value!)) return undefined;
  return noteOf(voice, 'Fact', sentence, {
    subject: subjectOf(name ?? known!),
    slot: `is${purpose === undefined ? '' : `:${keyOf(purpose)}`}${name !== undefined && /^an? /i.test(value!) ? ':kind' : ''}`,
    value: value!,
    confidence: 0.75,
  });
};

const GOTCHA = new RegExp(
  `^((?:[Tt]he|[Oo]ur) (?:[\\w./-]+ ){0,4}[\\w./-]+|${PROPER}|${CODE_NAME}|(?:GET|POST|PUT|PATCH|DELETE) \\S+) (returns?|responds? with|answers? with|throws?|fails? with|crashes with|raises?) ((?:an? |the )?(?:HTTP )?(?:[1-5]\\d\\d\\b|[A-Z]\\w*(?:Error|Exception)\\b|[A-Z][A-Z_]{3,}\\b|null\\b|undefined\\b|an empty (?:list|array|string|object|body|response)\\b)[^,]*?)(?:,? ((?:for|when|instead of|unless|rather than|on|with|without|after|not) .+))?$`,
  'u',
);

/** Code that only readers of the conversation can identify. */
const ANY_CODE =
  /^(?:the|our) (?:\w+ )?(?:function|method|code|program|script|call|command|loop|expression|query|line|snippet)$/i;

/** Unexpected behaviour of a program. */
export const gotchas: FactRule = (sentence, voice) => {
  const found = GOTCHA.exec(sentence);
  if (!found || !standsAlone(sentence) || ANY_CODE.test(found[1]!)) return undefined;
  // An assistant speaks of programs in general, unless it names one.
  if (!voice.person && !/\bAPI\b|endpoint|service|server|[`/_]/.test(found[1]!)) return undefined;
  const [, thing, verb, value, circumstance] = found as unknown as (string | undefined)[];
  // Without a circumstance it is a momentary event: "the build returned 1".
  if (circumstance === undefined && !/ (?:for|when|instead of|on|with) /.test(value!)) return undefined;
  const [what, ...rest] = value!.split(/ (?=for |when |instead of |on |with )/);
  const when = [...rest, circumstance]
    .join(' ')
    .replace(/,? (?:not|instead of|rather than) \S+/g, '')
    .replace(/^(?:instead of|rather than) \S+/, '');
  return noteOf(voice, 'Gotcha', sentence, {
    subject: subjectOf(thing!),
    slot: `${verb!.toLowerCase().replace(/s?( with)?$/, '')}:${keyOf(when)}`,
    value: what!,
  });
};

const CAUSE = /^the root cause(?: of (.+?))? (?:was|is|turned out to be) (.+)$/i;

const UNKNOWN_CAUSE = /\b(?:unknown|unclear|not known|being investigated|always|never|usually|often)\b/i;

export const rootCauses: FactRule = (sentence, voice) => {
  const [, effect, value] = (CAUSE.exec(sentence) ?? []) as (string | undefined)[];
  if (value === undefined || !standsAlone(sentence)) return undefined;
  if (value.split(' ').length < 3 || UNKNOWN_CAUSE.test(value)) return undefined;
  return noteOf(voice, 'Insight', sentence, {
    subject: keyOf(effect ?? '') || 'root cause',
    slot: effect === undefined ? `root cause:${keyOf(value)}` : 'root cause',
    value,
    confidence: 0.8,
  });
};

/** Only of people: general knowledge of an assistant need not be remembered. */
export const thingFacts: FactRule = (sentence, voice) => {
  if (!voice.person || !standsAlone(sentence)) return undefined;
  return named(sentence, voice) ?? isA(sentence, voice);
};
