/** Which sentences can be facts: plain statements that stand alone. Precision comes before recall. */

const MIN_WORDS = 3;
const MAX_WORDS = 40;
const MAX_LENGTH = 280;

/** Words before the statement; the first group is a request to remember it. */
const LEADS =
  /^(?:(?:(?:please |and |also |just |so |ok(?:ay)?,? )*(remember|note|keep in mind|don't forget|for the record|fyi|heads[- ]up|important|reminder|nb|ps)(?: that\b|[:,]|(?= i | we | my | the | our )))|(?:ok(?:ay)?|so|well|yes|yeah|yep|no|right|great|perfect|cool|thanks|thank you|sure|alright|also|and|but|then|now|anyway|actually|btw|by the way|honestly|personally|just so you know|in fact|fine|hi|hello|hey)\b(?:[,!.:;]| -)|(?:in the end|finally|as of today|after [^,]{3,60}),(?= (?:i|we|the team|our)\b)|(?:and|but|so|also|well|then|actually|personally|ok|okay|yes|yeah)(?= (?:i|we|my|our|let's)\b))\s*/i;

const QUESTION =
  /^(?:(?:do|does|did|is|are|was|were|can|could|should|would|will|shall|may|might|have|has|had|am|isn't|aren't|don't|doesn't|didn't|can't|won't|wouldn't|shouldn't) (?:i|we|you|he|she|it|they|this|that|there|the|my|our|your|any|anyone|someone)\b|(?:what|who|whom|whose|which|when|where|why|how)\b)/i;

/** Uncertain, hypothetical, or not meant. */
const HEDGED =
  /\b(?:maybe|perhaps|might|could|possibly|probably|presumably|supposedly|allegedly|apparently|seems?|seemed|appears?|likely|unlikely|guess|suppose|supposed|think|thought|thinking|believe|assume|assuming|assumed|wonder|wondering|considering|not sure|unsure|not certain|no idea|feel like|felt like|kind of|kinda|sort of|sorta|somewhat|would|wouldn't|should|shouldn't|wish|hope|hopefully|hoping|imagine|pretend|hypothetical\w*|theoretically|in theory|what if|even if|let's say|say we|for example|e\.g|for instance|lol|haha|hehe|kidding|joking|joke|sarcas\w*|as if|unless|whether|in case|or something|or so|some day|someday|one day|used to|almost|nearly|tempted|curious|rumou?r\w*|suggest\w*|propos\w*|recommend\w*|option|options|either|(?:it|that|this) depends|depends (?:how|what|who|when))\b|(?:^|\s)(?:may (?:be|have|not|need|use|want)|if)\b|[;:]-?[)(DP]|\p{Extended_Pictographic}|\.\.\.|…/iu;

/** Reported speech, or a text under discussion. */
const REPORTED =
  /\b(?:(?:he|she|they|you|someone|somebody|people|everyone|who|it) (?:said|says|say|told|tells|claims?|claimed|mentioned|wrote|thinks?|asked|replied)|according to|i (?:heard|read|was told)|told me|quote|quoting|quoted|the (?:article|book|docs?|documentation|email|post|text|prompt|story|movie|song) (?:says?|said|states?|reads?)|as (?:you|they|he|she) (?:said|mentioned)|once upon|said (?:the|a|my|our)|(?:he|she|they|i) said)\b/i;
const QUOTED = /["“”«»][^"“”«»]{12,}["“”«»]|(?:^|\s)'[^']{16,}'(?:\s|$)/;

/** References that only the speakers understand, and the addressee. */
const REFERS =
  /\b(?:he|she|they|it|him|them|his|their|theirs|its|hers|you|your|yours|yourself|u|ur|himself|herself|itself|themselves|thou)\b|\bit's\b|\bthat's\b|\b(?:her)\b/i;
const REFERS_BACK =
  /^(?:this|that|these|those|there|here|such|both|another|same|one|some|all|none|neither)\b|\b(?:this|these|those) (?!(?:morning|afternoon|evening|week|month|year|weekend|coming|past|monday|tuesday|wednesday|thursday|friday|saturday|sunday|summer|winter|spring|autumn|fall|project|repo|repository|codebase|team|company)\b)|\b(?:the former|the latter|the above|the below|above|the other|the same|the first one|the second one|that one|this one|do so|likewise|as well|too|either|instead)$|\b(?:this|that|these|those|one|ones|so|there|here)$|\bthe following\b|\b(?:to|in|of|about|with|at|for|on|from|into|like) that \w+$|\b(?:something|someone|somebody|somewhere|somehow|stuff|things|whatever|such)\b/i;

const PRETENCE =
  /^(?:(?:[Pp]lease|[Nn]ow|[Oo]k(?:ay)?|[Ss]o|[Hh]ey|[Hh]i|[Ll]et's|[Ll]et us|[Cc]an you|[Cc]ould you|I want you to|I'd like you to),? ){0,3}(?:[Pp]retend|[Ii]magine(?= (?:[a-z]|I\b))|[Ss]uppose\b|[Rr]ole-?play|[Aa]ct (?:as|like)\b|[Pp]lay (?:the (?:role|part)|a (?:role|character))\b|[Yy]ou(?:'re| are| will be) (?:now )?playing\b|[Aa]ssume (?:the role|you|I|we|that)\b)/;

/** "Pretend you are a pirate": a request for a scene. */
export const isPretence = (text: string): boolean =>
  PRETENCE.test(text) || /\bpretend(?:ing)? (?:that |like )?(?:you|we|i'm|i am)\b/i.test(text);

/** "Can you remember that…?" is a request, not a question. */
const ASKED_TO =
  /^(?:(?:can|could|would|will) you |i (?:want|need) you to |i'd like you to )?(?:please )?(?:make a (?:mental )?note|take a? ?note|bear in mind|write down|jot down|save|store|remember|note|keep in mind|memori[sz]e)(?: that\b|:) /i;

/** A statement without its full stop; `asked`: the speaker asks to remember it. */
export function plainSentence(raw: string): { readonly text: string; readonly asked: boolean } | undefined {
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
  // "I'm vegan" is complete.
  if (words < (/^i'm /i.test(text) ? 2 : MIN_WORDS) || words > MAX_WORDS) return undefined;
  if (QUESTION.test(text) || HEDGED.test(text) || REPORTED.test(text) || QUOTED.test(text)) return undefined;
  return { text, asked };
}

/** A form to fill in. */
const PLACEHOLDER = /\[[^\]]*\]|<[^>]+>|\bX{2,}\b|_{3,}/;
const REQUEST = /,? (?:and |so |but )?(?:(?:can|could|would|will) you|how (?:can|do|should|would) (?:i|we)) .+\?$/i;

/** The statement before a request: "I live in Rome, can you find a dentist?" */
function beforeRequest(text: string): string {
  const request = REQUEST.exec(text);
  return request && request.index >= 15 ? text.slice(0, request.index) : text;
}

const CLAUSE =
  /(?:;|,? (?:but|so|because|'?cause|cuz|though|tho|although|thats why|that's why|which|while|whereas)\b| and (?:it|i|i'm|we|my|the|they|she|he|that|this|now)\b|, (?:and|a|an|the|especially|i|we|my|mostly|then)\b|\s[-–—]\s|(?<!\b(?:mr|mrs|ms|dr|prof|st|no))\. )/i;
const TRAILING =
  /[,\s]+(?:too|as well|tho|though|dude|man|bro|lol|then|also|so much|a lot|very much|anyway|for sure|of course|in general|overall|all the time|right|haha|yea|yeah|indeed|actually|really|honestly|now|these days|any ?more|any longer)$/i;

/** The first clause of a sentence, without trailing fillers. */
export function firstClause(text: string): string {
  let clause = text.slice(0, CLAUSE.exec(text)?.index);
  for (let shorter = clause.replace(TRAILING, ''); shorter !== clause; shorter = clause.replace(TRAILING, ''))
    clause = shorter;
  return clause.trim();
}

/** Where a clause with a subject of its own begins. */
const MAIN =
  /;\s+|\s[-–—]\s+|(?:,|\s(?=and|but))\s*(?:(?:and|but|so|because) )?(?=(?:the|our|my|his|her|he|she|it|we|they|i|I)(?:['’]\p{L}+)? |\p{Lu}[\p{Ll}'’-]+ \p{Ll}{2,})|(?<=^[\p{L}\p{N} '’-]{2,30}):\s+(?=(?:the|our|my|we|i|I) )/gu;

/** The main clauses of a sentence, as it stands. */
export function mainClauses(text: string): string[] {
  const clauses: string[] = [];
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(MAIN)) {
    clauses.push(text.slice(start, index));
    start = index + mark.length;
  }
  return [...clauses, text.slice(start)];
}

/** "I live in Hamburg and work for Siemens": only the first verb is put into the third person. */
const SECOND_HALF =
  / and (?:(?:also|currently|now|really|usually|always|never) )?(?:work|live|study|play|speak|have|am|own|drive|use|love|like|enjoy|adore|hate|dislike|avoid|prefer|want|need|go|run|do|don't|can't)\b.*$/i;
/** "Anna likes tea and works in Rome": the second verb is no part of what she likes. */
const SECOND_VERB =
  / and (?:(?:also|currently|now|really|usually|always|never) )?(?:works|lives|studies|speaks|has|is|owns|drives|uses|loves|likes|enjoys|hates|dislikes|avoids|prefers|wants|needs|goes|does|doesn't|can't)\b.*$/i;

export const firstHalf = (text: string): string => text.replace(SECOND_HALF, '').replace(SECOND_VERB, '');

/** "A Clown", "a Big Clown": an article with capitalised words is no name. */
export const isEpithet = (value: string): boolean => /^an?(?: \p{Lu}\p{Ll}+)+$/u.test(value);

/** Whether the sentence names everything that it speaks of. */
export function standsAlone(text: string): boolean {
  const named = withoutInitials(text);
  return !REFERS.test(named) && !REFERS_BACK.test(named);
}

/** IT and the US are names, unless the whole text is in capitals. */
export const withoutInitials = (text: string): string =>
  /\p{Ll}/u.test(text) ? text.replace(/\b(?:IT|US)\b(?!')/g, 'X') : text;

/** Normalises apostrophes and spaces, and removes emphasis. */
const tidied = (text: string): string =>
  text
    .replace(/[‘’]/g, "'")
    .replace(/(\*\*|__)(?=\S)(.*?\S)\1/g, '$2')
    .replace(/\s+/g, ' ')
    .trim();

/** Words of praise and blame mark opinions, not facts. */
export const EVALUATIVE =
  /\b(?:great|good|nice|bad|amazing|awesome|terrible|horrible|awful|cool|best|worst|better|worse|lovely|wonderful|fantastic|beautiful|funny|fun|boring|weird|strange|crazy|insane|pain|mess|nightmare|disaster|joke|shame|lifesaver|blast|bit|little|lot|must|no-brainer|problem|issue|question|reason|point|idea|thing|stuff|way|kind|sort|fan|sign|challenge|mistake|success|failure|pleasure|honou?r|relief|big deal|deal|matter|game changer|game-changer|solid|decent|perfect|excellent|slow|fast|lazy|poor|waste|holiday|real|true|total|absolute|fresh|interesting|important|huge|hard|easy|tough|tricky|stressful|busy|tired|excited|happy|sad|angry|hungry|sick|late|early|ready|sure|sorry|glad|proud|afraid|worried|right|wrong|true|fine|ok|okay)\b/i;
