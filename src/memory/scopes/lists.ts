/** Lists of the scopes of a trajectory and of the artifacts of a scope. */
import type { In, Out } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { list as listArtifacts } from '../artifacts/service.js';
import { openTrajectory } from '../trajectories/service.js';
import { readScope, scopePage } from './service.js';

export async function scopesOf(call: Call, input: In<'trajectories.scopes'>): Promise<Out<'trajectories.scopes'>> {
  const { trajectory_id } = input;
  await openTrajectory(call, call.driver.at(call.tenant), trajectory_id);
  return scopePage(call, input, { trajectory_id, times: {} }, { trajectory_id });
}

export async function artifactsOf(call: Call, input: In<'scopes.artifacts'>): Promise<Out<'scopes.artifacts'>> {
  await readScope(call, call.driver.at(call.tenant), input.scope_id);
  return listArtifacts(call, input);
}
