/** The states of a trajectory and the moves between them. To the same state is always allowed and changes nothing. */
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

/** Refuses a move that is not among those of the state. */
export function checkMove(trajectory_id: string, from: TrajectoryStatus, to: TrajectoryStatus): void {
  if (mayMove(from, to)) return;
  const onward = isFinal(from) ? 'it is finished' : `from there it goes to ${MOVES[from].join(' or ')}`;
  throw new CairnError('STATE_CONFLICT', `trajectory ${trajectory_id} is ${from} and cannot become ${to}: ${onward}`, {
    status: from,
  });
}
