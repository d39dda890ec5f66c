/** Short answers say nothing without their question: its subject goes before them. */
import { stem, stopWords, wordsOf } from '../../../text/index.js';
import { wordCount } from './clauses.js';
import { changesTopic, isClause, isFragment, SHORT_ANSWER } from './fragments.js';
import { FUNCTION_WORDS } from './function-words.js';
import { withoutTalk } from './speech-acts.js';

const MAX_SUBJECT = 5;
/** Longer questions without a verb are no questions for a value. */
const MAX_ELLIPSIS = 6;

const OPENING = '(?:(?:and|so|then|ok(?:ay)?|now|well|also|et|und|y|e|en)[, ]+)*';
/** "With how many replicas", "What's". */
const ASKS_VALUE = new RegExp(
  `^${OPENING}(?:(?:with|for|in|on|to|at|by|from|until|since|about|à|pour|mit|für|para|per|voor) )?(?:what(?: kind of| sort of)?|which|who|whom|whose|when|where|why|how(?: many| much| long| often| far| big| old)?|quel(?:le)?s?|qui|que|quoi|quand|où|combien|comment|welche[rsmn]?|was|wer|wann|wo|wie(?: viele?)?|qué|cuál(?:es)?|quién|cuándo|dónde|cuánt[oa]s?|cómo|quale|quali|chi|quando|dove|quant[ie]|come|welke?|wat|wanneer|waar|hoe(?:veel)?)(?:['’]s)?(?![\\p{L}\\p{N}])`,
  'iu',
);
/** "Do you ship abroad?": the answer may be yes or no. */
const ASKS_WHETHER = new RegExp(
  `^${OPENING}(?:(?:do|does|did|is|are|was|were|has|have|had|will|would|can|could|should|shall|may|must)(?:n['’]t)? (?=(?:you|we|i|they|he|she|it|there|that|this|these|those|the|your|our|my|his|her|their|any|an?|all|some)(?![\\p{L}'’])|\\p{Lu})|est-ce que |est-ce qu['’]|y a-t-il |(?:avez|as|êtes|es|ont|a)-(?:t-)?(?:vous|tu|ils?|elles?) |haben sie |hast du |habt ihr |gibt es |sind sie |bist du |hay |tien(?:es?|en) |avete |hai |c['’]è |ci sono |heb je |hebben jullie |is er |zijn er )`,
  'u',
);
/** "And the floor?", "What about insurance?", "Any allergies?" */
const ASKS_ABOUT = new RegExp(
  `^(?:${OPENING}(?:what|how) about |(?:and|et|und|y|e|en) (?=(?:the|your|our|my|his|her|their|for|in|on|at|with|les?|la|des|der|die|das|den|el|los|las|il|lo|i|de|het|\\p{Lu})(?![\\p{Ll}'’]))|(?:and |so |then )*any )`,
  'iu',
);
/** Verbs that ask and carry nothing: "should I put", "do you want". */
const ASKING = new Set(
  'may put use keep want need have do take see give tell prefer choose plan intend propose start call write look work use using'
    .split(' ')
    .map(stem),
);

/** `whether`: yes or no is a part of the answer. `about`: asks for anything about its subject. */
type QuestionKind = 'value' | 'whether' | 'about';
interface Question {
  readonly kind: QuestionKind;
  readonly subject: string;
  /** Whether a bare "yes" says something. */
  readonly confirms: boolean;
  /** Whether it offers or asks to do something: what is replied has nothing to do with a subject. */
  readonly offers: boolean;
}

/** What a question is about: "What severity should I put?" is about the severity; undefined if nothing is to be named. */
function questionOf(question: string): Question | undefined {
  // Of two questions, nothing tells which is answered.
  if (TWO.test(question)) return undefined;
  const plain = question.replace(CONDITION, '');
  // Before the other forms: "What about" asks for no value.
  const about = ASKS_ABOUT.exec(plain);
  if (about) return named('about', plain.slice(about[0].length));
  const value = ASKS_VALUE.exec(plain);
  // "Which plan, Basic or Pro?": the options are no part of the subject.
  if (value) return named('value', plain.slice(value[0].length).replace(/^([^,]+),.* or .*$/i, '$1'));
  const opening = plain.charAt(0).toLowerCase() + plain.slice(1);
  const whether = ASKS_WHETHER.exec(opening);
  if (whether) {
    const found = named('whether', ` ${plain.slice(whether[0].length)}`);
    return found && { ...found, confirms: !UNCLEAR.test(opening), offers: OFFERS.test(opening) };
  }
  return wordCount(plain) <= MAX_ELLIPSIS && !isClause(plain) ? named('about', plain) : undefined;
}

