/** Factors of a candidate's score: by its speaker, its time and the kind of its statement. */
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
  /** By the turn that it answers (replies.ts). */
  | 'reply'
  /** By words that the best results share (second-hop.ts). */
  | 'linked'
  /** By its vector (fusion.ts). */
  | 'similar';

export interface Boosted {
  /** Of a turn: user, assistant, system or tool. */
  readonly role: string | null;
  readonly speaker: string | null;
  readonly occurred_at: number | null;
  /** `textFlags` */
  readonly flags: number;
  /** In terms. */
  readonly length: number;
}

/** The question names its speaker. */
const SPEAKER = 1.8;
/** A long text that is not the user's: long answers repeat their subject. */
const OTHER_ROLE = 0.7;
const LONG_ANSWER = 30;
/** An assistant's text, if the question asks for both sides or for answers. */
const OTHER_ROLE_ASKED = 1.2;
const DATE = 1.3;
const TEMPORAL = 1.1;
const PLACE = 1.3;
/** A standing instruction or preference of the user, if the question asks for advice. */
const STANDING = 1.7;
const SHORT_QUESTION = 0.8;
/** Per better result of the same scope, if the question is broad. */
const SPREAD = 0.9;

const DAY_MS = 86_400_000;

function roleFactor({ asks }: Question, role: string | null, length: number): number {
  if (role === null || role === 'user') return 1;
  if (role === 'assistant' && (asks.summary || asks.you)) return OTHER_ROLE_ASKED;
  return length > LONG_ANSWER ? OTHER_ROLE : 1;
}

/** Whether a time is on a date that the question names, memoised by day. */
function onDates({ dates }: Question): (at: number) => boolean {
  if (dates.length === 0) return () => false;
  const known = new Map<number, boolean>();
  return (at) => {
    const day = Math.floor(at / DAY_MS);
    let found = known.get(day);
    if (found === undefined) known.set(day, (found = dates.some((mention) => isWithin(mention, at))));
    return found;
  };
}

/** Calls back with each boost that applies to a candidate. */
export type EachBoost = (candidate: Boosted, found: (name: BoostName, factor: number) => void) => void;

export function boostsFor(question: Question, isNamed: (speaker: string) => boolean): EachBoost {
  const isOnDate = onDates(question);
  const { asks } = question;
  return ({ speaker, role, occurred_at, flags, length }, found) => {
    const says = (flag: number): boolean => (flags & flag) !== 0;
    // Among speakers with names none is the assistant.
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

/** For a result with so many better ones in its scope. */
export const spreadAfter = (better: number): Boost => ({ name: 'spread', factor: SPREAD ** better });
