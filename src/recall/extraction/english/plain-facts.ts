/** Extraction rules: plain statements about things and people, judged by the values and names that they carry. */
import { conjugated, inThirdPerson, possessive, subjectName } from '../../../text/index.js';
import { isErrand } from '../../summaries/reading/speech-acts.js';
import { type StatedValue, valuesIn } from '../../summaries/reading/values.js';
import { type FactDraft, type FactRule, keyOf, noteOf, speakerKey, type Voice } from './drafts.js';
import { isUsedAsName, PROPER } from './names.js';
import { EVALUATIVE, firstClause, isEpithet, mainClauses, standsAlone } from './sentences.js';

const MAX_WORDS = 24;
const WORD = "[\\p{L}\\p{N}][\\p{L}\\p{N}'’./-]*";
/** "The household insurance", "our wifi password", "Anna's flight", "Delphine". */
const THING = `(?<article>[Tt]he|[Oo]ur|[Mm]y) (?<thing>(?:${WORD} ){0,4}?${WORD}?[\\p{L}]s?)`;
const WHOSE = `(?<owner>${PROPER})['’]s? (?<owned>(?:[\\p{Ll}-]+ ){0,3}?[\\p{Ll}-]+)`;
const WHO = `(?<name>${PROPER})`;

const ADVERB = '(?:(?:also|always|usually|now|still|already|only|normally|officially|currently) )?';
/** Verbs that state how things are, with what follows them. */
const STATES =
  'is|are|costs?|comes? (?:to|with|on|in|from|at)|weighs?|measures?|holds?|seats?|fits?|lasts?|has|have|opens?|closes?|starts?|begins?|ends?|leaves?|arrives?|departs?|takes?|wants?|charges?|pays?|earns?|gets?|expires?|renews?|ships?|delivers?|delivery|lies|stands|sits|runs?|needs?|requires?|allows?|covers?|includes?|contains?|supports?|meets?|happens?|takes place|goes? (?:to|by|for|on|in|under)|will (?:be|cost|come|take|start|end|arrive|open|close|last)|has to|have to|must|may only|can only|is due|are due|is booked|is reserved|is set|is limited|can be (?:reached|found|booked|collected)|comes|finishes|retires|turns|moves?|returns?|serves?|plays?|teaches|brings?|drives?|rents?|owns?|keeps?|sells?|buys?';
/** Verbs that say what somebody sees to. */
const SEES_TO =
  'does|makes|handles|brings|drives|signs|pays|buys|books|cooks|bakes|conducts|plays|teaches|walks|feeds|waters|picks up|looks after|takes care of|takes over|sees to|is responsible for|is in charge of|organi[sz]es|prepares|sells|checks|reviews|approves|owns|runs|keeps|writes|edits|designs|builds|paints|repairs|fixes|cleans|collects|delivers|orders|supplies|hosts|composes|records|prints|sews|moderates|leads|coordinates|manages|fills|closes|opens|covers|joins|represents|replaces|translates|rents out|lends|provides|sponsors|helps with|audits|trains|coaches|tutors';
const OBLIGED =
  "must(?! (?:have|be|still|feel|seem|get|create|make|look)\\b)(?: not)?|has to|have to|needs(?: to)?|need(?: to)?|can(?:'t|not)|may not|may only|can only|(?:is|are)(?: not|n't) allowed|is forbidden|are forbidden|(?:does|do)(?: not|n't) (?:allow|accept|take|want|eat|drink|open|deliver|ship|cover|include|support)|allows?|accepts?|requires?|demands?|insists? on|refuses?|expects?|won't|will not";

const form = (verbs: string): readonly RegExp[] =>
  [THING, WHOSE, WHO].map((subject) => new RegExp(`^${subject} ${ADVERB}(?<verb>${verbs}) (?<rest>.+)$`, 'u'));
