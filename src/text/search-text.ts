/** The search data of a text: terms, length, and flags for ranking. */
import { dateWords } from './question-dates.js';
import { stem } from './stem.js';
import { analyse, contentWords, wordsOf } from './text-analysis.js';

interface SearchableText {
  readonly content: string;
  /** The start of the content, if it has a title. */
  readonly title?: string | null;
  readonly speaker?: string | null;
  /** Of an attached picture. */
  readonly caption?: string | null;
  /** When it was said, or stored, in milliseconds. */
  readonly occurred_at?: number | null;
}

interface SearchText {
  readonly frequencies: ReadonlyMap<string, number>;
  /** The number of terms, with repetitions. */
  readonly length: number;
  /** A bit set of textFlags. */
  readonly flags: number;
}

export const textFlags = {
  SHORT_QUESTION: 1,
  /** Mentions a time. */
  TEMPORAL: 2,
  /** Has a capitalized word within a sentence, such as a name. */
  NAMED: 4,
  /** Tells the assistant what to do from now on. */
  INSTRUCTION: 8,
  PREFERENCE: 16,
  /** Ends by asking, whatever its length. */
  QUESTION: 32,
} as const;

/** Higher frequencies of a term do not count. */
export const MAX_FREQUENCY = 15;
const SHORT_LENGTH = 15;

const TEMPORAL =
  /\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|recently|mornings?|evenings?|nights?|days?|weeks?|weekends?|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december)\b/i;
const NAMED = /[\p{Ll},] (?!I\b)\p{Lu}\p{Ll}/u;
const INSTRUCTION =
  /(?:^|[.!?\n] ?)(?:please )?(?:always|never) (?!(?:an?|the|been|had|here|there|on|in|so|too)\b)[a-z]{2}|\bfrom now on\b|\bwhen(?:ever)? i (?:ask|say|mention)\b|\bin (?:the )?future,? (?:always|never|please|do)\b|\bkeep in mind that\b/i;
const PREFERENCE =
  /\b(?:i|we)(?:['’]d| would)?(?: (?:really|also|still|generally|usually|always|much|would))? (?:prefer|rather)\b|\bmy preference\b/i;

/** A question mark at the end of a text, in any script. */
const ASKING = /[?？؟]$/;

function flagsOf(content: string, length: number): number {
  const { SHORT_QUESTION, ...said } = textFlags;
  const isQuestion = ASKING.test(content.trimEnd());
  let flags = isQuestion ? said.QUESTION : 0;
  if (isQuestion && length < SHORT_LENGTH) flags |= SHORT_QUESTION;
  if (TEMPORAL.test(content)) flags |= said.TEMPORAL;
  if (NAMED.test(content)) flags |= said.NAMED;
  if (INSTRUCTION.test(content)) flags |= said.INSTRUCTION;
  if (PREFERENCE.test(content)) flags |= said.PREFERENCE;
  return flags;
}

const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'tool']);

/** Whether a speaker is a role rather than a name. */
export const isRole = (speaker: string): boolean => ROLES.has(speaker.toLowerCase());

/** Maximum length of a text that is searched by its stop words. */
const MAX_BARE = 200;

/** The terms of a text of stop words alone, such as the name of a band. */
function bareTerms(text: string): string[] {
  if (text === '' || text.length > MAX_BARE) return [];
  const words = wordsOf(text);
  return contentWords(words).length > 0 ? [] : words.map(stem);
}

export function searchTextOf(searched: SearchableText): SearchText {
  const { content, title, speaker, caption, occurred_at } = searched;
  const date = occurred_at === undefined || occurred_at === null ? '' : dateWords(occurred_at);
  const name = typeof speaker === 'string' && !isRole(speaker) ? speaker : '';
  const terms = analyse([date, name, content, caption ?? ''].join('\n'));
  const bare = bareTerms(content);
  terms.push(...(bare.length > 0 ? bare : bareTerms(title ?? '')));
  const frequencies = new Map<string, number>();
  for (const term of terms) frequencies.set(term, Math.min(MAX_FREQUENCY, (frequencies.get(term) ?? 0) + 1));
  return { frequencies, length: terms.length, flags: flagsOf(content, terms.length) };
}
