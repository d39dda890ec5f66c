/** The states of a trajectory and its transitions. A transition to the same state changes nothing. */
import { CairnError } from '../../kernel/index.js';
import type { TrajectoryStatus } from './model.js';

const MOVES: Readonly<Record<TrajectoryStatus, readonly TrajectoryStatus[]>> = {
  Active: ['Completed', 'Failed', 'Suspended'],
  Suspended: ['Active', 'Failed'],
  Completed: [],
  Failed: [],
};

export type FinalStatus = Extract<TrajectoryStatus, 'Completed' | 'Failed'>;

export const isFinal = (status: TrajectoryStatus): status is FinalStatus => MOVES[status].length === 0;

export const mayMove = (from: TrajectoryStatus, to: TrajectoryStatus): boolean =>
  from === to || MOVES[from].includes(to);

export function checkMove(trajectory_id: string, from: TrajectoryStatus, to: TrajectoryStatus): void {
  if (mayMove(from, to)) return;
  const reason = isFinal(from) ? 'it is finished' : `it can become ${MOVES[from].join(' or ')}`;
  throw new CairnError('STATE_CONFLICT', `trajectory ${trajectory_id} is ${from} and cannot become ${to}: ${reason}`, {
    status: from,
  });
}
