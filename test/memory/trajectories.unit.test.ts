/** The pure rules of trajectories: their states, and the order of their tree. */
import { describe, expect, it } from 'vitest';
import { trajectoryStatus } from '#cairn/memory/trajectories/model.js';
import { checkMove, isFinal, mayMove } from '#cairn/memory/trajectories/rules.js';
import { depthFirst, withinLimit } from '#cairn/memory/trajectories/tree-order.js';

const all = trajectoryStatus.options;

describe('the states of a trajectory', () => {
  it('have these moves and no others', () => {
    const moves = all.flatMap((from) => all.filter((to) => mayMove(from, to)).map((to) => `${from} ${to}`));
    expect(moves.sort()).toEqual(
      [
        ...all.map((same) => `${same} ${same}`),
        'Active Completed',
        'Active Failed',
        'Active Suspended',
        'Suspended Active',
        'Suspended Failed',
      ].sort(),
    );
  });

  it('are final when no move leads on', () => {
    expect(all.filter(isFinal)).toEqual(['Completed', 'Failed']);
  });

  it('say where a refused move might have gone', () => {
    const refused = (action: () => void) => {
      try {
        action();
      } catch (error) {
        return error;
      }
      throw new Error('it was not refused');
    };
    expect(refused(() => checkMove('t', 'Suspended', 'Completed'))).toMatchObject({
      code: 'STATE_CONFLICT',
      message: 'trajectory t is Suspended and cannot become Completed: it can become Active or Failed',
      details: { status: 'Suspended' },
    });
    expect(refused(() => checkMove('t', 'Failed', 'Active'))).toMatchObject({
      message: 'trajectory t is Failed and cannot become Active: it is finished',
    });
    expect(() => checkMove('t', 'Failed', 'Failed')).not.toThrow();
  });
});

describe('a tree of trajectories', () => {
  const order = (...pairs: [string, string | null][]) =>
    depthFirst(
      pairs,
      ([id]) => id,
      ([, parent]) => parent,
    ).map(({ id, depth }) => `${id}${depth}`);

  it('is walked depth first, whatever order its rows come in', () => {
    expect(order(['c', 'a'], ['d', 'b'], ['b', 'a'], ['a', null], ['e', 'b'])).toEqual(['a0', 'c1', 'b1', 'd2', 'e2']);
    expect(order()).toEqual([]);
  });

  it('has at the top what hangs under something that is not there', () => {
    expect(order(['b', 'missing'], ['c', 'b'], ['a', null])).toEqual(['b0', 'c1', 'a0']);
  });

  it('may be deeper than calls can be', () => {
    const chain = Array.from({ length: 50_000 }, (_, i): [string, string | null] => [
      `${i}`,
      i === 0 ? null : `${i - 1}`,
    ]);
    expect(order(...chain.slice(0, 3))).toEqual(['00', '11', '22']);
    const placed = depthFirst(
      chain,
      ([id]) => id,
      ([, parent]) => parent,
    );
    expect(placed.at(-1)).toEqual({ id: '49999', depth: 49_999 });
  });

  it('is reached as far as there are nodes left', () => {
    const placed = ['a', 'b', 'c'].map((id) => ({ id, depth: 0 }));
    const sizes = new Map([
      ['a', 2],
      ['b', 3],
    ]);
    const reached = (limit: number) => {
      const answer = withinLimit(placed, sizes, limit);
      return [answer.included.map(({ id }) => id).join(''), answer.complete];
    };
    expect([1, 2, 3, 4, 7, 8, 9].map(reached)).toEqual([
      ['a', false],
      ['a', false],
      ['a', false],
      ['ab', false],
      ['ab', false],
      ['abc', true],
      ['abc', true],
    ]);
  });
});
