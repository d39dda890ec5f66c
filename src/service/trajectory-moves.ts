/** Changing a trajectory as its caller asks: its agent_turn agrees with it, and what waited for it above finishes. */
import type { z } from 'zod';
import type { trajectories as operations } from '../contract/trajectories.js';
import { isFinal } from '../domain/trajectory-states.js';
import type { Tx } from '../driver/driver.js';
import { CairnError } from '../model/errors.js';
import type { Trajectory } from '../model/trajectory.js';
import { turnsUnderWayIn } from '../store/task-removal.js';
import { activeChildren, findTrajectory, isFinished } from '../store/trajectories.js';
import { endTurns, lockForEnding, type TurnEnd } from './agent-turn-ending.js';
import { workBeforeClosing } from './closing-jobs.js';
import { startErasure } from './erasure.js';
import { refuseFormerOwner } from './former-owners.js';
import type { Call } from './runtime.js';
import { finishAbove } from './task-trajectories.js';
import { type Changed, type PreparedPatch, preparePatch, read, updateIn } from './trajectories.js';
import { change, keptAnswer } from './write.js';

type In<V extends keyof typeof operations> = z.output<(typeof operations)[V]['input']>;

const FAILED: TurnEnd = {
  status: 'stopped',
  error: { code: 'TRAJECTORY_FAILED', message: 'its trajectory was made Failed' },
};

/** One that fails takes its task with it, which is locked before it; one whose task is under way is not completed. */
async function endTaskOf(
  call: Call,
  tx: Tx,
  trajectory_id: string,
  status: 'Completed' | 'Failed',
  now: number,
): Promise<readonly string[]> {
  const turns = await turnsUnderWayIn(tx, call.tenant, [trajectory_id]);
  if (turns.length === 0) return [];
  await refuseFormerOwner(call, tx, trajectory_id);
  if (status === 'Completed') {
    throw new CairnError(
      'STATE_CONFLICT',
      `trajectory ${trajectory_id} is that of agent_turn ${turns[0]}, which is under way: complete that, or stop it`,
      { agent_turn_id: turns[0]! },
    );
  }
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

/** What policies make of its scopes is made before they close with it, unless it will not finish anyway. */
async function workBefore(call: Call, input: In<'update'>): Promise<void> {
  const { driver, tenant } = call;
  if ((await keptAnswer(call, input)) !== undefined) return;
  const row = await findTrajectory(driver.at(tenant), tenant, input.trajectory_id);
  if (!row || row.deleted_at !== null || isFinished(row)) return;
  const active = await activeChildren(driver.at(tenant), tenant, input.trajectory_id, 1);
  if (input.status === 'Completed' && active.length > 0) return;
  await workBeforeClosing(call, { trajectory_ids: [input.trajectory_id] });
}

export async function update(call: Call, input: In<'update'>): Promise<Trajectory> {
  const { trajectory_id, ...patch } = input;
  const prepared = preparePatch(trajectory_id, patch);
  if (patch.status !== undefined && isFinal(patch.status)) await workBefore(call, input);
  const { trajectory, ended } = await change<Changed>(call, {
    input,
    bytes: prepared.bytes,
    work: (tx, now) => moveIn(call, tx, prepared, now),
    remember: () => trajectory_id,
    again: async (query) => ({ trajectory: await read(call, query, trajectory_id), ended: [] }),
  });
  if (ended.length > 0) startErasure(call, ended);
  return trajectory;
}