const STATED = form(STATES);
const OBLIGING = form(OBLIGED);
const SEEING_TO = new RegExp(
  `^(?<name>${PROPER}) ${ADVERB}(?<verb>${SEES_TO}) (?<rest>(?:the|our|all|an?|my|every|both|\\d|\\p{Lu}).+)$`,
  'u',
);
const NAMED = [
  new RegExp(
    `^${THING}(?: there| here| for [^,]{2,30}?)? (?<verb>is|are|is called|are called|is named|will be) (?<rest>(?:(?:Mr|Mrs|Ms|Dr|Prof)\\.? )?\\p{Lu}.*)$`,
    'u',
  ),
  new RegExp(`^${WHOSE} (?<verb>is|are|is called|are called|is named) (?<rest>\\p{Lu}.*)$`, 'u'),
];
const OWN =
  /^(?<who>we|i) (?:also |now |already |still |only |have to |need to |must )?(?<verb>have|pay|need|meet|own|keep|sell|rent|use|spend|earn|ordered|booked|bought|paid|sold|charge|offer|run|produce|ship|employ|host|teach|start|open|close|finish|get|rented|reserved|signed|owe|plan|expect|serve|grow) (?<rest>.+)$/iu;
const LABELLED = /^(?<label>(?:the |our |my )?\p{L}[\p{L}'’-]+(?: [\p{L}'’-]+){0,3}): (?<rest>\S.*)$/iu;

/** Subjects that only this conversation knows, or of passing interest. */
const PASSING =
  /^(?:(?:first|second|third|last|next|other|whole|only|best|worst|same|main|real|biggest|new|old|following|above|below) )*(?:results?|answers?|outputs?|functions?|pages?|code|errors?|problems?|issues?|points?|questions?|things?|parts?|reasons?|ideas?|ways?|rest|examples?|files?|buttons?|lines?|tests?|words?|days?|weather|movies?|films?|books?|songs?|story|stories|trip|morning|evening|night|user|assistant|model|screen|one|ones|numbers?|time|guy|guys|people|kids|truth|trick|goal|plan|feeling|mood|brain|head|body|back|feet|foot|hand|hands|eyes?|heart|stomach|phone|computer|flight)$/iu;
const NO_LABEL =
  /^(?:note|ps|nb|update|correction|corrections|example|question|answer|edit|todo|to do|reminder|fyi|warning|error|tip|hint|summary|result|decision|agreed|decided|resolved|problem|issue|idea|plan|remember|important|for example|my question|the question|the problem|the thing|one thing|first|second|third|also|then|step|option|context|background|input|output|code|text|title|subject|re|http|https|user|assistant)$/iu;
/** What was so for a moment. */
const MOMENTARY =
  /\b(?:today|tonight|right now|at the moment|just|yesterday|this (?:morning|afternoon|evening)|last night|ago|late|early|again|so far|minutes? (?:late|early|left))\b/i;

/** A number alone says little, but for an amount, a date, a time, a unit, a name or an identifier. */
function isSolid({ kind, key, text }: StatedValue): boolean {
  // A weekday without a date says nothing a week later; "Mondays" does.
  if (kind === 'weekday') return /s$/i.test(text);
  return /\d/.test(text) && (kind !== 'number' || key.length >= 3);
}
const IDENTIFIER =
  /\S@\S+\.\S|https?:\/\/|(?<!\p{L})(?=[\p{L}\d-]*\d)(?=[\p{L}\d-]*\p{L})[\p{L}\d]{2,}(?:-[\p{L}\d]+)*(?!\p{L})|\d[\d -]{4,}\d/u;

const solidIn = (text: string): StatedValue | undefined => valuesIn(text).find(isSolid);
const carries = (text: string): boolean =>
  solidIn(text) !== undefined || IDENTIFIER.test(text) || AT_AN_HOUR.test(text);
const AT_AN_HOUR =
  /(?:^|\s)(?:at|by|until|till|from|after|before) \d{1,2}(?![\d.,]*\d)(?!\s?(?:%|percent|[\p{Ll}]{3,}))/iu;

interface Subject {
  readonly key: string;
  /** The statement in the third person. */
  readonly content: string;
}

