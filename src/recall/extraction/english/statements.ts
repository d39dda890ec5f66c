/** Similarity of two statements by their stems, numbers and negation. */
import { analyse } from '../../../text/index.js';

export interface Statement {
  readonly text: string;
  readonly stems: ReadonlySet<string>;
  /** Its numbers in order, joined. */
  readonly numbers: string;
  readonly negated: boolean;
}

const NEGATION =
  /\b(?:not|never|no|none|nothing|nobody|neither|nor|without|cannot|avoid|stop(?:ped|s)?|[a-z]+n['’]t|dont|wont|cant|doesnt|isnt|didnt)\b/gi;

/** Whether the number of negations is odd. */
export const isNegated = (text: string): boolean => (text.match(NEGATION) ?? []).length % 2 === 1;

export const statementOf = (text: string): Statement => ({
  text,
  stems: new Set(analyse(text)),
  numbers: (text.match(/\d+(?:[.,:]\d+)*/g) ?? []).join(' '),
  negated: isNegated(text),
});

/** Number of common stems. */
export function shared(a: Statement, b: Statement): number {
  const [few, many] = a.stems.size <= b.stems.size ? [a.stems, b.stems] : [b.stems, a.stems];
  let both = 0;
  for (const stem of few) if (many.has(stem)) both += 1;
  return both;
}

/** Common stems relative to the average number of stems (Dice coefficient), from 0 to 1. */
export function overlap(a: Statement, b: Statement): number {
  const sizes = a.stems.size + b.stems.size;
  return sizes === 0 ? 0 : (2 * shared(a, b)) / sizes;
}

/** Whether similar words mean the same: equal numbers and negation. */
export const agree = (a: Statement, b: Statement): boolean => a.negated === b.negated && a.numbers === b.numbers;
