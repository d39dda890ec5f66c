/** Extraction rules: what people say of themselves and of those near them. */
import { conjugated, inThirdPerson, possessive, subjectName } from '../../../text/index.js';
import { type FactDraft, type FactRule, keyOf, noteOf, speakerKey } from './drafts.js';
import { EVALUATIVE, firstClause, firstHalf, isEpithet, standsAlone } from './sentences.js';
import { PASSING, preferences } from './tastes.js';

const FAVOURITE = /^my (?:all-time )?((?:favou?rite|preferred) .{2,40}?) (?:is|are|has always been) (.+)$/i;

const favourites: FactRule = (sentence, voice) => {
  const found = FAVOURITE.exec(sentence);
  if (!found || PASSING.test(found[2]!) || EVALUATIVE.test(found[2]!)) return undefined;
  const [, kind, all] = found as unknown as [string, string, string];
  const value = firstClause(all);
  if (keyOf(value) === '' || / (?:ones?|things?|parts?|way|memory|moments?)$/i.test(kind)) return undefined;
  return noteOf(voice, 'Preference', `${possessive(subjectName(voice.name))} ${kind} is ${inThirdPerson(value)}`, {
    slot: `is:${keyOf(kind.replace(/^favou?rite/i, 'favorite'))}`,
    value,
    confidence: 0.9,
  });
};

const RELATIVES =
  'wife|husband|partner|fianc[eé]e?|girlfriend|boyfriend|son|daughter|brother|sister|mother|father|mom|mum|dad|grandmother|grandfather|grandma|grandpa|aunt|uncle|cousin|niece|nephew|roommate|flatmate|boss|manager|mentor|coach|doctor|dentist|therapist|lawyer|accountant|landlord|neighbou?r|dog|cat|puppy|kitten|horse|parrot|rabbit|best friend|kids|children|parents|sons|daughters|twins';
const ATTRIBUTES =
  '(?:first |last |full |middle |maiden )?name|nickname|birthday|birth date|date of birth|anniversary|e-?mail(?: address)?|(?:home |work |postal )?address|phone(?: number)?|mobile(?: number)?|number|job(?: title)?|title|occupation|role|employer|company|team|department|hometown|home town|city|country|time ?zone|nationality|native language|mother tongue|age|height|weight|blood type|shoe size|username|user name|handle|github(?: handle| username)?|budget|deadline|goal|school|university|major|degree|laptop|car|bike|editor|ide|operating system|os|shell|diet|hobby|hobbies|star sign|zodiac sign|passport number|flight(?: number)?|gate|hotel|room number|seat|desk';
const MY = new RegExp(
  `^my (${ATTRIBUTES}|(?:older |younger |eldest |youngest |twin |late |ex-)?(?:${RELATIVES})(?:'s (?:${ATTRIBUTES}))?) (is|are|was|is called|is named|'s) (.+)$`,
  'i',
);
const IS_RELATIVE = new RegExp(`(?:${RELATIVES})$`, 'i');

const JOBS =
  '(?:[\\w-]+ ){0,3}(?:engineer|developer|programmer|designer|manager|director|architect|analyst|scientist|researcher|teacher|professor|lecturer|student|doctor|physician|surgeon|nurse|dentist|pharmacist|lawyer|attorney|accountant|writer|author|editor|journalist|artist|painter|musician|singer|photographer|chef|cook|baker|farmer|pilot|driver|electrician|plumber|carpenter|mechanic|consultant|founder|co-founder|ceo|cto|cfo|administrator|librarian|counsel+or|therapist|psychologist|biologist|chemist|physicist|mathematician|economist|translator|interpreter|actor|actress|dancer|barista|bartender|freelancer|veterinarian|vet|firefighter|paramedic|contractor|vegetarian|vegan|pescatarian)';
const A_JOB = new RegExp(`^an? ${JOBS}\\b`, 'i');

