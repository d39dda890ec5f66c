/** Answers that lack a subject: "English, German", "only on Mondays". What names its subject is a statement of its own. */
import { wordCount } from './clauses.js';

/** Longer answers name what they are about. */
export const SHORT_ANSWER = 7;

/** A clause that begins with its subject. */
const PRONOUN =
  /^(?:i|he|she|it|we|they|you|there|that|this|what|who|je|tu|il|elle|on|nous|vous|ils|elles|c|ça|ich|er|sie|es|wir|das|ik|hij|zij|ze|wij|we)(?:['’]\p{L}+|\s)/iu;
/** Finite verbs: with a word before them they make a clause. */
const AUXILIARY =
  /\s(?:sounds|seems|makes sense|looks like)(?![\p{L}])|\s(?:(?:is|are|was|were|am|has|have|had|will|would|can|could|should|must|might|shall|do|does|did)(?:n['’]t)?|can['’]?t|cannot|won['’]t|est|sont|sera|était|ont|peut|doit|veut|ist|sind|wird|werden|wurde|hat|haben|muss|müssen|kann|soll|está|están|tiene|è|sono|hanno|deve|wordt|heeft|moet)(?![\p{L}'’-])|[\p{L}]['’](?:ll|re|ve)\s|^[\p{L}]+['’]s (?:an?|the|not|now|called|named|due|been|going|\p{L}+ing|\p{L}+ed)\s/iu;
/** Verbs that people and things do, in the forms that follow their subject. */
const VERBS =
  'calls|called|comes|came|goes|went|gets|got|needs|needed|wants|wanted|lives|lived|works|worked|costs|starts|started|ends|ended|opens|opened|closes|closed|arrives|arrived|leaves|left|takes|took|gives|gave|says|said|tells|told|knows|knew|thinks|thought|makes|made|brings|brought|buys|bought|sells|sold|pays|paid|keeps|kept|holds|held|runs|ran|moves|moved|drives|drove|likes|liked|loves|loved|hates|hated|prefers|preferred|wrote|writes|reads|sends|sent|asks|asked|uses|used|broke|breaks|fell|falls|died|dies|married|plays|played|helps|helped|shows|showed|means|meant|seems|seemed|looks|looked|feels|felt|sleeps|slept|eats|ate|drinks|drank|walks|walked|sits|stands|stood|turned|happened|happens|failed|fails|crashed|returned|returns|changed|changes|cancelled|canceled|wins|won|lost|loses|found|finds|met|meets|joined|joins|organises|organizes|manages|handles|owns|teaches|taught|visits|visited|agreed|agrees|refuses|refused|rang|rings|signed|signs|speaks|spoke|wears|wore|grows|grew|stopped|stops|waits|waited|expires|expired|insists|insisted|demands|demanded|requires|required|allows|allowed|expects|expected|offers|offered|provides|provided|covers|covered|includes|included|contains|switches|switched|composes|composed|conducts|locks|locked|delivers|delivered|applies|applied|counts|depends|belongs|fits|hangs|lies|suits|serves|served|supports|replaces|replaced|decides|decided|recommends|recommended|suggests|suggested|hopes|promises|promised|ships|shipped|shut|shuts';
const ADVERB = '(?:(?:only|just|also|always|never|still|already|now|then) )?';
const DETERMINED = new RegExp(
  `^(?:(?:the|my|our|his|her|its|their|your|this|that|these|those|an?|all|some|every|each|both|no)\\s(?:[\\p{L}\\d'’-]+\\s){1,4}?|(?:nobody|everyone|everybody|someone|somebody|nothing|everything|half|most)\\s|\\d[\\d.,]*\\s(?:[\\p{L}'’-]+\\s){1,3}?)${ADVERB}(?:${VERBS})(?![\\p{L}'’-])`,
  'iu',
);
/** "My parents come on Friday." */
const SEVERAL =
  /^(?:the|my|our|your|their|his|her|all|both|these|those|some|most|many)\s(?:[\p{L}'’-]+\s){0,2}?[\p{L}'’-]+s\s(?:only |just |also |always |never |still |all )?(?:come|live|want|need|work|start|leave|arrive|pay|take|bring|get|go|have|do|say|make|help|like|love|hate|prefer|meet|open|close|run|stay|sleep|eat|use|cost|play|visit|call|send|keep|give|know|think)(?![\p{L}'’-])/iu;
const NAMED = new RegExp(`^(?:\\p{Lu}[\\p{L}'’.-]*\\s){1,3}${ADVERB}(?:${VERBS})(?![\\p{L}'’-])`, 'u');

/** Where the answer itself ends: "Wendy Ho, she leads the team". */
const FIRST_PART = /^[^,;:(–—]*(?:\s-\s)?/;
/** Words before a statement that are no answer: "Tomorrow, the painter comes". */
const ADVERBIAL =
  /^(?:tomorrow|today|yesterday|tonight|also|plus|meanwhile|unfortunately|sadly|luckily|first|then|later|and|but|so|oh|the thing is)\s*,\s*/i;

/** Whether a sentence is a whole clause with a subject of its own. */
export function isClause(sentence: string): boolean {
  const said = sentence.replace(ADVERBIAL, '');
  if (said !== sentence) return true;
  const part = FIRST_PART.exec(said)![0];
  return (
    PRONOUN.test(`${part} `) ||
    AUXILIARY.test(`${part} `) ||
    DETERMINED.test(part) ||
    SEVERAL.test(part) ||
    NAMED.test(part)
  );
}

/** What somebody says in place of an answer. */
const NO_ANSWER =
  /^(?:i |i've |hm+,? |uh+,? |sorry,? )*(?:no idea|no clue|not sure|unsure|dunno|don['’]t (?:know|remember|care|mind)|not certain|can['’]t (?:say|remember|tell)|(?:it )?depends|doesn['’]t matter|whatever|whichever|good question|tbd|to be (?:decided|determined)|we['’]ll see|what do you mean|pardon|why|none of your|same (?:as|here)|as (?:before|always|usual)|you (?:choose|decide)|up to you|see (?:above|below)|later|not (?:now|yet|today)|skip|pass|next question|ask me|(?:that |it )?(?:sounds|seems|looks)|(?:that |it )?makes sense|always|never|please|make sure|be sure|let['’]s|can you|could you|would you|tell me|show me|give me|explain|write|include|i (?:like|love|agree)|everything['’]s|all (?:good|clear|set|fine)|keine ahnung|weiß nicht|aucune idée|je ne sais|ni idea|no sé|non so|geen idee|weet niet)(?![\p{L}])/iu;
/** What somebody says before they answer. */
const PUT_OFF =
  /^(?:(?:hm+|uh+|um+|er+m*|well|ok(?:ay)?|sorry|oh|ah)[,. …]*)*(?:$|(?:let me|let['’]s) (?:think|check|see|look|ask|find)|(?:just )?(?:one|a|an?other) (?:sec|second|moment|minute|min)(?![\p{L}])|(?:hold|hang) on|wait(?![\p{L}])|(?:give|gimme) (?:me )?a|(?:i|we)(?:['’]ll| will| have to| need to| must)? (?:check|look|ask|think)(?![\p{L}])|moment(?![\p{L}])|un (?:instant|moment)|un momento|momentje|looking|checking|thinking|brb|be right back|thanks?(?! to)|thank you)/iu;
const HESITATION = /^(?:(?:hm+|uh+|um+|er+m*|well|ok(?:ay)?|sorry|oh|ah)(?![\p{L}])[,. …]*)+/iu;
/** Not "wait, it moved to Friday", nor "wait until the 15th". */
export const putsOff = (sentence: string): boolean =>
  sentence.length <= 40 &&
  !/\d/.test(sentence) &&
  PUT_OFF.test(sentence) &&
  !/[,;:—–]\s+\p{L}+\s+\p{L}|(?<![\p{L}])(?:until|till|for|before|after) /iu.test(sentence.replace(HESITATION, ''));
const isNoAnswer = (sentence: string): boolean => NO_ANSWER.test(sentence) || PUT_OFF.test(sentence);

/** Speaks of something else than what was asked. */
const TOPIC_CHANGE =
  /^(?:(?:ok(?:ay)?|oh|ah|yes|no|hey|right|and|well|so|but)[,.!]? )*(?:by the way|btw|another thing|one (?:more )?thing|something else|before (?:i|we) forget|unrelated|off[- ]topic|on another note|also|plus|fyi|quick(?: note| one)?|for the record|remember|reminder|note|ps|nb|au fait|sinon|übrigens|por cierto|a proposito|trouwens)(?![\p{L}'’-])/iu;
export const changesTopic = (sentence: string): boolean => TOPIC_CHANGE.test(sentence);

/** Whether a sentence may answer a question without naming what it is about. */
export const isFragment = (sentence: string, max_words: number): boolean =>
  wordCount(sentence) <= max_words && !isClause(sentence) && !isNoAnswer(sentence);

/** "38. Two of the altos…" begins with a number that answers a question, and not with an item of a list. */
export const asSpoken = (text: string): string =>
  /\n[ \t]*(?:\d+[.)]|[-*+])\s/.test(text) ? text : text.replace(/^(\s*(?!1\.)\d[\d.,]*\.)\s+(?=\S)/, '$1\n\n');
