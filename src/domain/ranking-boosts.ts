/** What a candidate's score is multiplied by: for who says it, when, and what kind of thing it says. */
import type { Question } from './question.js';
import { isWithin } from './question-dates.js';
import { textFlags } from './search-text.js';

export interface Boost {
  readonly name: BoostName;
  readonly factor: number;
}

export type BoostName =
  | 'speaker'
  | 'role'
  | 'date'
  | 'temporal'
  | 'place'
  | 'instruction'
  | 'preference'
  | 'short_question'
  | 'spread';

/** What the factors depend on. */
export interface Boosted {
  /** user, assistant, system or tool, for a turn. */
  readonly role: string | null;
  /** Who said it, by name. */
  readonly speaker: string | null;
  /** In ms. */
  readonly occurred_at: number | null;
  /** Of textFlags. */
  readonly flags: number;
}

/** Said by whom the question names. */
const SPEAKER = 1.8;
/** Not said by the user: answers are long and repeat what they are about. */
const OTHER_ROLE = 0.7;
/** The same where the question is for both sides, or for what was answered. */
const OTHER_ROLE_ASKED = 1.2;
const DATE = 1.3;
const TEMPORAL = 1.1;
const PLACE = 1.3;
/** What the user wants to be heeded, where something is to be done. */
const STANDING = 1.7;
const SHORT_QUESTION = 0.8;
/** For each better result of the same scope, where the question runs through many. */
const SPREAD = 0.9;

const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'tool']);

/** The name under which something was said; a role in its place is none. */
export const nameOf = ({ speaker }: Boosted): string | null =>
  speaker === null || ROLES.has(speaker.toLowerCase()) ? null : speaker;

function roleFactor({ asks }: Question, role: string | null): number {
  if (role === null || role === 'user') return 1;
  return role === 'assistant' && (asks.summary || asks.you) ? OTHER_ROLE_ASKED : OTHER_ROLE;
}

/** All that apply to one candidate, given whether the question names its speaker. */
export function boostsOf(question: Question, candidate: Boosted, isNamed: boolean): Boost[] {
  const boosts: Boost[] = [];
  const add = (name: BoostName, factor: number): void => {
    if (factor !== 1) boosts.push({ name, factor });
  };
  const { role, occurred_at, flags } = candidate;
  const says = (flag: number): boolean => (flags & flag) !== 0;
  if (isNamed) add('speaker', SPEAKER);
  // Between people who are known by name, none of them is the one who answers.
  if (nameOf(candidate) === null) add('role', roleFactor(question, role));
  if (occurred_at !== null && question.dates.some((mention) => isWithin(mention, occurred_at)))
    add('date', DATE);
  if (question.asks.when && says(textFlags.TEMPORAL)) add('temporal', TEMPORAL);
  if (question.asks.where && says(textFlags.NAMED)) add('place', PLACE);
  if (question.asks.advice && role !== 'assistant' && role !== 'tool') {
    if (says(textFlags.INSTRUCTION)) add('instruction', STANDING);
    if (says(textFlags.PREFERENCE)) add('preference', STANDING);
  }
  if (says(textFlags.SHORT_QUESTION)) add('short_question', SHORT_QUESTION);
  return boosts;
}

/** The boost of a result that has so many better ones in its scope. */
export const spreadAfter = (better: number): Boost => ({ name: 'spread', factor: SPREAD ** better });