/** Who or what a statement is about; undefined for what is not worth keeping. */
function subjectOf(groups: Record<string, string | undefined>, sentence: string, voice: Voice): Subject | undefined {
  const { article, thing, owner, owned, name } = groups;
  if (name !== undefined) return isUsedAsName(name, voice) ? { key: name.toLowerCase(), content: sentence } : undefined;
  if (owner !== undefined)
    return isUsedAsName(owner, voice)
      ? { key: `${owner.toLowerCase()}'s ${owned!.toLowerCase()}`, content: sentence }
      : undefined;
  if (
    PASSING.test(thing!) ||
    /\b(?:of|that|which|who|and|or|with|about|to|for|in|on|at)$|\b(?:way|that|which|who)\b/i.test(thing!)
  )
    return undefined;
  if (!/^my$/i.test(article!)) return { key: thing!.toLowerCase(), content: sentence };
  const rest = sentence.slice(article!.length + 1);
  return {
    key: `${speakerKey(voice)}'s ${thing!.toLowerCase()}`,
    content: `${possessive(subjectName(voice.name))} ${inThirdPerson(rest)}`,
  };
}

function match(forms: readonly RegExp[], sentence: string): Record<string, string | undefined> | undefined {
  for (const one of forms) {
    const groups = one.exec(sentence)?.groups;
    if (groups && agreesInNumber(groups)) return groups;
  }
  return undefined;
}

/** "The growing need for help": a verb in the plural has a subject in the plural. */
const agreesInNumber = ({ thing, verb }: Record<string, string | undefined>): boolean =>
  thing === undefined || /(?:s|children|people|men|women|data)$/i.test(thing) || SINGULAR.test(verb!);
const SINGULAR = /^(?:\p{L}+s|must|may|can|can't|cannot|will|won't|(?:does|is|has)n't)(?![\p{L}'])/u;

