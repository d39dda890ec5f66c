/** Whom "he", "she", "his" and "her" at the start of a sentence mean, where just one person was named before. */
import { possessive } from '../../../text/index.js';

/** Characters of each text before that are read. */
const MAX_READ = 400;
/** Sentences of the same turn, and of the turn before, that are read. */
const OWN_BACK = 6;
const PREVIOUS_BACK = 12;

const NAME_WORD = "\\p{Lu}[\\p{L}\\p{M}]*(?:['’-]\\p{L}{2,})*";
const TITLE = '(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Father|Sister|Uncle|Aunt|Auntie|Herr|Frau|Pastor|Rabbi|Captain)';
const NAME = `(?:${TITLE}\\.? )?${NAME_WORD}(?: (?:(?:de|van|von|der|den|la|le|di|da|del|el|al|bin|ter) )*${NAME_WORD}){0,2}`;

const MALE =
  'husband|father|dad|daddy|papa|son|brother|uncle|nephew|grandfather|grandpa|grandad|granddad|boyfriend|stepfather|stepson|father-in-law|brother-in-law|son-in-law|landlord|man|guy|boy|gentleman|groom|waiter|actor|monk';
const FEMALE =
  'wife|mother|mum|mom|mummy|mama|daughter|sister|aunt|auntie|niece|grandmother|grandma|gran|granny|girlfriend|stepmother|stepdaughter|mother-in-law|sister-in-law|daughter-in-law|landlady|woman|lady|girl|bride|waitress|actress|nun|midwife';
const ANYONE =
  'partner|fianc[eé]e?|kid|child|baby|toddler|twin|cousin|friend|colleague|coworker|co-worker|boss|manager|director|supervisor|assistant|secretary|intern|trainee|mentor|coach|trainer|teacher|tutor|professor|lecturer|student|pupil|classmate|doctor|dentist|vet|nurse|therapist|physio|surgeon|midwife|pharmacist|lawyer|solicitor|notary|accountant|banker|agent|broker|tenant|lodger|neighbou?r|caretaker|janitor|concierge|porter|cleaner|gardener|plumber|electrician|carpenter|joiner|roofer|painter|tiler|builder|mechanic|contractor|architect|engineer|developer|designer|editor|photographer|caterer|baker|chef|cook|florist|hairdresser|tailor|driver|pilot|conductor|pianist|organist|singer|drummer|guitarist|violinist|musician|dj|priest|vicar|verger|sexton|sacristan|pastor|organi[sz]er|treasurer|chair|president|chairman|chairwoman|ceo|cto|cfo|founder|owner|seller|buyer|client|customer|guest|patient|visitor|sitter|babysitter|nanny|walker|carer|volunteer|helper|contact|receptionist|clerk|officer|inspector|technician|installer|courier|postman|mayor|dog|puppy|cat|kitten|parrot|budgie|horse|pony|rabbit|hamster|person|somebody|someone|assessor|consultant|supplier|vendor|guide|instructor|captain|roommate|flatmate|housemate';
const ROLE = `(?:${MALE}|${FEMALE}|${ANYONE})`;
const PERSON_VERB =
  "(?:is|was|has|will|can|can['’]t|would|had|does|did|says|said|told|tells|thinks|wants|wanted|needs|knows|lives|lived|works|worked|likes|loves|hates|prefers|plays|teaches|calls|called|asked|asks|drives|helps|helped|brings|brought|takes|took|makes|made|comes|came|goes|went|gets|got|gave|gives|runs|leads|manages|handles|organi[sz]es|owns|pays|paid|sells|sold|books|booked|starts|started|moved|left|retired|married|joined|wrote|sent|speaks|writes|cooks|sings|conducts|walks|signs|signed|approves|reviews|agreed|refuses|insists|recommended|suggested|mentioned|looks|swapped|texted|phoned|rang|just|also|always|never|only|still|already|and (?:I|me|his|her))";

interface Person {
  readonly name: string;
  readonly gender: 'male' | 'female' | undefined;
}

const OF_MEN = new RegExp(`^(?:${MALE}|Mr|Sir|Father|Uncle|Herr)$`, 'i');
const OF_WOMEN = new RegExp(`^(?:${FEMALE}|Mrs|Ms|Miss|Sister|Aunt|Auntie|Frau)$`, 'i');