/** A name, number, address or unique thing: not a state of today, nor "a clown". */
const isSolid = (value: string): boolean =>
  /^(?:(?:at|in|on|called|named|from|about|around|the|a|an|mr|mrs|ms|dr)\.? )?(?:[A-Z`"#@$€£0-9~+]|https?:|\S+@\S+\.\S+)/.test(
    value,
  ) ||
  A_JOB.test(value) ||
  (/^(?:an? .*[A-Z\d]|the [a-z])/.test(value) && !EVALUATIVE.test(value));

const attributes: FactRule = (sentence, voice) => {
  const found = MY.exec(firstClause(sentence));
  if (!found) return undefined;
  const [, what, verb, value] = found as unknown as [string, string, string, string];
  if (IS_RELATIVE.test(what) && isEpithet(value)) return undefined;
  const solid = isSolid(value) || (/^goal$/i.test(what) && /^to [a-z]/.test(value));
  if (value.split(' ').length > 12 || !solid) return undefined;
  // "My car is the one over there"; "my team is at lunch".
  if (/\b(?:one|ones|over there|lunch|dinner|break|moment)\b/i.test(value)) return undefined;
  const is = verb === "'s" ? 'is' : verb.toLowerCase();
  return noteOf(voice, 'Fact', `${possessive(subjectName(voice.name))} ${what} ${is} ${inThirdPerson(value)}`, {
    type: IS_RELATIVE.test(what) ? 'Relationship' : 'Fact',
    slot: `is:${keyOf(what)}${IS_RELATIVE.test(what) && /^an? /i.test(value) ? ':kind' : ''}`,
    value,
    confidence: 0.9,
  });
};

/** What follows the subject, in the first person. */
const LIFE: readonly (readonly [form: RegExp, slot: string])[] = [
  [/^(?:currently |now )?live (?:in|at|near) (.+)$/i, 'lives'],
  [/^(?:was|were) born (?:in|on|at) (.+)$/i, 'born'],
  [/^moved (?:back )?to (.+)$/i, 'lives'],
  [/^grew up in (.+)$/i, 'grew up'],
  [/^(?:am )?(?:originally )?from (.+)$/i, 'from'],
  [/^(?:currently |now )?work (?:at|for) (.+)$/i, 'works'],
  [/^(?:currently |now )?work as (an? .+)$/i, 'occupation'],
  [/^am (?:an? )?(vegan|vegetarian|pescatarian|diabetic)$/i, 'state'],
  [new RegExp(`^am (an? ${JOBS}(?: (?:at|for|in|by|from) .+)?)$`, 'i'), 'occupation'],
  [/^am (allergic to .+)$/i, 'allergic'],
  [
    /^am ((?:vegan|vegetarian|pescatarian|diabetic|celiac|lactose[- ]intolerant|left-handed|right-handed|colou?r[- ]?blind|dyslexic|married|divorced|retired)(?: to .+)?)$/i,
    'state',
  ],
  [/^am (\d{1,3})(?: years old)?$/i, 'age'],
  [/^speak ((?:fluent |native |some |basic )?[A-Z].+)$/, 'speaks'],
  [/^(?:graduated from|studied at|study at) (.+)$/i, 'studied'],
  [/^report to (.+)$/i, 'reports to'],
  [/^use ([A-Z`].+)$/, 'uses'],
  [/^drive (an? .+)$/i, 'drives'],
  [
    /^play ((?:the )?(?:guitar|piano|violin|cello|viola|flute|drums|bass|saxophone|trumpet|clarinet|harp|organ|ukulele|chess|tennis|football|soccer|basketball|baseball|volleyball|badminton|golf|hockey|rugby|cricket|squash|table tennis)(?: .+)?)$/i,
    'plays',
  ],
  [
    /^(?:have|own|have got) ((?:an?|one|two|three|four|five|six|\d{1,2}) (?:[\w-]+ ){0,2}(?:kids?|children|sons?|daughters?|brothers?|sisters?|siblings?|dogs?|cats?|pets?|horses?|rabbits?|parrots?|puppy|puppies|kittens?|grandchildren|twins)(?: (?:named|called|and) .+)?)$/i,
    'has',
  ],
];

/** Slots whose value must be a name, a number or the like. */
const SOLID = new Set(['lives', 'born', 'grew up', 'from', 'works', 'age', 'studied', 'reports to', 'drives']);
/** Slots with many values: one more contradicts nothing. */
const MANY = new Set(['allergic', 'speaks', 'studied', 'has', 'state', 'uses', 'plays']);

