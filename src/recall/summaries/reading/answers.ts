/** Short answers say nothing without their question: its subject goes before them. */
import { stem, stopWords, wordsOf } from '../../../text/index.js';
import { wordCount } from './clauses.js';
import { FUNCTION_WORDS } from './function-words.js';

/** Longer answers name what they are about. */
const SHORT_ANSWER = 7;
const MAX_SUBJECT = 5;
/** A whole clause has a subject of its own. */
const CLAUSE =
  /^(?:i|he|she|it|we|they|you|there|that|this|je|tu|il|elle|on|nous|vous|ils|elles|ich|er|sie|es|wir|ik|hij|zij|ze|wij|we)(?:['’]\p{L}+)?\s/iu;
const LEAD =
  /^(?:(?:and|so|then|ok(?:ay)?|now|well|also|et|und|y|e|en)[, ]+)*(?:(?:with|for|in|on|to|at|by|from|until|since|about|à|pour|mit|für|para|per|voor) )?(?:what(?: kind of| sort of)?|which|who|whom|whose|when|where|why|how(?: many| much| long| often| far| big| old)?|quel(?:le)?s?|qui|que|quoi|quand|où|combien|comment|welche[rsmn]?|was|wer|wann|wo|wie(?: viele?)?|qué|cuál(?:es)?|quién|cuándo|dónde|cuánt[oa]s?|cómo|quale|quali|chi|quando|dove|quant[ie]|come|welke?|wat|wanneer|waar|hoe(?:veel)?)(?:['’]s)?(?![\p{L}\p{N}])/iu;
/** Verbs that ask and carry nothing: "should I put", "do you want". */
const ASKING = new Set(
  'put use keep want need do have take see give tell prefer choose plan intend propose start call write look work use using'
    .split(' ')
    .map(stem),
);

/** What a question is about: "What severity should I put?" is about the severity; undefined if it asks for no value. */
function subjectOf(question: string): string | undefined {
  // Of two questions, nothing tells which is answered.
  if (TWO.test(question)) return undefined;
  const lead = LEAD.exec(question);
  if (!lead) return undefined;
  const rest = question.slice(lead[0].length);
  // "Which languages should the site support?" is about languages, namely those that the site supports.
  const verb = /\s(?:is|are|was|were|do|does|did|should|shall|would|will|can|could|may|must|have|has)\s/i.exec(rest);
  const parts = verb ? [rest.slice(0, verb.index), rest.slice(verb.index)] : [rest];
  let room = MAX_SUBJECT;
  const named = parts.map((part) => {
    const words = contentOf(part).slice(0, room);
    room -= words.length;
    return words.join(' ');
  });
  const subject = named.filter((part) => part !== '').join(', ');
  return subject === '' ? undefined : subject;
}

const contentOf = (text: string): string[] =>
  text
    .split(/\s+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''))
    .filter((word) => word !== '' && isContent(word));

const TWO = /,\s+(?:and|et|und|y|e|en)\s+/i;
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

/** The subject that an answer lacks. */
export function missingSubject(question: string, answer: string): string | undefined {
  if (wordCount(answer) > SHORT_ANSWER || CLAUSE.test(answer)) return undefined;
  const subject = subjectOf(question);
  if (subject === undefined) return undefined;
  const said = new Set(wordsOf(answer).map(stem));
  return wordsOf(subject).some((word) => said.has(stem(word))) ? undefined : subject;
}
