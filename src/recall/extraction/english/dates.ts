/** Rules of extraction: what happens or happened on a certain day. */
import {
  conjugated,
  dayMeant,
  type NamedDay,
  namedDay,
  ofSpeaker,
  possessive,
  subjectName,
  tenseOfDeed,
  tenseOfEvent,
} from '../../../text/index.js';
import { type FactRule, keyOf, sentenceOf, speakerKey, type Voice } from './drafts.js';
import { EVALUATIVE, firstClause, standsAlone } from './sentences.js';

const SUBJECT =
  /^(?:(I|i|We|we)|([A-Z][\p{Ll}]+(?: [A-Z][\p{Ll}]+)?)|[Mm]y [\w-]+(?: (?!is\b|has\b)[\w-]+)?)(?=['\s])/u;
const PAST =
  /^(?: have| has|'ve|'s)? (?:just |finally |both |all |also |recently )?(?:went|ran|took|bought|met|saw|made|gave|won|lost|began|left|flew|drove|wrote|sold|built|broke|found|taught|caught|swam|rode|spoke|became|quit|got (?:married|engaged|divorced|promoted|hired|laid off)|[a-z]{3,}ed)\b/;
/** Of a doing, or of an appointment; "I'm fine on Monday" is neither. */
const COMING =
  /^(?:'m|'re|'s|'ll|'ve| am| are| is| will| have| has)?(?: got| going to| also| be)? (?:an? [\p{L} '-]{0,40}?(?:appointment|meeting|interview|exam|flight|surgery|reservation|call|concert|wedding|party|conference|trip|presentation|demo|deadline|checkup|check-up|class|game|match|race|shift|review|lesson)|fly|flying|leave|leaving|launch|launching|ship|shipping|release|releasing|start|starting|move|moving|travel|travelling|traveling|visit|visiting|meet|meeting|present|presenting|arrive|arriving|return|returning|deploy|deploying|graduate|graduating|defend|defending|marry|marrying|getting married|get married|starts|flies|leaves|launches|ships|arrives|returns|graduates|run|running|host|hosting)\b/u;
const IS_ON =
  /^((?:the|our|my|[A-Z][\p{L}-]+'s) (?:[\w'-]+ ){0,4}(?:deadline|meeting|appointment|launch|release|demo|interview|exam|flight|wedding|party|birthday|anniversary|conference|trip|review|standup|kickoff|kick-off|retro|presentation|surgery|concert|race|match|game|holiday|vacation|workshop|call|due date|code freeze|freeze|migration|cutover|go-live|sprint|move|graduation|ceremony|visit|training|renewal|invoice|payment|outage|submission|thesis|assignment))(?: (?:for|with|of|to) ([\p{L}\d '&.-]{2,50}?))? (?:is|was|takes place|is due|is scheduled|is planned|starts|ends|begins|started|ended|began|is set|has been moved|was moved|moved|got moved|is now)(?: (?:due|scheduled|planned|set))?(?: (?:on|for|to|at|by))? /iu;

const MAX_WORDS = 28;
/** "The call is today": which call, nobody knows the day after. */
const NEAR = /^(?:today|tonight|yesterday|tomorrow|this )/i;
const TODAY = /^(?:today|tonight|this )/i;
/** Every day has these. */
const EVERYDAY =
  /\b(?:bed|slept|sleep|woke|shower|lunch|dinner|breakfast|brunch|coffee with|nap|(?:saw|watched) (?:an?|the|some) (?:movie|film|show|episode|game|match)|groceries|laundry|dishes|traffic|tired|got (?:up|back|home|in|off|out|it|to)|had (?:a (?:great|good|nice|long|busy|rough|bad|lovely|fun|tough)|fun|to|time))\b/i;
/** These come again: no year can be told. */
const YEARLY = /\b(?:birthday|anniversary|every (?:year|month|week|day|other|\w+day))\b/i;

/** "Tomorrow I have an interview": the day may come first. */
const DAY_FIRST =
  /^((?:tomorrow|yesterday|tonight|(?:on|next|last|this) [a-z]+(?: \d{1,2})?)(?: (?:morning|afternoon|evening))?),? ((?:i|we|my|our|the)\b.+)$/i;

const dayLast = (sentence: string): string =>
  sentence.replace(DAY_FIRST, (_, day: string, said: string) => {
    return `${said} ${day.charAt(0).toLowerCase()}${day.slice(1)}`;
  });

export const datedFacts: FactRule = (all, voice) => {
  if (!voice.person) return undefined;
  const sentence = dayLast(firstClause(all));
  const isOn = IS_ON.exec(sentence);
  const past = !isOn && isTold(sentence, PAST, voice);
  if (!isOn && !past && !isTold(sentence, COMING, voice)) return undefined;
  if (EVERYDAY.test(sentence) || (!isOn && EVALUATIVE.test(sentence))) return undefined;
  if (sentence.split(' ').length > MAX_WORDS) return undefined;
  const named = dayMeant(sentence, voice.said_at, (day) => {
    if (isOn) return tenseOfEvent(sentence, day);
    return past ? tenseOfDeed(sentence, day) : 'coming';
  });
  if (!named) return undefined;
  // What was done today is mostly forgotten tomorrow, unless it has a name or a number.
  if (isOn && NEAR.test(named.words) && !keyOf(isOn[0].replace(/^(?:the|our|my) /i, '')).includes(' '))
    return undefined;
  if (past && TODAY.test(named.words) && !/ [A-Z`\d]/.test(sentence.replace(/ I\b/g, ''))) return undefined;
  const [before, after] = aroundDay(sentence, named);
  if (!standsAlone(`${before} ${after}`.trim())) return undefined;
  const yearly = YEARLY.test(sentence);
  const told = yearly ? sentence : withDay(sentence, named);
  const content = sentenceOf(ofVoice(told, voice));
  const event = isOn ? `${isOn[1]} ${isOn[2] ?? ''}` : `${before} ${after}`;
  const key = keyOf(event.replace(/^(?:i|my|the|our|we)(?:'\w+)?\b/i, ''));
  if (key === '' || (!isOn && key.split(' ').length < neededStems(event, past))) return undefined;
  return {
    kind: 'note',
    type: 'Fact',
    content,
    subject: /^(?:i|my)\b/i.test(sentence) ? speakerKey(voice) : 'we',
    slot: `date:${key}`,
    value: yearly ? named.words : named.day,
    confidence: past ? 0.75 : 0.85,
    ...(yearly ? {} : { happens_at: named.day }),
  };
};

/** Of the speaker, of us, or of somebody whose name is known. */
function isTold(sentence: string, form: RegExp, { names }: Voice): boolean {
  const subject = SUBJECT.exec(sentence);
  if (!subject || !form.test(sentence.slice(subject[0].length))) return false;
  return subject[2] === undefined || names.has(subject[2].split(' ')[0]!.toLowerCase());
}

/** "I will start tomorrow", "I started crying yesterday": with a name two are enough, of oneself else three. */
const neededStems = (event: string, past: boolean): number =>
  / got (?:married|engaged|divorced|promoted|hired|laid off)\b/.test(event)
    ? 1
    : past && /^i\b/i.test(event) && !/ [A-Z`\d]/.test(event.replace(/ I\b/g, ''))
      ? 3
      : 2;

function aroundDay(sentence: string, { index, words }: NamedDay): [before: string, after: string] {
  return [sentence.slice(0, index).trim(), sentence.slice(index + words.length).trim()];
}

/** "Next Tuesday" tells nothing a week later, so the day is put beside it. */
function withDay(sentence: string, { index, words, day }: NamedDay): string {
  if (words.includes(day.slice(0, 4))) return sentence;
  const end = index + words.length;
  return `${sentence.slice(0, end)} (${day})${sentence.slice(end)}`;
}

const IRREGULAR_START = /^(?:am|have|was|will|got|did|do)$/i;

function ofVoice(sentence: string, voice: Voice): string {
  const name = subjectName(voice.name);
  const mine = /^my (.+)$/i.exec(sentence);
  if (mine) return `${possessive(name)} ${ofSpeaker(mine[1]!)}`;
  const own = /^i(?:('m)|('ve)|('ll))? (.+)$/i.exec(sentence);
  if (!own) return sentence;
  const [, am, have, will, rest] = own as unknown as (string | undefined)[];
  if (am) return `${name} is ${ofSpeaker(rest!)}`;
  if (have) return `${name} has ${ofSpeaker(rest!)}`;
  if (will) return `${name} will ${ofSpeaker(rest!)}`;
  const [verb, ...others] = rest!.split(' ');
  const told =
    /^(?:am|have)$/i.test(verb!) || (!IRREGULAR_START.test(verb!) && isPresent(verb!)) ? conjugated(verb!) : verb!;
  return `${name} ${told} ${ofSpeaker(others.join(' '))}`;
}

const isPresent = (verb: string): boolean =>
  /^(?:fly|leave|launch|ship|release|start|move|travel|visit|meet|present|arrive|return|deploy|graduate|defend|marry|get|run|host)$/i.test(
    verb,
  );

const FULL_DATE =
  /(?<![\w.-])(?:(?:19|20)\d\d-\d\d-\d\d|\d{1,2}\.\d{1,2}\.(?:19|20)\d\d)(?![\w-])|(?:19|20)\d\d年\d{1,2}月\d{1,2}日/;
const FOREIGN = /[^\p{Script=Latin}\P{L}]/u;

/** In other languages nothing is understood but a whole date: the sentence that has one is kept as it is. */
export function foreignDate(sentence: string, person: boolean): { day: string } | undefined {
  if (!person || sentence.length > 200 || /[?？؟]$/.test(sentence) || /[{}<>=|\\]|https?:/.test(sentence))
    return undefined;
  const letters = sentence.match(/\p{L}/gu)?.length ?? 0;
  const foreign = sentence.match(new RegExp(FOREIGN, 'gu'))?.length ?? 0;
  // Most of it in another script, so that a log in English with one such name is not taken.
  if (letters < 6 || foreign * 2 < letters || !FULL_DATE.test(sentence)) return undefined;
  if (/["“”«»「」『』]/.test(sentence)) return undefined;
  const named = namedDay(sentence, undefined, 'any');
  return named && { day: named.day };
}
