/** Use case trajectories.update: finishing a trajectory also ends its task and finishes trajectories that wait for it. */
import type { In } from '../../engine/contract.js';
import { type Call, change, startErasure, storedReplay, type Work } from '../../engine/index.js';
import { triggers } from '../scopes/triggers.js';
import { checkFinish } from './ending.js';
import { finishingHooks } from './ending-hooks.js';
import type { Trajectory } from './model.js';
import { checkMove, type FinalStatus, isFinal } from './rules.js';
import { type Changed, type PreparedPatch, preparePatch, readAgain, updateIn } from './service.js';
import { findTrajectory, isFinished } from './store.js';

export async function updateWithTask(work: Work, prepared: PreparedPatch): Promise<Changed> {
  const { trajectory_id, patch } = prepared;
  const { status } = patch;
  if (status === undefined || !isFinal(status)) return updateIn(work, prepared);
  const tasks = finishingHooks.get('tasks');
  const stopped = await tasks.end(work, trajectory_id, status);
  const { trajectory, ended } = await updateIn(work, prepared);
  const above = await tasks.finishAbove(work, trajectory_id);
  return { trajectory, ended: [...stopped, ...ended, ...above] };
}

/** Lets policies work on the scopes before they close, unless finishing is going to be refused. */
async function runPolicies(call: Call, input: In<'trajectories.update'>, status: FinalStatus): Promise<void> {
  const { trajectory_id, outcome } = input;
  if ((await storedReplay(call, input)) !== undefined) return;
  await triggers.get('policies').beforeClosing(call, { trajectory_ids: [trajectory_id] }, async (query) => {
    const row = await findTrajectory(query, trajectory_id);
    if (!row || row.deleted_at !== null || isFinished(row)) return;
    await finishingHooks.get('tasks').check(call, query, trajectory_id, status);
    checkMove(trajectory_id, row.status, status);
    await checkFinish(call, query, { trajectory_id, status, outcome }, call.driver.now());
  });
}

export async function update(call: Call, input: In<'trajectories.update'>): Promise<Trajectory> {
  const { trajectory_id, ...patch } = input;
  const prepared = preparePatch(trajectory_id, patch);
  if (patch.status !== undefined && isFinal(patch.status)) await runPolicies(call, input, patch.status);
  const { trajectory, ended } = await change<Changed>(call, {
    input,
    bytes: prepared.bytes,
    work: (work) => updateWithTask(work, prepared),
    remember: () => trajectory_id,
    again: async (query) => ({ trajectory: await readAgain(call, query, trajectory_id), ended: [] }),
  });
  if (ended.length > 0) startErasure(call, ended);
  return trajectory;
}
