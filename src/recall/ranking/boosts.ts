/** What a candidate's score is multiplied by: for who says it, when, and what kind of thing it says. */
import { isRole, isWithin, textFlags } from '../../text/index.js';
import type { Question } from './question.js';

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
  | 'spread'
  /** By its vector: see fusion.ts. */
  | 'similar';

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
  /** The number of its terms. */
  readonly length: number;
}

/** Said by whom the question names. */
const SPEAKER = 1.8;
/** Not said by the user: long answers repeat what they are about. One that is as short as a question is as good. */
const OTHER_ROLE = 0.7;
const LONG_ANSWER = 30;
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

const DAY_MS = 86_400_000;
function roleFactor({ asks }: Question, role: string | null, length: number): number {
  if (role === null || role === 'user') return 1;
  if (role === 'assistant' && (asks.summary || asks.you)) return OTHER_ROLE_ASKED;
  return length > LONG_ANSWER ? OTHER_ROLE : 1;
}

/** Whether a moment is on a date that the question names; asked once for each day. */
function onDates({ dates }: Question): (at: number) => boolean {
  const known = new Map<number, boolean>();
  return (at) => {
    if (dates.length === 0) return false;
    const day = Math.floor(at / DAY_MS);
    let found = known.get(day);
    if (found === undefined) known.set(day, (found = dates.some((mention) => isWithin(mention, at))));
    return found;
  };
}

/** Calls back with each boost that applies to a candidate. */
export type EachBoost = (candidate: Boosted, found: (name: BoostName, factor: number) => void) => void;

/** For one question. */
export function boostsFor(question: Question, isNamed: (speaker: string) => boolean): EachBoost {
  const isOnDate = onDates(question);
  const { asks } = question;
  return ({ speaker, role, occurred_at, flags, length }, found) => {
    const says = (flag: number): boolean => (flags & flag) !== 0;
    // Between people who are known by name, none of them is the one who answers.
    const others = speaker === null || isRole(speaker) ? roleFactor(question, role, length) : 1;
    if (others !== 1) found('role', others);
    if (speaker !== null && isNamed(speaker)) found('speaker', SPEAKER);
    if (occurred_at !== null && isOnDate(occurred_at)) found('date', DATE);
    if (asks.when && says(textFlags.TEMPORAL)) found('temporal', TEMPORAL);
    if (asks.where && says(textFlags.NAMED)) found('place', PLACE);
    if (asks.advice && role !== 'assistant' && role !== 'tool') {
      if (says(textFlags.INSTRUCTION)) found('instruction', STANDING);
      if (says(textFlags.PREFERENCE)) found('preference', STANDING);
    }
    if (says(textFlags.SHORT_QUESTION)) found('short_question', SHORT_QUESTION);
  };
}

/** The boost of a result that has so many better ones in its scope. */
export const spreadAfter = (better: number): Boost => ({ name: 'spread', factor: SPREAD ** better });
