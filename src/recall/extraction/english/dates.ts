/** Extraction rules: events on a certain day. */
import {
  conjugated,
  dayMeant,
  inThirdPerson,
  type NamedDay,
  namedDay,
  possessive,
  subjectName,
  tenseOfAction,
  tenseOfEvent,
} from '../../../text/index.js';
import { type FactRule, keyOf, noteOf, speakerKey, type Voice } from './drafts.js';
import { EVALUATIVE, firstClause, standsAlone } from './sentences.js';

const SUBJECT =
  /^(?:(I|i|We|we)|([A-Z][\p{Ll}]+(?: [A-Z][\p{Ll}]+)?)|[Mm]y [\w-]+(?: (?!is\b|has\b)[\w-]+)?)(?=['\s])/u;
const PAST =
  /^(?: have| has|'ve|'s)? (?:just |finally |both |all |also |recently )?(?:went|ran|took|bought|met|saw|made|gave|won|lost|began|left|flew|drove|wrote|sold|built|broke|found|taught|caught|swam|rode|spoke|became|quit|got (?:married|engaged|divorced|promoted|hired|laid off)|[a-z]{3,}ed)\b/;
/** A planned action or an appointment; not "I'm fine on Monday". */
const COMING =
  /^(?:'m|'re|'s|'ll|'ve| am| are| is| will| have| has)?(?: got| going to| also| be)? (?:an? [\p{L} '-]{0,40}?(?:appointment|meeting|interview|exam|flight|surgery|reservation|call|concert|wedding|party|conference|trip|presentation|demo|deadline|checkup|check-up|class|game|match|race|shift|review|lesson)|fly|flying|leave|leaving|launch|launching|ship|shipping|release|releasing|start|starting|move|moving|travel|travelling|traveling|visit|visiting|meet|meeting|present|presenting|arrive|arriving|return|returning|deploy|deploying|graduate|graduating|defend|defending|marry|marrying|getting married|get married|starts|flies|leaves|launches|ships|arrives|returns|graduates|run|running|host|hosting)\b/u;
const IS_ON =
  /^((?:the|our|my|[A-Z][\p{L}-]+'s) (?:[\w'-]+ ){0,4}(?:deadline|meeting|appointment|launch|release|demo|interview|exam|flight|wedding|party|birthday|anniversary|conference|trip|review|standup|kickoff|kick-off|retro|presentation|surgery|concert|race|match|game|holiday|vacation|workshop|call|due date|code freeze|freeze|migration|cutover|go-live|sprint|move|graduation|ceremony|visit|training|renewal|invoice|payment|outage|submission|thesis|assignment))(?: (?:for|with|of|to) ([\p{L}\d '&.-]{2,50}?))? (?:is|was|takes place|is due|is scheduled|is planned|starts|ends|begins|started|ended|began|is set|has been moved|was moved|moved|got moved|is now)(?: (?:due|scheduled|planned|set))?(?: (?:on|for|to|at|by))? /iu;

const MAX_WORDS = 28;
/** "The call is today" does not say which call. */
const NEAR = /^(?:today|tonight|yesterday|tomorrow|this )/i;
const TODAY = /^(?:today|tonight|this )/i;
/** Everyday events. */
const EVERYDAY =
  /\b(?:bed|slept|sleep|woke|shower|lunch|dinner|breakfast|brunch|coffee with|nap|(?:saw|watched) (?:an?|the|some) (?:movie|film|show|episode|game|match)|groceries|laundry|dishes|traffic|tired|got (?:up|back|home|in|off|out|it|to)|had (?:a (?:great|good|nice|long|busy|rough|bad|lovely|fun|tough)|fun|to|time))\b/i;
/** Recurring days have no year. */
const YEARLY = /\b(?:birthday|anniversary|every (?:year|month|week|day|other|\w+day))\b/i;

/** "Tomorrow I have an interview": the day may come first. */
const DAY_FIRST =
  /^((?:tomorrow|yesterday|tonight|(?:on|next|last|this) [a-z]+(?: \d{1,2})?)(?: (?:morning|afternoon|evening))?),? ((?:i|we|my|our|the)\b.+)$/i;

const dayLast = (sentence: string): string =>
  sentence.replace(DAY_FIRST, (_, day: string, rest: string) => `${rest} ${day[0]!.toLowerCase()}${day.slice(1)}`);

export const datedFacts: FactRule = (all, voice) => {
  if (!voice.person) return undefined;
  const sentence = dayLast(firstClause(all));
  const isOn = IS_ON.exec(sentence);
  const past = !isOn && hasForm(sentence, PAST, voice);
  if (!isOn && !past && !hasForm(sentence, COMING, voice)) return undefined;
  if (EVERYDAY.test(sentence) || (!isOn && EVALUATIVE.test(sentence))) return undefined;
  if (sentence.split(' ').length > MAX_WORDS) return undefined;
  const named = dayMeant(sentence, voice.said_at, (day) => {
    if (isOn) return tenseOfEvent(sentence, day);
    return past ? tenseOfAction(sentence, day) : 'coming';
  });
  if (!named) return undefined;
  // An event of today is kept only if it has a name or a number.
  if (isOn && NEAR.test(named.words) && !keyOf(isOn[0].replace(/^(?:the|our|my) /i, '')).includes(' '))
    return undefined;
  if (past && TODAY.test(named.words) && !/ [A-Z`\d]/.test(sentence.replace(/ I\b/g, ''))) return undefined;
  const end = named.index + named.words.length;
  const around = `${sentence.slice(0, named.index).trim()} ${sentence.slice(end).trim()}`;
  if (!standsAlone(around.trim())) return undefined;
  const yearly = YEARLY.test(sentence);
  const event = isOn ? `${isOn[1]} ${isOn[2] ?? ''}` : around;
  const key = keyOf(event.replace(/^(?:i|my|the|our|we)(?:'\w+)?\b/i, ''));
  if (key === '' || (!isOn && key.split(' ').length < neededStems(event, past))) return undefined;
  return noteOf(voice, 'Fact', sentenceAbout(yearly ? sentence : withDay(sentence, named), voice), {
    subject: /^(?:i|my)\b/i.test(sentence) ? speakerKey(voice) : 'we',
    slot: `date:${key}`,
    value: yearly ? named.words : named.day,
    confidence: past ? 0.75 : 0.85,
    ...(yearly ? {} : { happens_at: named.day }),
  });
};

/** Whether the speaker, "we" or a known name is the subject of a verb of this form. */
function hasForm(sentence: string, form: RegExp, { names }: Voice): boolean {
  const subject = SUBJECT.exec(sentence);
  if (!subject || !form.test(sentence.slice(subject[0].length))) return false;
  return subject[2] === undefined || names.has(subject[2].split(' ')[0]!.toLowerCase());
}

/** Stems that make an event specific; more for a past one of the speaker without a name: "I started crying yesterday". */
function neededStems(event: string, past: boolean): number {
  if (/ got (?:married|engaged|divorced|promoted|hired|laid off)\b/.test(event)) return 1;
  return past && /^i\b/i.test(event) && !/ [A-Z`\d]/.test(event.replace(/ I\b/g, '')) ? 3 : 2;
}

/** Puts the date beside "next Tuesday", which says nothing a week later. */
function withDay(sentence: string, { index, words, day }: NamedDay): string {
  if (words.includes(day.slice(0, 4))) return sentence;
  const end = index + words.length;
  return `${sentence.slice(0, end)} (${day})${sentence.slice(end)}`;
}

/** Verbs of `COMING` in the present tense. */
const PRESENT =
  /^(?:am|have|fly|leave|launch|ship|release|start|move|travel|visit|meet|present|arrive|return|deploy|graduate|defend|marry|get|run|host)$/i;

function sentenceAbout(sentence: string, voice: Voice): string {
  const name = subjectName(voice.name);
  const mine = /^my (.+)$/i.exec(sentence);
  if (mine) return `${possessive(name)} ${inThirdPerson(mine[1]!)}`;
  const own = /^i(?:('m)|('ve)|('ll))? (.+)$/i.exec(sentence);
  if (!own) return sentence;
  const [, am, have, will, rest] = own as unknown as (string | undefined)[];
  const auxiliary = am ? 'is' : have ? 'has' : will && 'will';
  if (auxiliary) return `${name} ${auxiliary} ${inThirdPerson(rest!)}`;
  const [verb, ...others] = rest!.split(' ');
  return `${name} ${PRESENT.test(verb!) ? conjugated(verb!) : verb} ${inThirdPerson(others.join(' '))}`;
}

const FULL_DATE =
  /(?<![\w.-])(?:(?:19|20)\d\d-\d\d-\d\d|\d{1,2}\.\d{1,2}\.(?:19|20)\d\d)(?![\w-])|(?:19|20)\d\d年\d{1,2}月\d{1,2}日/;
const FOREIGN = /[^\p{Script=Latin}\P{L}]/u;

/** The day of a sentence in another script, of which only a complete date is understood. */
export function foreignDay(sentence: string, person: boolean): string | undefined {
  if (!person || sentence.length > 200 || /[?？؟]$/.test(sentence) || /[{}<>=|\\]|https?:/.test(sentence))
    return undefined;
  const letters = sentence.match(/\p{L}/gu)?.length ?? 0;
  const foreign = sentence.match(new RegExp(FOREIGN, 'gu'))?.length ?? 0;
  // At least half of the letters: an English log with one foreign name does not count.
  if (letters < 6 || foreign * 2 < letters || !FULL_DATE.test(sentence)) return undefined;
  if (/["“”«»「」『』]/.test(sentence)) return undefined;
  return namedDay(sentence, undefined, 'any')?.day;
}
