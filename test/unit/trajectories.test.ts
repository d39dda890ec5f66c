/** The pure rules of trajectories: their states. */
import { describe, expect, it } from 'vitest';
import { checkMove, isFinal, mayMove } from '#cairn/domain/trajectory-states.js';
import { trajectoryStatus } from '#cairn/model/trajectory.js';

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
      message:
        'trajectory t is Suspended and cannot become Completed: from there it goes to Active or Failed',
      details: { status: 'Suspended' },
    });
    expect(refused(() => checkMove('t', 'Failed', 'Active'))).toMatchObject({
      message: 'trajectory t is Failed and cannot become Active: it is finished',
    });
    expect(() => checkMove('t', 'Failed', 'Failed')).not.toThrow();
  });
});
