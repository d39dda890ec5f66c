/** Which sentences can be facts at all: plain statements that stand alone. Rather silence than junk. */

/** A statement that may be a fact, tidied, without the full stop. */
export interface PlainSentence {
  readonly text: string;
  /** The speaker asks to remember it. */
  readonly asked: boolean;
}

const MIN_WORDS = 3;
const MAX_WORDS = 40;
const MAX_LENGTH = 280;

/** Words before the statement that are not part of it; the first group is there when it is to be remembered. */
const LEADS =
  /^(?:(?:(?:please |and |also |just |so |ok(?:ay)?,? )*(remember|note|keep in mind|don't forget|for the record|fyi|heads[- ]up|important|reminder|nb|ps)(?: that\b|[:,]|(?= i | we | my | the | our )))|(?:ok(?:ay)?|so|well|yes|yeah|yep|no|right|great|perfect|cool|thanks|thank you|sure|alright|also|and|but|then|now|anyway|actually|btw|by the way|honestly|personally|just so you know|in fact|fine|hi|hello|hey)\b(?:[,!.:;]| -)|(?:in the end|finally|as of today|after [^,]{3,60}),(?= (?:i|we|the team|our)\b)|(?:and|but|so|also|well|then|actually|personally|ok|okay|yes|yeah)(?= (?:i|we|my|our|let's)\b))\s*/i;

