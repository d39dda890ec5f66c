/** Which earlier values are meant by values that a statement gives anew. */

import { type Mention, specificTerms } from './value-contexts.js';
import type { StatedValue } from './values.js';

/** A statement as it was read. */
export interface Statement {
  readonly source: number;
  readonly text: string;
  /** Whether an assistant or a tool says it. */
  readonly derived: boolean;
  /** Its own terms. */
  readonly own: ReadonlySet<string>;
  /** Terms of the question that its turn answers. */
  readonly asked: ReadonlySet<string>;
  /** Terms of its turn, and of the question that the turn answers. */
  readonly topic: ReadonlySet<string>;
}

/** Turns back in which a value without a common word can be meant. */
export const RECENT = 3;
/** A bare number corrects one with a unit only if it is of the same order. */
const SAME_ORDER = 5;

/** Values of one kind that a statement gives anew. */
export interface NewValues {
  readonly source: number;
  readonly mentions: readonly Mention[];
  /** The terms that tell what is corrected. */
  readonly about: ReadonlySet<string>;
  /** All terms of the statement. */
  readonly own: ReadonlySet<string>;
  /** Whether the statement says more than its value. */
  readonly says_more: boolean;
  /** Whether it says that it corrects. */
  readonly open: boolean;
}

interface Meant {
  readonly olds: readonly StatedValue[];
  readonly score: number;
  /** Number of common terms. */
  readonly common: number;
  /** Whether each is about something that the other lacks. */
  readonly apart: boolean;
  readonly inMonth: boolean;
  /** A bare answer to a question. */
  readonly bare: boolean;
  readonly accepted: boolean;
}

/** The values of an earlier statement that may be meant. */
export function meantBy(given: NewValues, other: Statement, stated: readonly Mention[]): Meant | undefined {
  const { about, open } = given;
  const now = given.mentions[0]!;
  const alike = stated.filter(
    (one) =>
      isComparable(now.value, one.value) ||
      // "How many guests?" – "30", later "34 guests".
      (one.value.kind === 'number' && other.asked.has(now.value.kind)),
  );
  // A statement that repeats one of the new values is not corrected.
  if (alike.some((one) => given.mentions.some(({ value }) => value.key === one.value.key))) return undefined;
  const reach = reachOf(other);
  const mentions = alike.filter(({ subject, dealing }) => {
    if (dealing !== undefined && now.dealing !== undefined && dealing !== now.dealing) return false;
    const others = subject === undefined ? reach : new Set([...reach, ...subject]);
    return ![...(now.subject ?? [])].some((term) => !hasTerm(others, term));
  });
  const olds = nearestOf(mentions, given.mentions);
  const old = olds[0];
  if (old === undefined) return undefined;
  const near = given.source - other.source <= RECENT;
  const months = new Set(given.mentions.map(({ value }) => value.month));
  const inMonth = now.value.kind === 'date' && old.value.month !== undefined && months.has(old.value.month);
  // What the rest of the sentence says is no part of the correction.
  const clause = new Set([...now.clause].filter((term) => about.has(term)));
  const common = [...about].filter((term) => hasTerm(reach, term)).length;
  const apart = isApart(clause, reach, specificTerms(old.clause), new Set([...given.own, ...about]));
  // A bare answer: "71" – "wait, 72".
  const bare = near && open && other.text.trim().length <= old.value.text.length + 1;
  // "Already did: 10 trucks, 30 days": nothing tells what it is about.
  const vague = clause.size === 0 && now.subject === undefined && !open && !inMonth;
  const alone = near && open && !given.says_more;
  const accepted =
    !vague && (bare || isMeant({ now, old: old.value, common, apart, near: near && open, inMonth, alone }));
  const local = [...now.clause].filter((term) => old.clause.has(term)).length;
  const score = common + local / 4 + (near ? 1 : 0) + (inMonth ? 2 : 0);
  return { olds: olds.map(({ value }) => value), score, common, apart, inMonth, bare, accepted };
}

interface Comparison extends Pick<Meant, 'common' | 'apart' | 'inMonth'> {
  readonly now: Mention;
  readonly old: StatedValue;
  /** A correction that follows soon. */
  readonly near: boolean;
  /** One that says nothing but its value. */
  readonly alone: boolean;
}

function isMeant({ now, old, common, apart, near, inMonth, alone }: Comparison): boolean {
  if (now.value.kind === 'number') {
    // A bare number is about an amount, or about what its subject has.
    if (old.kind !== 'number' && !/^(?:money|percent)/.test(old.kind) && now.subject === undefined) return false;
    return common > 0 && !apart && (old.kind !== 'number' || now.subject !== undefined);
  }
  return alone || ((inMonth || common > 0) && (near || !apart));
}

const BACKWARD =
  /^(?:(?:and|but|so|oh|ok|also|now|then)[,:.]? )*(?:he|she|it|they|this|that|these|those|his|her|its|their)(?:['’]\p{L}+)?\s/iu;

/** The terms that tell what a statement is about; those of its turn where it only points at them. */
export const reachOf = ({ text, own, asked, topic }: Statement): ReadonlySet<string> =>
  specificTerms(own).size === 0 || BACKWARD.test(text) ? topic : new Set([...own, ...asked]);

/** Of several values, those whose clauses share most with the new ones; none if nothing tells which is meant. */
function nearestOf(mentions: readonly Mention[], given: readonly Mention[]): readonly Mention[] {
  if (mentions.length <= 1 || mentions.length === given.length) return mentions;
  const common = mentions.map(({ clause }) => [...given[0]!.clause].filter((term) => clause.has(term)).length);
  const most = Math.max(...common);
  const nearest = mentions.filter((_, n) => common[n] === most);
  return nearest.length === 1 ? nearest : [];
}

/** Whether each side names something that the other lacks: the tent and the band. */
const isApart = (
  own: ReadonlySet<string>,
  reach: ReadonlySet<string>,
  clause: ReadonlySet<string>,
  all: ReadonlySet<string>,
): boolean => [...own].some((term) => !hasTerm(reach, term)) && [...clause].some((term) => !hasTerm(all, term));

const digitsOf = ({ key }: StatedValue): number => Number(key.replace(/\D/g, ''));

/** Whether a value may stand in place of another: of the same kind, or a bare number of the same order. */
function isComparable(now: StatedValue, old: StatedValue): boolean {
  if (now.kind === old.kind) return true;
  if (now.kind !== 'number' || /^(?:date|time|weekday|phone|code|label:.*)$/.test(old.kind)) return false;
  const ratio = digitsOf(now) / digitsOf(old);
  return ratio <= SAME_ORDER && ratio >= 1 / SAME_ORDER;
}

/** Whether topics have a term in common, besides one that is given. */
export const isRelated = (one: ReadonlySet<string>, other: ReadonlySet<string>, except: string): boolean =>
  [...one].some((term) => !except.toLowerCase().startsWith(term.slice(0, 4)) && hasTerm(other, term));

/** Whether a topic has a term, or a short form of it: "Zbig" for "Zbigniew". */
function hasTerm(topic: ReadonlySet<string>, term: string): boolean {
  if (topic.has(term)) return true;
  if (term.length < 4) return false;
  for (const one of topic) if (one.length >= 4 && (one.startsWith(term) || term.startsWith(one))) return true;
  return false;
}
