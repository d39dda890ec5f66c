/** Changing a trajectory as its caller asks: its agent_turn agrees with it, and what waited for it above finishes. */
import type { z } from 'zod';
import { endTurns, lockForEnding, type TurnEnd } from '../../coordination/agent-turns/ending.js';
import { turnsUnderWayIn } from '../../coordination/tasks/store.js';
import { finishAbove } from '../../coordination/tasks/trajectories.js';
import type { Query, Tx } from '../../driver/driver.js';
import type { Call } from '../../engine/calls/call.js';
import { startErasure } from '../../engine/lifetimes/erasure.js';
import { change, keptAnswer } from '../../engine/writes/change.js';
import { CairnError } from '../../kernel/errors.js';
import { workBeforeClosing } from '../../recall/jobs/closing-jobs.js';
import type { trajectories as operations } from './contract.js';
import { checkFinish } from './ending.js';
import { refuseFormerOwner } from './former-owners.js';
import type { Trajectory } from './model.js';
import { checkMove, isFinal } from './rules.js';
import { type Changed, type PreparedPatch, preparePatch, readAgain, updateIn } from './service.js';
import { findTrajectory, isFinished } from './store.js';

type In<V extends keyof typeof operations> = z.output<(typeof operations)[V]['input']>;

const FAILED: TurnEnd = {
  status: 'stopped',
  error: { code: 'TRAJECTORY_FAILED', message: 'its trajectory was made Failed' },
};

/** The task of a trajectory that is under way. One that has such a task is not completed. */
async function taskOf(
  call: Call,
  query: Query,
  trajectory_id: string,
  status: 'Completed' | 'Failed',
): Promise<readonly string[]> {
  const turns = await turnsUnderWayIn(query, call.tenant, [trajectory_id]);
  if (turns.length === 0) return turns;
  await refuseFormerOwner(call, query, trajectory_id);
  if (status === 'Failed') return turns;
  throw new CairnError(
    'STATE_CONFLICT',
    `trajectory ${trajectory_id} is that of agent_turn ${turns[0]}, which is under way: complete that, or stop it`,
    { agent_turn_id: turns[0]! },
  );
}

/** One that fails takes its task with it, which is locked before it. */
async function endTaskOf(
  call: Call,
  tx: Tx,
  trajectory_id: string,
  status: 'Completed' | 'Failed',
  now: number,
): Promise<readonly string[]> {
  const turns = await taskOf(call, tx, trajectory_id, status);
  if (turns.length === 0) return [];
  const locked = await lockForEnding(call, tx, turns, FAILED.status);
  return endTurns(call, tx, locked, new Map(turns.map((id) => [id, FAILED])), now, [trajectory_id]);
}

export async function moveIn(call: Call, tx: Tx, prepared: PreparedPatch, now: number): Promise<Changed> {
  const { trajectory_id, patch } = prepared;
  const { status } = patch;
  if (status === undefined || !isFinal(status)) return updateIn(call, tx, prepared, now);
  const stopped = await endTaskOf(call, tx, trajectory_id, status, now);
  const { trajectory, ended } = await updateIn(call, tx, prepared, now);
  const above = await finishAbove(call, tx, trajectory_id, now);
  return { trajectory, ended: [...stopped, ...ended, ...above] };
}

/** What policies make of its scopes is made before they close with it; not where it is refused that it finishes. */
async function workBefore(call: Call, input: In<'update'>, status: 'Completed' | 'Failed'): Promise<void> {
  const { driver, tenant } = call;
  const { trajectory_id, outcome } = input;
  if ((await keptAnswer(call, input)) !== undefined) return;
  await workBeforeClosing(call, { trajectory_ids: [trajectory_id] }, async (query) => {
    const row = await findTrajectory(query, tenant, trajectory_id);
    if (!row || row.deleted_at !== null || isFinished(row)) return;
    await taskOf(call, query, trajectory_id, status);
    checkMove(trajectory_id, row.status, status);
    await checkFinish(call, query, { trajectory_id, status, outcome }, driver.now());
  });
}

export async function update(call: Call, input: In<'update'>): Promise<Trajectory> {
  const { trajectory_id, ...patch } = input;
  const prepared = preparePatch(trajectory_id, patch);
  if (patch.status !== undefined && isFinal(patch.status)) await workBefore(call, input, patch.status);
  const { trajectory, ended } = await change<Changed>(call, {
    input,
    bytes: prepared.bytes,
    work: (tx, now) => moveIn(call, tx, prepared, now),
    remember: () => trajectory_id,
    again: async (query) => ({ trajectory: await readAgain(call, query, trajectory_id), ended: [] }),
  });
  if (ended.length > 0) startErasure(call, ended);
  return trajectory;
}
