/** Lists that start at a trajectory or scope: what is in it. */
import type { z } from 'zod';
import type { Call } from '../../engine/index.js';
import { list as listArtifacts } from '../artifacts/service.js';
import type { trajectories } from '../trajectories/contract.js';
import { openTrajectory } from '../trajectories/service.js';
import type { scopes } from './contract.js';
import { readScope, scopePage } from './service.js';

type InTrajectory = z.output<(typeof trajectories)['scopes']['input']>;
type Scopes = z.output<(typeof trajectories)['scopes']['output']>;
type InScope = z.output<(typeof scopes)['artifacts']['input']>;
type Artifacts = z.output<(typeof scopes)['artifacts']['output']>;

export async function scopesOf(call: Call, { trajectory_id, ...page }: InTrajectory): Promise<Scopes> {
  await openTrajectory(call, call.driver.at(call.tenant), trajectory_id);
  return scopePage(call, page, { trajectory_id, times: {} }, { trajectory_id });
}

export async function artifactsOf(call: Call, input: InScope): Promise<Artifacts> {
  await readScope(call, call.driver.at(call.tenant), input.scope_id);
  return listArtifacts(call, input);
}
