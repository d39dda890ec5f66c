/** What is kept of a text so that it can be found and ranked: its terms, how long it is, and what kind of thing it says. */
import { dateWords } from './question-dates.js';
import { stem } from './stem.js';
import { analyse, contentWords, wordsOf } from './text-analysis.js';

export interface SearchableText {
  readonly content: string;
  /** Which the content begins with, if it has one. */
  readonly title?: string | null;
  readonly speaker?: string | null;
  /** Of a picture that belongs to it. */
  readonly caption?: string | null;
  /** In ms: when it was said, else when it was stored. */
  readonly occurred_at?: number | null;
}

export interface SearchText {
  /** How often each term occurs. */
  readonly frequencies: ReadonlyMap<string, number>;
  /** The number of terms, repeated ones each time. */
  readonly length: number;
  /** Of textFlags. */
  readonly flags: number;
}

export const textFlags = {
  SHORT_QUESTION: 1,
  /** Says when something is. */
  TEMPORAL: 2,
  /** Has a word with a capital within a sentence, as places and people have. */
  NAMED: 4,
  /** Says how something is to be done from now on. */
  INSTRUCTION: 8,
  PREFERENCE: 16,
} as const;

/** More of one term says nothing more. */
export const MAX_FREQUENCY = 15;
const SHORT_LENGTH = 15;

const TEMPORAL =
  /\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|recently|mornings?|evenings?|nights?|days?|weeks?|weekends?|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december)\b/i;
const NAMED = /[\p{Ll},] (?!I\b)\p{Lu}\p{Ll}/u;
const INSTRUCTION =
  /(?:^|[.!?\n] ?)(?:please )?(?:always|never) (?!(?:an?|the|been|had|here|there|on|in|so|too)\b)[a-z]{2}|\bfrom now on\b|\bwhen(?:ever)? i (?:ask|say|mention)\b|\bin (?:the )?future,? (?:always|never|please|do)\b|\bkeep in mind that\b/i;
const PREFERENCE =
  /\b(?:i|we)(?:['’]d| would)?(?: (?:really|also|still|generally|usually|always|much|would))? (?:prefer|rather)\b|\bmy preference\b/i;

function flagsOf(content: string, length: number): number {
  const { SHORT_QUESTION, ...said } = textFlags;
  let flags = length < SHORT_LENGTH && content.trimEnd().endsWith('?') ? SHORT_QUESTION : 0;
  if (TEMPORAL.test(content)) flags |= said.TEMPORAL;
  if (NAMED.test(content)) flags |= said.NAMED;
  if (INSTRUCTION.test(content)) flags |= said.INSTRUCTION;
  if (PREFERENCE.test(content)) flags |= said.PREFERENCE;
  return flags;
}

const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'tool']);

/** Whether what stands for a speaker is a role, and so no name. */
export const isRole = (speaker: string): boolean => ROLES.has(speaker.toLowerCase());

/** Longer ones say something. */
const MAX_BARE = 200;

/** The words of a text that says nothing else than stop words, such as the name of a band: it is found by those. */
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