const genderOf = (role: string): Person['gender'] => {
  if (OF_MEN.test(role)) return 'male';
  return OF_WOMEN.test(role) ? 'female' : undefined;
};

const TITLED = new RegExp(`(?<![\\p{L}])(?<role>${TITLE})\\.? ${NAME_WORD}(?: ${NAME_WORD})?`, 'gu');
/** "My brother Tobias", "the caretaker, Mr. Sobotka", "our contact there is Delphine". */
const ROLE_THEN_NAME = new RegExp(
  `(?<![\\p{L}-])(?<role>${ROLE}),?(?: (?:there|here|now|is|was|called|named|will be)){0,3}:? (?<name>${NAME})`,
  'gu',
);
/** "Jonas, my colleague", "Leila the designer". */
const NAME_THEN_ROLE = new RegExp(
  `(?<![\\p{L}])(?<name>${NAME}),? (?:(?:is|was|['’]s) )?(?:my|our|your|the|his|her|a|an) (?:[\\p{L}-]+ ){0,2}?(?<role>${ROLE})(?![\\p{L}])`,
  'gu',
);
const NAME_THEN_VERB = new RegExp(
  `(?<![\\p{L}] |[\\p{L}'’-])(?<name>${NAME})(?:['’]s)? ${PERSON_VERB}(?![\\p{L}])|(?<=(?:and|but|so|because|that|then|when|if) )(?<later>${NAME}) ${PERSON_VERB}(?![\\p{L}])`,
  'gu',
);
/** Any verb: "Jonas packs the boxes". */
const NAME_THEN_ACTION = new RegExp(
  `(?<=^|[.!?;] )(?<name>${NAME_WORD}(?: ${NAME_WORD})?) \\p{Ll}{3,}(?:s|ed)(?= (?:the|an?|my|our|your|all|us|me|it|up|out|in|on|to|for|with|from|at|by|\\d|\\p{Lu}))`,
  'gu',
);
const OWNER = new RegExp(`(?<![\\p{L}])(?<name>${NAME_WORD})['’](?:s )?(?=\\p{Ll})`, 'gu');
/** Names with nothing that tells what they are of. */
const ANY_NAME = new RegExp(`(?<![\\p{L}\\d])${NAME}`, 'gu');
/** A person without a name: "the next tenant". */
const UNNAMED = new RegExp(
  `(?<![\\p{L}])(?<phrase>(?:[Mm]y|[Oo]ur|[Tt]he|[Yy]our|[Hh]is|[Hh]er|[Aa]n?|[Ss]ome|[Aa]nother) (?:[\\p{Ll}-]+ ){0,2}?(?<role>${ROLE}))(?![\\p{L}-])`,
  'gu',
);

const LEADING_TITLE = new RegExp(`^${TITLE}\\.? `, 'u');
const NAME_AFTER = new RegExp(`^,?(?: (?:there|here|now|is|was|called|named|will be)){0,3}:? ${NAME}`, 'u');
const NAME_BEFORE = new RegExp(`${NAME},? (?:(?:is|was|['’]s) )?$`, 'u');
const MAX_NAME = 60;

/** Capitalised words that are no people. */
const NO_PERSON =
  /^(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|September|October|November|December|Christmas|Easter|I|Ok(?:ay)?|Yes|No|Hi|Hello|The|A|An|And|But|So|Or|My|Our|Your|His|Her|Their|We|He|She|It|They|You|This|That|These|Those|There|Then|What|Who|When|Where|Which|Why|How|If|In|On|At|By|For|From|To|With|Good|Great|Perfect|Thanks|Thank|Sure|Noted|Please|Also|Only|Just|Not|Now|Well|Right|Anyway|Actually|Sorry|Wait|English|German|French|Dutch|Spanish|Italian|Polish|Danish|Let|Do|Does|Is|Are|Should|Shall|Can|Could|Would|Have|Has|Any|All|Both|Every|One|Two|Three|Maybe|First|Last|Next|Once|Because|Nice|Lovely|Fine|Done|Understood|Welcome|Got|Oh|Ah|Hm+|Happy|Since|After|Before|While|Until)$/u;
