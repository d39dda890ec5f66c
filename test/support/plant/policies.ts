/** A policy and a job for the generated tests. */
import type { Api } from '#cairn/client/index.js';

/** The job waits: nobody works in the background there. */
export async function plantPolicy(cairn: Api, secret: string) {
  const { trajectory_id } = await cairn.trajectories.create({ name: secret });
  const { scope_id } = await cairn.scopes.create({ trajectory_id, name: secret });
  const trigger = { type: 'TurnCount' as const, count: 1 };
  const { policy_id } = await cairn.summarization_policies.create({ trigger, scope_id, name: secret });
  await cairn.turns.add({ scope_id, role: 'User', content: secret });
  const { jobs } = await cairn.jobs.list({ scope_id });
  return { policy_id, job_id: jobs[0]!.job_id };
}