export const lives: FactRule = (all, voice) => {
  const sentence = firstHalf(firstClause(all));
  if (!/^i(?:'m|'ve)? ./i.test(sentence)) return undefined;
  const said = sentence
    .replace(/^i(?:'m| am) /i, 'am ')
    .replace(/^i've /i, 'have ')
    .replace(/^i /i, '');
  const life = lifeOf(said);
  if (!life) return undefined;
  const [verb, ...rest] = said.split(' ');
  const past = /^(?:was|were|grew|graduated|studied|moved)$/i.test(verb!);
  const adverb = /^(?:currently|now)$/i.test(verb!);
  const does = past ? verb : adverb ? `${verb} ${conjugated(rest.shift()!)}` : conjugated(verb!);
  return noteOf(voice, 'Fact', `${subjectName(voice.name)} ${does} ${inThirdPerson(rest.join(' '))}`, life);
};

/** "My son Leo plays", "my wife Ana and I": a word with a capital before a verb. */
const NAMED_RELATIVE = new RegExp(
  `^[Mm]y ((?:older |younger |eldest |youngest |twin )?(?:${RELATIVES})),? (\\p{Lu}[\\p{L}'-]+)(?:, (?=\\p{Ll})| (?=(?:and|who|just|also|always|never|really|recently|will|can|can't|won't|had|got|went|came|took|made|gave|won|lost|left|found|began|became|said|told|bought|wrote|grew|ran|met|\\p{Ll}+(?:s|ed|n't))\\b))`,
  'u',
);
/** "My wife Says hello": a verb may have a capital as well. */
const NO_RELATIVE =
  /^(?:say|love|like|hate|want|need|think|know|work|live|play|make|goe|come|take|get|see|tell|ask|prefer|enjoy|speak|studie|run|drive|eat|drink|write|read|doe|feel|call|send|keep|give|help|hope|look|find|use|believe|use)s$|^(?:Is|Was|Has|Had|Will|Can|Said|Told|Just|Also|Always|Never|And|Who|Did|Does)$/i;

/** A name mentioned in passing, whatever else is said. */
const namedRelatives: FactRule = (sentence, voice) => {
  const found = NAMED_RELATIVE.exec(sentence);
  if (!found || NO_RELATIVE.test(found[2]!)) return undefined;
  const [, who, value] = found as unknown as [string, string, string];
  return noteOf(voice, 'Relationship', `${possessive(subjectName(voice.name))} ${who} is called ${value}`, {
    slot: `is:${keyOf(who)}:${value.toLowerCase()}`,
    value,
  });
};

/** "Call me Monday", "call me Back" say when or how. */
const NO_NICKNAME =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|today|tomorrow|tonight|now|soon|sooner|later|maybe|back|again|anytime|whenever|when|if|once|first|before|after|asap|a\.s\.a\.p\.?|right|early|late|immediately|directly|instead|please|at|on|in|by|from|this|next|every|any|up|out|over|morning|noon|afternoon|evening|names)\b/i;
const CALLED = /^(?:please )?(?:just )?call me ((?:\p{Lu}[\p{L}.'-]*)(?: \p{Lu}[\p{L}.'-]*)?)(?: instead of .+)?$/u;

/** "Call me Max". */
const called: FactRule = (sentence, voice) => {
  const name = CALLED.exec(sentence.replace(/^\p{Lu}/u, (letter) => letter.toLowerCase()))?.[1];
  if (name === undefined || NO_NICKNAME.test(name) || EVALUATIVE.test(name)) return undefined;
  const content = `${subjectName(voice.name)} wants to be called ${name}`;
  return noteOf(voice, 'Preference', content, { slot: 'called', value: name });
};

const RELATIVE_LIFE = new RegExp(
  `^my ((?:older |younger |eldest |youngest |twin )?(?:${RELATIVES})) ((?:currently |now )?(?:lives|works|was|grew|is|graduated|studies|studied|speaks|has) .+)$`,
  'i',
);

export const relatives: FactRule = (sentence, voice) => {
  const found = RELATIVE_LIFE.exec(firstClause(sentence));
  if (!found) return undefined;
  const [, who, said] = found as unknown as [string, string, string];
  const first = said
    .replace(/\blives\b/i, 'live')
    .replace(/\bworks\b/i, 'work')
    .replace(/\bspeaks\b/i, 'speak')
    .replace(/\bstudies\b/i, 'study')
    .replace(/^has\b/i, 'have')
    .replace(/^is\b/i, 'am');
  const life = lifeOf(first);
  if (!life) return undefined;
  const subject = `${speakerKey(voice)}'s ${who.toLowerCase()}`;
  const name = `${possessive(subjectName(voice.name))} ${who}`;
  return noteOf(voice, 'Fact', `${name} ${inThirdPerson(said)}`, { ...life, subject });
};

/** A name or a number among the first words. */
const NAMES_SOMETHING = /^(?:[\p{Ll}'-]+ ){0,4}[\p{Lu}\d]/u;

function lifeOf(said: string): Pick<FactDraft, 'slot' | 'value' | 'confidence'> | undefined {
  for (const [form, slot] of LIFE) {
    const value = form.exec(said)?.[1];
    if (value === undefined) continue;
    if (SOLID.has(slot) && !NAMES_SOMETHING.test(value)) return undefined;
    if (slot === 'occupation' && EVALUATIVE.test(value)) return undefined;
    return { slot: MANY.has(slot) ? `${slot}:${keyOf(value)}` : slot, value, confidence: 0.9 };
  }
  return undefined;
}

const RULES: readonly FactRule[] = [favourites, attributes, preferences, lives, relatives, namedRelatives];

export const personalFacts: FactRule = (sentence, voice) => {
  if (!voice.person || !standsAlone(sentence)) return undefined;
  if (!/^(?:i|my)\b/i.test(sentence)) return called(sentence, voice);
  for (const rule of RULES) {
    const found = rule(sentence, voice);
    if (found) return found;
  }
  return undefined;
};
