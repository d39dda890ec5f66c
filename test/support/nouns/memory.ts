/** Trajectories, scopes and turns for the tests of artifacts and notes. */
import type { Api } from '#cairn/client/index.js';

export const newTrajectory = async (cairn: Api): Promise<string> =>
  (await cairn.trajectories.create({ name: 'a task' })).trajectory_id;

/** An open scope with so many turns, which leaves no digest. */
export async function newScope(
  cairn: Api,
  trajectory_id: string,
  turns = 0,
): Promise<{ scope_id: string; turn_ids: string[] }> {
  const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'a scope', retain: 'nothing' });
  const turn_ids: string[] = [];
  for (let i = 0; i < turns; i++) {
    const { turn_id } = await cairn.turns.add({ scope_id, role: 'User', content: 'said', token_count: 1 });
    turn_ids.push(turn_id);
  }
  return { scope_id, turn_ids };
}

export const closeScope = async (cairn: Api, scope_id: string): Promise<void> => {
  await cairn.scopes.close({ scope_id, wait: true });
};

export const finishTrajectory = async (cairn: Api, trajectory_id: string): Promise<void> => {
  await cairn.trajectories.update({ trajectory_id, status: 'Completed' });
};

export const deleteTrajectory = (cairn: Api, trajectory_id: string): Promise<void> =>
  cairn.trajectories.delete({ trajectory_id, wait: true });