const PLACE =
  /(?:Street|Road|Lane|Avenue|Square|Park|Hall|Church|School|Hotel|Café|Cafe|House|Station|Hospital|Clinic|Bank|Ltd|Inc|GmbH|Group|Rescue|Club|strasse|straße|weg|platz|gasse|University|College|Library|Museum|Centre|Center)$/u;
/** Spoken to or of: a person. */
const ADDRESSED =
  /(?<![\p{L}])(?:talk(?:ed|ing)?|spoke|speak|wrote|write|said|sent|gave|give|listen(?:ed)?|met|meet|saw|know|knows|phone[ds]?|text(?:ed)?|mail(?:ed)?|e?-?mailed|call(?:ed)?|ask(?:ed|s)?|told|tell|contact(?:ed)?|thank(?:s|ed)?|invite[ds]?|hired?|married|trust)(?: (?:to|with))? $/iu;
/** Of several that are named so, nobody knows which is meant. */
const BESIDE = /(?<![\p{L}])(?:with|for|by|than|like|without|and|or) $/iu;
/** Most often places. */
const LOCATED =
  /(?<![\p{L}])(?:in|at|near|to|into|from|via|towards|around|outside|inside|through|of|on|over|behind|using|called the)(?: the)? $/iu;
const COORDINATED = /^(?:,|\s|and|or|&)+$/i;

