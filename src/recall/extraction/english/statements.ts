/** How alike two statements are: by the stems of their words, unless they differ in a number or in yes and no. */
import { analyse } from '../../../text/index.js';

export interface Statement {
  readonly text: string;
  /** Each once. */
  readonly stems: ReadonlySet<string>;
  /** The numbers in it, in order, as one text. */
  readonly numbers: string;
  readonly negated: boolean;
}

const NEGATION =
  /\b(?:not|never|no|none|nothing|nobody|neither|nor|without|cannot|avoid|stop(?:ped|s)?|[a-z]+n['’]t|dont|wont|cant|doesnt|isnt|didnt)\b/gi;

/** Whether it says no: an even number of negations says yes again. */
export const isNegated = (text: string): boolean => (text.match(NEGATION) ?? []).length % 2 === 1;

export function statementOf(text: string): Statement {
  return {
    text,
    stems: new Set(analyse(text)),
    numbers: (text.match(/\d+(?:[.,:]\d+)*/g) ?? []).join(' '),
    negated: isNegated(text),
  };
}

/** How many stems both have. */
export function shared(a: Statement, b: Statement): number {
  const [few, many] = a.stems.size <= b.stems.size ? [a.stems, b.stems] : [b.stems, a.stems];
  let both = 0;
  for (const stem of few) if (many.has(stem)) both += 1;
  return both;
}

/** From 0 to 1: the stems that both have, of those that they have on average. */
export function overlap(a: Statement, b: Statement): number {
  const sizes = a.stems.size + b.stems.size;
  return sizes === 0 ? 0 : (2 * shared(a, b)) / sizes;
}

/** Both say the same, if their words are alike: neither another number, nor the contrary. */
export const agree = (a: Statement, b: Statement): boolean => a.negated === b.negated && a.numbers === b.numbers;