const NO_SUBJECT =
  /^(?:absolutely|definitely|probably|certainly|obviously|clearly|honestly|usually|normally|sometimes|hopefully|please|maybe|perhaps|apparently|basically|actually|especially|unfortunately|luckily|currently|recently|otherwise|instead|still|yet|even) |^(?:let|i|we|you|they|don|do|that|it|what|here|who|he|she|can|won|isn|aren|doesn|didn|where|how|when|not|please)['’]/i;
const isLong = (sentence: string): boolean => sentence.split(' ').length > MAX_WORDS;

/** "The household insurance is 62 euros a month", "Jonas' number is 0431 55512". */
const stated: FactRule = (sentence, voice) => {
  const groups = match(STATED, sentence);
  if (!groups || MOMENTARY.test(sentence)) return undefined;
  const { verb, rest } = groups as { verb: string; rest: string };
  if (!carries(rest) || EVALUATIVE.test(rest.replace(/\b(?:must|hard|right|first|bit|lot)\b/gi, ''))) return undefined;
  const subject = subjectOf(groups, sentence, voice);
  if (!subject) return undefined;
  const is = /^(?:is|are|costs?)$/.test(verb);
  const value = solidIn(rest);
  return noteOf(voice, 'Fact', subject.content, {
    subject: subject.key,
    slot: is && value !== undefined ? `is:${value.kind}` : '',
    value: rest,
    confidence: 0.7,
  });
};

/** "The sacristan locks up at 10", "Coco stays with my aunt in Preetz". */
const done: FactRule = (sentence, voice) => {
  const groups = match(DONE, sentence);
  if (!groups || MOMENTARY.test(sentence)) return undefined;
  const { verb, rest } = groups as { verb: string; rest: string };
  if (SAYS.test(verb) || EVALUATIVE.test(rest)) return undefined;
  const somewhere =
    groups.name !== undefined && /(?:in|at|to|from|with|for|near) (?:[\p{Ll}-]+ ){0,3}\p{Lu}\p{Ll}/u.test(rest);
  if (!carries(rest) && !somewhere) return undefined;
  const subject = subjectOf(groups, sentence, voice);
  if (!subject) return undefined;
  return noteOf(voice, 'Fact', subject.content, { subject: subject.key, slot: '', value: rest, confidence: 0.65 });
};
const DONE = form('[\\p{Ll}]{3,}s(?: (?:up|out|in|off|down|over))?');
/** What somebody says, thinks or feels; likes and moves are read by other rules. */
const SAYS =
  /^(?:says|thinks|knows|feels|seems|looks|means|sounds|hopes|wishes|believes|guesses|likes|loves|hates|prefers|enjoys|works|lives|leads|moves|tells|asks|writes|smells|tastes|appears|was|has|does|is|goes|uses|always|sometimes|perhaps|as|this|its)$/i;

/** "The caretaker is Mr. Sobotka." */
const named: FactRule = (sentence, voice) => {
  const groups = match(NAMED, sentence);
  if (!groups || MOMENTARY.test(sentence)) return undefined;
  const { rest } = groups as { rest: string };
  if (EVALUATIVE.test(rest) || isEpithet(rest) || WEEKDAY.test(rest)) return undefined;
  const subject = subjectOf(groups, sentence, voice);
  if (!subject) return undefined;
  return noteOf(voice, 'Fact', subject.content, { subject: subject.key, slot: 'is', value: rest, confidence: 0.75 });
};
const WEEKDAY = /^(?:mon|tues|wednes|thurs|fri|satur|sun)day/i;

/** "Leila can't have sulphites", "the piano needs two extra people". */
const obliged: FactRule = (sentence, voice) => {
  const groups = match(OBLIGING, sentence);
  if (!groups || MOMENTARY.test(sentence)) return undefined;
  const { rest } = groups as { rest: string };
  if (keyOf(rest) === '' || EVALUATIVE.test(rest) || TRIVIAL.test(rest)) return undefined;
  const subject = subjectOf(groups, sentence, voice);
  if (!subject) return undefined;
  return noteOf(voice, 'Fact', subject.content, { subject: subject.key, slot: '', value: rest, confidence: 0.7 });
};
const TRIVIAL =
  /^(?:(?:to )?(?:be|get|see|go|come|stay|work|know|think|say|wait|stop|sleep|eat|rest|talk|decide|fix|charge|charging|fixing|cleaning|change|help|happen|end|start)(?: \w+)?|more|some|me|us|time|help|a (?:break|hug|nap|rest|change|hand)|work|love|attention|that|this)$/i;

/** "Leila does the poster." */
const seenTo: FactRule = (sentence, voice) => {
  const groups = SEEING_TO.exec(sentence)?.groups;
  if (!groups || MOMENTARY.test(sentence)) return undefined;
  const { name, rest } = groups as { name: string; rest: string };
  if (EVALUATIVE.test(rest) || keyOf(rest) === '' || !isUsedAsName(name, voice)) return undefined;
  return noteOf(voice, 'Fact', sentence, { subject: name.toLowerCase(), slot: '', value: rest, confidence: 0.7 });
};

/** "We pay 2,300 a month", "I have to bring 12 chairs". */
const own: FactRule = (sentence, voice) => {
  const groups = OWN.exec(sentence)?.groups;
  if (!groups || MOMENTARY.test(sentence)) return undefined;
  const { who, rest } = groups as { who: string; rest: string };
  if (!carries(rest) || EVALUATIVE.test(rest)) return undefined;
  const [, verb, ...others] = sentence.split(' ') as [string, string, ...string[]];
  const content = /^we$/i.test(who)
    ? sentence
    : `${subjectName(voice.name)} ${/ed$|^(?:bought|paid|sold|also|now|already|still|only)$/i.test(verb) ? verb : conjugated(verb)} ${inThirdPerson(others.join(' '))}`;
  if (/^i$/i.test(who) && /^(?:also|now|already|still|only)$/i.test(verb)) return undefined;
  return noteOf(voice, 'Fact', content, {
    subject: /^we$/i.test(who) ? 'we' : speakerKey(voice),
    slot: '',
    value: rest,
    confidence: 0.7,
  });
};

/** "Internet: NordKabel, customer number 7719-203." */
const labelled: FactRule = (sentence, voice) => {
  const groups = LABELLED.exec(sentence)?.groups;
  if (!groups) return undefined;
  const { label, rest } = groups as { label: string; rest: string };
  if (
    NO_LABEL.test(label) ||
    /\b(?:please|said|says)\b/i.test(label) ||
    isErrand(label) ||
    !carries(rest) ||
    EVALUATIVE.test(rest)
  )
    return undefined;
  const key = keyOf(label);
  if (key === '') return undefined;
  return noteOf(voice, 'Fact', sentence, { slot: `label:${key}`, value: rest, confidence: 0.65 });
};

/** "There's a class at the community hall on Mondays." */
const existing: FactRule = (sentence, voice) => {
  const rest = THERE_IS.exec(sentence)?.[1];
  if (rest === undefined || MOMENTARY.test(rest) || EVALUATIVE.test(rest) || !carries(rest) || !standsAlone(rest))
    return undefined;
  return noteOf(voice, 'Fact', sentence, { subject: 'there', slot: '', value: rest, confidence: 0.65 });
};
const THERE_IS = /^there(?:'s| is| are| will be) (.+)$/i;

/** "First check-up is on 19 May", "Supervisor is Prof. Okonkwo". */
const bare: FactRule = (sentence, voice) => {
  const groups = BARE.exec(sentence)?.groups;
  if (!groups || MOMENTARY.test(sentence)) return undefined;
  const { thing, rest } = groups as { thing: string; rest: string };
  if (PASSING.test(thing) || EVERYDAY.test(thing) || EVALUATIVE.test(rest)) return undefined;
  const held = OFFICE.test(thing) && /^(?:(?:Mr|Mrs|Ms|Dr|Prof|Captain)\.? )?\p{Lu}/u.test(rest) && !WEEKDAY.test(rest);
  if (!held && !solidIn(rest)) return undefined;
  return noteOf(voice, 'Fact', sentence, { subject: thing.toLowerCase(), slot: '', value: rest, confidence: 0.65 });
};
const BARE =
  /^(?!(?:The|Our|My|It|He|She|We|They|There|This|That|I)\b)(?<thing>\p{Lu}?[\p{Ll}-]+(?: [\p{Ll}-]+){0,3}?) (?:is|are|starts?|ends?|begins?|opens?|closes?|costs?|takes?|lasts?|expires?|leaves?|arrives?) (?<rest>(?:on|at|from|in|until|by|due|every|about|around|between|up to|\p{Lu}|[£$€\d]).*)$/u;
const EVERYDAY =
  /(?:^|\s)(?:dinner|lunch|breakfast|brunch|bedtime|today|tomorrow|everything|everyone|nothing|something|someone|somebody|nobody|life|christmas|easter)$/i;
/** What somebody is: "supervisor", "vet". */
const OFFICE = /(?:er|or|ist|ant|ian|chair|lead|head|contact|boss|vet|coach|nurse|deputy|host)$/i;

const RULES: readonly FactRule[] = [named, stated, obliged, seenTo, own, existing, bare, done];

const CONJUNCTION = /^(?:(?:and|but|so|also|plus|then|oh|ok|well|yes|yeah)[,:]? )+/i;

/** Of people alone, in sentences that need no other. */
export const plainFacts: FactRule = (all, voice): FactDraft | undefined => {
  if (!voice.person || isLong(all) || NO_SUBJECT.test(all)) return undefined;
  if (standsAlone(all)) {
    const found = labelled(all, voice);
    if (found) return found;
  }
  const sentence = firstClause(mainClauses(all.replace(CONJUNCTION, ''))[0]!);
  if (!standsAlone(sentence.replace(/^there(?=['\s])/i, ''))) return undefined;
  for (const rule of RULES) {
    const found = rule(sentence, voice);
    if (found) return found;
  }
  return undefined;
};