/** "…, in case we have to write to her?" */
const CONDITION =
  /,? (?:in case|so that|because|since we|if (?:we|you|i|they|it)|when (?:we|you|i|they)|(?:just )?to be sure|au cas où|falls|por si)(?![\p{L}]).*(?=\?)/iu;

const OFFERS =
  /^(?:(?:and|so|then|ok|well|also),? )*(?:(?:can|could|would|will|may|shall|should)(?:n['’]t)? (?:i|we|you)|(?:do|would) you (?:want|need|like) (?:me|us|to))(?![\p{L}])/iu;
/** Requests, offers, and questions about what only the speakers see: "Can you send it?", "Is that right?" */
const UNCLEAR =
  /^(?:can|could|would|will|shall|should|may|must)(?![\p{L}])|^\p{L}+(?:n['’]t)? (?:it|that|this|they|he|she|these|those|there)(?![\p{L}])|(?<![\p{L}])(?:ready|sure|there|anything|else|more|questions?|want me|like me|help|mean)(?![\p{L}])/iu;

/** "Which languages should the site support?" is about languages, namely those that the site supports. */
function named(kind: QuestionKind, asked: string): Question | undefined {
  const verb = /\s(?:is|are|was|were|do|does|did|should|shall|would|will|can|could|may|must|have|has)\s/i.exec(asked);
  const parts = verb ? [asked.slice(0, verb.index), asked.slice(verb.index)] : [asked];
  let room = MAX_SUBJECT;
  const words = parts.map((part) => {
    const content = contentOf(part).slice(0, room);
    room -= content.length;
    return content.join(' ');
  });
  const subject = words.filter((part) => part !== '').join(', ');
  return subject === '' ? undefined : { kind, subject, confirms: false, offers: false };
}

const contentOf = (text: string): string[] =>
  text
    .split(/\s+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''))
    .filter((word) => word !== '' && isContent(word));

const TWO =
  /,\s+(?:and|et|und|y|e|en)\s+(?!the\b|your\b|our\b|[\p{Ll}]+\?)|\s(?:and|et|und|y|e|en)\s+(?:what|which|who|when|where|why|how|is|are|do|does|quel\p{L}*|combien|quand|où|comment|qui|was|wer|wann|wo|wie|qué|cuánd?o?|dónde|cómo)\s/iu;
/** A French verb before its subject: "fermez-vous". */
const INVERTED = /-(?:vous|tu|il|elle|on|nous|ils|elles|je)$/i;

const isContent = (word: string): boolean => {
  const small = word.toLowerCase();
  return (
    !INVERTED.test(small) &&
    !FUNCTION_WORDS.has(small) &&
    !stopWords.has(small.replace(/['’]/g, '')) &&
    !ASKING.has(stem(small))
  );
};

const WHO = /^(?:(?:and|so|then|ok|well|also),? )*(?:who|whom|whose|qui|wer|wem|quién|chi|wie)(?:['’]s)? /i;
const WHEN =
  /^(?:(?:and|so|then|ok|well|also),? )*(?:(?:since|until|by|from) )?(?:when|what (?:time|day|date)|quand|wann|cuándo|wanneer) /i;
const HOW_MUCH =
  /^(?:(?:and|so|then|ok|well|also),? )*(?:with |for |in |at |by )?(?:how (?:many|much|old|far|big|often|long)|combien|wie ?viele?|cuánt[oa]s?|quant[ie]|hoeveel) /i;
const AMOUNT =
  /\d|(?<![\p{L}])(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|dozens?|half|halves|quarter|third|once|twice|thrice|couple|few|several|none|no|nobody|nothing|all|both|every|each|always|never|daily|weekly|monthly|yearly|hourly|most|many|much|enough|more|less|fewer|lots?|un|une|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|quinze|vingt|trente|cent|mille|aucune?|toute?s?|plusieurs|eine?r?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend|keine?|alle|viele|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|cien|mil|ningun[oa]|todos|uno|due|tre|quattro|sei|sette|otto|nove|dieci|cento|nessuno|tutti|een|twee|drie|vijf|zes|zeven|negen|tien|honderd|geen)(?![\p{L}])/iu;
/** Prices, numbers of a telephone, addresses on the net: never an answer to who or when. */
const SUM = /[£$€]\s?\d|\d\s?(?:[£$€]|euros?|dollars?|pounds?)|\d[\d -]{6,}\d|\S@\S|https?:|\bwww\./i;
/** Begins with a number: never an answer to who. */
const NUMBERED = /^[£$€]?\s?\d/;

/** The question that the first answer to several in a row is given to; undefined if nothing tells. */
export function askedIn(questions: readonly string[]): string | undefined {
  const asking = questions.filter((one) => TWO.test(one) || questionOf(one) !== undefined);
  // "Should I prepare travel? Where are you based?": without a yes, the answer is to the last.
  const whether = asking.slice(0, -1).every((one) => questionOf(one)?.kind === 'whether');
  const last = asking.at(-1);
  if (asking.length > 1 && (!whether || questionOf(last!)?.kind !== 'value')) return undefined;
  return last;
}

/** Whether an answer is of the kind that is asked for: "2,300 a month" says not who. */
function fits(question: string, answer: string): boolean {
  if (WHO.test(question)) return !SUM.test(answer) && !NUMBERED.test(answer);
  if (WHEN.test(question)) return !SUM.test(answer);
  return !HOW_MUCH.test(question) || AMOUNT.test(answer);
}

const YES_NO =
  /^(?:(?:oh|hm+|well|ah|haha)[,.]? )*(?:(?<no>no(?:pe)?|nah|non|nein|nee|não)|(?<yes>yes|yeah|yep|yup|oui|ja|sí|sì|sim))(?=\s*[,.!:;—–]|$|\s+(?:he|she|it|we|they|i|you|but|because|not|only)(?![\p{L}]))/iu;

/** "Yes" or "no" at the start of an answer. */
function polarityOf(sentence: string): string {
  const said = YES_NO.exec(sentence)?.groups;
  return (said?.no ?? said?.yes ?? '').toLowerCase();
}

/** "It needs two people", said of what the question asks about; not "it's late". */
const ABOUT_IT =
  /^(?:(?<one>it)|they|these|those)(?:['’](?:s|re|ll|ve))? (?!(?:is |was )?(?:late|early|raining|cold|hot|warm|dark|fine|ok(?:ay)?|good|great|true|possible|time|hard|difficult|easy|nice|clear|obvious|just|been|a pity|a shame|too|so|the (?:same|usual))(?![\p{L}]))/iu;
const MAX_ABOUT_IT = 12;

/** "They" are several. */
function isAbout(subject: string, answer: string): boolean {
  const found = ABOUT_IT.exec(answer);
  return found !== null && (found.groups?.one !== undefined) !== /[^s]s(?:,|$)/i.test(subject);
}

/** An answer that lacks its subject. */
interface Completed {
  readonly subject: string;
  /** The answer without talk; a yes or no that it begins with stays if the question asks for it. */
  readonly answer: string;
}

/** The subject of the question if a sentence, the first of a reply, answers it and lacks its subject. */
export function completed(question: string, sentence: string, max_words = SHORT_ANSWER): Completed | undefined {
  const asked = questionOf(question);
  if (asked === undefined || asked.offers || changesTopic(sentence)) return undefined;
  const polarity = polarityOf(sentence);
  const said = withoutTalk(sentence);
  const rest = said.toLowerCase().startsWith(polarity)
    ? said.slice(polarity.length).replace(/^[\s,.!:;—–]+/u, '')
    : said;
  if (rest === '') return polarity === '' || !asked.confirms ? undefined : { subject: asked.subject, answer: polarity };
  if (asked.kind !== 'whether' && isAbout(asked.subject, rest) && wordCount(rest) <= MAX_ABOUT_IT)
    return { subject: asked.subject, answer: rest };
  if (!isFragment(rest, max_words) || !fits(question, rest)) return undefined;
  const known = new Set(wordsOf(rest).map(stem));
  if (wordsOf(asked.subject).some((word) => known.has(stem(word)))) return undefined;
  return { subject: asked.subject, answer: polarity === '' || asked.kind === 'value' ? rest : `${polarity}, ${rest}` };
}