const isName = (name: string): boolean => {
  const words = name.replace(/['’]s?$/, '').split(' ');
  return !words.some((word) => NO_PERSON.test(word)) && !PLACE.test(words.at(-1)!) && !/^\p{Lu}+$/u.test(words[0]!);
};

const NAMING = [TITLED, ROLE_THEN_NAME, NAME_THEN_ROLE, NAME_THEN_VERB, NAME_THEN_ACTION, OWNER];

interface Mentioned {
  readonly name: string;
  readonly role: string | undefined;
}

/** Whom one text mentions. */
interface Mentions {
  readonly named: readonly Mentioned[];
  /** Names with nothing that tells what they are of. */
  readonly weak: readonly string[];
  /** Names of those who may be meant as well. */
  readonly beside: readonly string[];
  readonly unnamed: readonly Mentioned[];
}

function mentionsOf(text: string): Mentions {
  const named: Mentioned[] = [];
  for (const form of NAMING)
    for (const { 0: whole, groups } of text.matchAll(form)) {
      const name = groups?.name ?? groups?.later ?? whole;
      if (/^\p{Lu}/u.test(name)) named.push({ name, role: groups?.role });
    }
  const kinds = { addressed: [] as string[], weak: [] as string[], beside: [] as string[], located: [] as string[] };
  let last: { readonly end: number; readonly kind: keyof typeof kinds } | undefined;
  for (const { 0: name, index } of text.matchAll(ANY_NAME)) {
    if (!isName(name)) continue;
    const before = text.slice(Math.max(0, index - MAX_NAME), index);
    // "In Kiel and Hamburg": of one kind.
    const like = last && COORDINATED.test(text.slice(last.end, index)) ? last.kind : undefined;
    const kind = like ?? kindOf(before);
    kinds[kind].push(name);
    last = { end: index + name.length, kind };
  }
  const unnamed: Mentioned[] = [];
  for (const { groups, index, 0: whole } of text.matchAll(UNNAMED)) {
    const after = text.slice(index + whole.length);
    // In apposition to a name it is no other person.
    if (!NAME_AFTER.test(after) && !NAME_BEFORE.test(text.slice(Math.max(0, index - MAX_NAME), index)))
      unnamed.push({ name: groups!.phrase!, role: groups!.role });
  }
  const { addressed } = kinds;
  return { named, weak: [...kinds.weak, ...addressed], beside: [...kinds.beside, ...addressed], unnamed };
}

function kindOf(before: string): 'addressed' | 'weak' | 'beside' | 'located' {
  if (ADDRESSED.test(before)) return 'addressed';
  if (BESIDE.test(before)) return 'beside';
  return LOCATED.test(before) ? 'located' : 'weak';
}

/** The people whom some texts name, or whom they mention without a name. */
function peopleIn(mentions: readonly Mentions[]): Person[] {
  const people: Person[] = [];
  for (const { name, role } of mentions.flatMap(({ named }) => named)) addPerson(people, name, role);
  const known = people.length > 0;
  // Beside one who is known to be a person, only those who are spoken to or of count.
  for (const { weak, beside } of mentions)
    for (const name of known ? beside : [...weak, ...(weak.length > 0 ? beside : [])])
      addPerson(people, name, undefined);
  for (const { name, role } of mentions.flatMap(({ unnamed }) => unnamed))
    if (!people.some((one) => one.name.toLowerCase() === name.toLowerCase()))
      people.push({ name, gender: genderOf(role!) });
  return people;
}

function addPerson(people: Person[], name: string, role: string | undefined): void {
  const words = name.replace(/['’]s?$/, '').split(' ');
  // "Is Delphine": a capital at the start of the sentence.
  while (words.length > 1 && NO_PERSON.test(words[0]!)) words.shift();
  const plain = words.join(' ');
  if (!isName(plain.replace(LEADING_TITLE, ''))) return;
  const known = people.findIndex((one) => isSame(one.name, plain));
  const gender = role === undefined ? undefined : genderOf(role);
  if (known < 0) people.push({ name: plain, gender });
  else if (people[known]!.gender === undefined) people[known] = { ...people[known]!, gender };
}

/** "Jonas" and "Jonas Weber" are one. */
const isSame = (one: string, other: string): boolean => {
  const [a, b] = [one.split(' '), other.split(' ')];
  return a.at(-1) === b.at(-1) || a[0] === b[0] || a.includes(other) || b.includes(one);
};

const PRONOUN =
  /^(?<lead>(?:(?:and|but|also|so|ok|oh|yes|well),? )*)(?<word>he|she|his|her)(?:['’](?<short>s|ll|d))?(?= \p{L}| \d)(?!.*\b(?:himself|herself)\b)/iu;

/**
 * Puts the person in place of "he", "she", "his" or "her" at the start of a sentence, if the sentences of the same turn before
 * it mention exactly one, or they none and the turn before exactly one; otherwise the sentence is as it was.
 */
export type Referents = (sentence: string, own: readonly string[], previous: readonly string[]) => string;

/** Texts that are remembered: a sentence is read for each of those that follow it. */
const MAX_REMEMBERED = 64;

export function referents(): Referents {
  const remembered = new Map<string, Mentions>();
  const mentionsIn = (text: string): Mentions => {
    const known = remembered.get(text) ?? mentionsOf(text.slice(-MAX_READ));
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(text, known);
    return known;
  };
  return (sentence, own, previous) => {
    const found = PRONOUN.exec(sentence);
    if (!found) return sentence;
    const { lead = '', word = '', short } = found.groups!;
    const male = /^(?:he|his)$/i.test(word);
    const fits = ({ gender }: Person): boolean => gender === undefined || gender === (male ? 'male' : 'female');
    const near = peopleIn(own.slice(-OWN_BACK).map(mentionsIn));
    const far = near.length > 0 ? [] : peopleIn(previous.slice(-PREVIOUS_BACK).map(mentionsIn));
    const [only, ...others] = [...near, ...far].filter(fits);
    if (only === undefined || others.length > 0 || INDEFINITE.test(only.name)) return sentence;
    const rest = sentence.slice(found[0].length);
    const name = lead === '' ? only.name.replace(/^(?:my|our|the) /, capitalised) : only.name;
    const rendered = /^(?:his|her)$/i.test(word) ? possessive(name) : `${name}${uncontracted(short, rest)}`;
    return `${lead}${rendered}${rest}`;
  };
}

/** "A guy", "her boss": nobody in particular. */
const INDEFINITE = /^(?:an?|some|another|his|her|your) /i;
const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

function uncontracted(short: string | undefined, rest: string): string {
  if (short === undefined) return '';
  if (short === 'll') return ' will';
  if (short === 'd') return / (?:better|\p{L}+ed)\b/u.test(rest) ? ' had' : ' would';
  return /^ (?:(?:already|just|never|always|only) )?(?:got|been|had|done|gone|taken|given|made|\p{L}{2,}ed)\b/u.test(
    rest,
  )
    ? ' has'
    : ' is';
}
