/** The rules that compare statements: their score on labelled pairs, and how values and times are read. */
import { expect, it } from 'vitest';
import { type Moment, relate, type Statement, statementFrom } from '#cairn/recall/updating/relations.js';
import { type Outcome, type Pair, pairs } from './updating-corpus.js';

const TOLD = Date.parse('2026-11-19T12:00:00Z');

const momentOf = (given: string | null | undefined, told: number): Moment =>
  given ? { ms: Date.parse(given), given: true, day: true } : { ms: told, given: false, day: false };

const OUTCOMES = {
  same: 'strengthened',
  replaces: 'superseded',
  contradicts: 'contradictory',
  replaced: 'added',
  different: 'added',
} as const;

function judged({ known, told, speakers = [null, null], at = [null, null] }: Pair): {
  outcome: Outcome;
  before: string | undefined;
} {
  const old: Statement = statementFrom(known, speakers[0], momentOf(at[0], TOLD));
  const own: Statement = statementFrom(told, speakers[1], momentOf(at[1], TOLD + 60_000));
  const { relation, part } = relate(own, old);
  const outcome = relation === 'replaces' && !old.whole ? 'contradictory' : OUTCOMES[relation];
  return { outcome, before: part && known.slice(part.start, part.end) };
}

it('UPD-9 the rules judge the labelled pairs as people do', () => {
  const wrong = pairs.flatMap((pair) => {
    const { outcome, before } = judged(pair);
    const isRight = outcome === pair.outcome && (pair.before === undefined || before === pair.before);
    return isRight
      ? []
      : [`${pair.known} | ${pair.told}: ${outcome} (${before}), not ${pair.outcome} (${pair.before})`];
  });
  expect(wrong).toEqual([]);
});
