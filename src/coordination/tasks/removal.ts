/** Deleting trajectories in which work is under way: their agent_turns are stopped, and what they offer is taken back. */
import type { Tx } from '../../driver/driver.js';
import type { Call } from '../../engine/calls/call.js';
import { idsBelow } from '../../memory/trajectories/removal-store.js';
import { endTurns, lockForEnding, type TurnEnd } from '../agent-turns/ending.js';
import type { AgentTurnView } from '../agent-turns/store.js';
import { endDelegation } from '../delegations/moves.js';
import { lockOffersIn } from '../delegations/store.js';
import { turnsUnderWayIn } from './store.js';

const REASON = 'its trajectory was deleted';
const DELETED: TurnEnd = { status: 'stopped', error: { code: 'TRAJECTORY_DELETED', message: REASON } };

export type LockedTasks = ReadonlyMap<string, AgentTurnView>;

/** Locks what is under way in a trajectory and below it, before those are locked. */
export async function lockTasksBelow(call: Call, tx: Tx, trajectory_id: string): Promise<LockedTasks> {
  const ids = await idsBelow(tx, call.tenant, trajectory_id);
  const turns = await turnsUnderWayIn(tx, call.tenant, ids);
  const locked = turns.length === 0 ? new Map() : await lockForEnding(call, tx, turns, DELETED.status);
  await lockOffersIn(tx, call.tenant, ids);
  return locked;
}

/** Ends it, now that nothing more can begin in these trajectories. Gives holders whose content is to be erased. */
export async function stopTasks(
  call: Call,
  tx: Tx,
  trajectory_ids: readonly string[],
  locked: LockedTasks,
  now: number,
): Promise<readonly string[]> {
  const { tenant } = call;
  const turns = await turnsUnderWayIn(tx, tenant, trajectory_ids);
  // What began while the trajectories were not locked yet is locked behind them: a deadlock is run again.
  const all = turns.every((id) => locked.has(id))
    ? locked
    : await lockForEnding(call, tx, turns, DELETED.status);
  const ends = new Map(turns.map((id) => [id, DELETED]));
  const holders = await endTurns(call, tx, all, ends, now, trajectory_ids);
  for (const offer of await lockOffersIn(tx, tenant, trajectory_ids)) {
    await endDelegation(call, tx, offer, { status: 'Cancelled', reason: REASON }, now);
  }
  return holders;
}