const QUESTION =
  /^(?:(?:do|does|did|is|are|was|were|can|could|should|would|will|shall|may|might|have|has|had|am|isn't|aren't|don't|doesn't|didn't|can't|won't|wouldn't|shouldn't) (?:i|we|you|he|she|it|they|this|that|there|the|my|our|your|any|anyone|someone)\b|(?:what|who|whom|whose|which|when|where|why|how)\b)/i;

/** Not sure, not real, or not meant. */
const HEDGED =
  /\b(?:maybe|perhaps|might|could|possibly|probably|presumably|supposedly|allegedly|apparently|seems?|seemed|appears?|likely|unlikely|guess|suppose|supposed|think|thought|thinking|believe|assume|assuming|assumed|wonder|wondering|considering|not sure|unsure|not certain|no idea|feel like|felt like|kind of|kinda|sort of|sorta|somewhat|would|wouldn't|should|shouldn't|wish|hope|hopefully|hoping|imagine|pretend|hypothetical\w*|theoretically|in theory|what if|even if|let's say|say we|for example|e\.g|for instance|lol|haha|hehe|kidding|joking|joke|sarcas\w*|as if|unless|whether|in case|or something|or so|some day|someday|one day|used to|almost|nearly|tempted|curious|rumou?r\w*|suggest\w*|propos\w*|recommend\w*|option|options|either|(?:it|that|this) depends|depends (?:how|what|who|when))\b|(?:^|\s)(?:may (?:be|have|not|need|use|want)|if)\b|[;:]-?[)(DP]|\p{Extended_Pictographic}|\.\.\.|…/iu;

/** What another has said, or a text that is only looked at. */
const REPORTED =
  /\b(?:(?:he|she|they|you|someone|somebody|people|everyone|who|it) (?:said|says|say|told|tells|claims?|claimed|mentioned|wrote|thinks?|asked|replied)|according to|i (?:heard|read|was told)|told me|quote|quoting|quoted|the (?:article|book|docs?|documentation|email|post|text|prompt|story|movie|song) (?:says?|said|states?|reads?)|as (?:you|they|he|she) (?:said|mentioned)|once upon|said (?:the|a|my|our)|(?:he|she|they|i) said)\b/i;
const QUOTED = /["“”«»][^"“”«»]{12,}["“”«»]|(?:^|\s)'[^']{16,}'(?:\s|$)/;

/** Somebody or something that only those who were there know; and the other side of the conversation. */
const REFERS =
  /\b(?:he|she|they|it|him|them|his|their|theirs|its|hers|you|your|yours|yourself|u|ur|himself|herself|itself|themselves|thou)\b|\bit's\b|\bthat's\b|\b(?:her)\b/i;
const REFERS_BACK =
  /^(?:this|that|these|those|there|here|such|both|another|same|one|some|all|none|neither)\b|\b(?:this|these|those) (?!(?:morning|afternoon|evening|week|month|year|weekend|coming|past|monday|tuesday|wednesday|thursday|friday|saturday|sunday|summer|winter|spring|autumn|fall|project|repo|repository|codebase|team|company)\b)|\b(?:the former|the latter|the above|the below|above|the other|the same|the first one|the second one|that one|this one|do so|likewise|as well|too|either|instead)$|\b(?:this|that|these|those|one|ones|so|there|here)$|\bthe following\b|\b(?:to|in|of|about|with|at|for|on|from|into|like) that \w+$|\b(?:something|someone|somebody|somewhere|somehow|stuff|things|whatever|such)\b/i;

const PRETENCE =
  /^(?:(?:[Pp]lease|[Nn]ow|[Oo]k(?:ay)?|[Ss]o|[Hh]ey|[Hh]i|[Ll]et's|[Ll]et us|[Cc]an you|[Cc]ould you|I want you to|I'd like you to),? ){0,3}(?:[Pp]retend|[Ii]magine(?= (?:[a-z]|I\b))|[Ss]uppose\b|[Rr]ole-?play|[Aa]ct (?:as|like)\b|[Pp]lay (?:the (?:role|part)|a (?:role|character))\b|[Yy]ou(?:'re| are| will be) (?:now )?playing\b|[Aa]ssume (?:the role|you|I|we|that)\b)/;

/** "Pretend you are a pirate": whoever asks for a scene. */
export const isPretence = (text: string): boolean =>
  PRETENCE.test(text) || /\bpretend(?:ing)? (?:that |like )?(?:you|we|i'm|i am)\b/i.test(text);

/** "Can you remember that…?" asks for that, and for no answer. */
const ASKED_TO =
  /^(?:(?:can|could|would|will) you |i (?:want|need) you to |i'd like you to )?(?:please )?(?:make a (?:mental )?note|take a? ?note|bear in mind|write down|jot down|save|store|remember|note|keep in mind|memori[sz]e)(?: that\b|:) /i;

/** Undefined for what is no statement, or none that stands alone. */
export function plainSentence(raw: string): PlainSentence | undefined {
  const tidy = tidied(raw);
  const wanted = ASKED_TO.exec(tidy)?.[0] ?? '';
  let text = wanted === '' ? beforeRequest(tidy) : tidy.slice(wanted.length).replace(/\?$/, '');
  if (text.length > MAX_LENGTH || /[?？؟]["')\]]*$/.test(text) || PLACEHOLDER.test(text)) return undefined;
  text = text.replace(/[.!]+["')\]]*$/, '').trim();
  let asked = wanted !== '';
  for (let lead = LEADS.exec(text); lead?.[0]; lead = LEADS.exec(text)) {
    asked ||= lead[1] !== undefined;
    text = text.slice(lead[0].length);
  }
  const words = text.split(' ').length;
  // "I'm vegan" is all there is to say.
  if (words < (/^i'm /i.test(text) ? 2 : MIN_WORDS) || words > MAX_WORDS) return undefined;
  if (QUESTION.test(text) || HEDGED.test(text) || REPORTED.test(text) || QUOTED.test(text)) return undefined;
  return { text, asked };
}

/** A form to be filled in. */
const PLACEHOLDER = /\[[^\]]*\]|<[^>]+>|\bX{2,}\b|_{3,}/;
const REQUEST = /,? (?:and |so |but )?(?:(?:can|could|would|will) you|how (?:can|do|should|would) (?:i|we)) .+\?$/i;

/** "I live in Rome, can you find a dentist?" asks, but says something first. */
function beforeRequest(text: string): string {
  const request = REQUEST.exec(text);
  return request && request.index >= 15 ? text.slice(0, request.index) : text;
}

const CLAUSE =
  /(?:;|,? (?:but|so|because|'?cause|cuz|though|tho|although|thats why|that's why|which|while|whereas)\b| and (?:it|i|i'm|we|my|the|they|she|he|that|this|now)\b|, (?:and|a|an|the|especially|i|we|my|mostly|then)\b|\s[-–—]\s|\. )/i;
const TRAILING =
  /[,\s]+(?:too|as well|tho|though|dude|man|bro|lol|then|also|so much|a lot|very much|anyway|for sure|of course|in general|overall|all the time|right|haha|yea|yeah|indeed|actually|really|honestly|now|these days|any ?more|any longer)$/i;

/** The first statement of a sentence that goes on and on, without what is only said by the way. */
export function firstClause(text: string): string {
  let clause = text.slice(0, CLAUSE.exec(text)?.index);
  for (let shorter = clause.replace(TRAILING, ''); shorter !== clause; shorter = clause.replace(TRAILING, ''))
    clause = shorter;
  return clause.trim();
}

/** "I live in Hamburg and work for Siemens": told of somebody, the verb of the second half would stay as it is. */
const SECOND_HALF =
  / and (?:(?:also|currently|now|really|usually|always|never) )?(?:work|live|study|play|speak|have|am|own|drive|use|love|like|enjoy|adore|hate|dislike|avoid|prefer|want|need|go|run|do|don't|can't)\b.*$/i;
/** "Anna likes tea and works in Rome": what she does besides is no part of what she likes. */
const SECOND_VERB =
  / and (?:(?:also|currently|now|really|usually|always|never) )?(?:works|lives|studies|speaks|has|is|owns|drives|uses|loves|likes|enjoys|hates|dislikes|avoids|prefers|wants|needs|goes|does|doesn't|can't)\b.*$/i;

export const firstHalf = (text: string): string => text.replace(SECOND_HALF, '').replace(SECOND_VERB, '');

/** "A Clown", "a Big Clown": nothing but words with a capital, as for a title, is no name. */
export const isEpithet = (value: string): boolean => /^an?(?: \p{Lu}\p{Ll}+)+$/u.test(value);

/** Whether all that the sentence speaks of is named in it. */
export function standsAlone(text: string): boolean {
  const named = withoutInitials(text);
  return !REFERS.test(named) && !REFERS_BACK.test(named);
}

/** IT and the US are names, unless all is in capitals. */
export const withoutInitials = (text: string): string =>
  /\p{Ll}/u.test(text) ? text.replace(/\b(?:IT|US)\b(?!')/g, 'X') : text;

/** One kind of apostrophe and space, and no marks of emphasis. */
function tidied(text: string): string {
  return text
    .replace(/[‘’]/g, "'")
    .replace(/(\*\*|__)(?=\S)(.*?\S)\1/g, '$2')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Words of praise and blame: an opinion of the moment, not a fact. */
export const EVALUATIVE =
  /\b(?:great|good|nice|bad|amazing|awesome|terrible|horrible|awful|cool|best|worst|better|worse|lovely|wonderful|fantastic|beautiful|funny|fun|boring|weird|strange|crazy|insane|pain|mess|nightmare|disaster|joke|shame|lifesaver|blast|bit|little|lot|must|no-brainer|problem|issue|question|reason|point|idea|thing|stuff|way|kind|sort|fan|sign|challenge|mistake|success|failure|pleasure|honou?r|relief|big deal|deal|matter|game changer|game-changer|solid|decent|perfect|excellent|slow|fast|lazy|poor|waste|holiday|real|true|total|absolute|fresh|interesting|important|huge|hard|easy|tough|tricky|stressful|busy|tired|excited|happy|sad|angry|hungry|sick|late|early|ready|sure|sorry|glad|proud|afraid|worried|right|wrong|true|fine|ok|okay)\b/i;
