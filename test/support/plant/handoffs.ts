/** Handoffs for the generated tests. */
import type { Api } from '#cairn/api/index.js';

/**
 * One that can be answered, one that can be completed, and a receiver for another. Each has a trajectory of its own,
 * since a trajectory is offered once at a time.
 */
export async function plantHandoffs(cairn: Api, secret: string) {
  const to_agent_id = 'receiver-1';
  await cairn.agents.register({ agent_id: to_agent_id, agent_type: 'receiver', capabilities: ['work'] });
  const offer = async () => {
    const { trajectory_id } = await cairn.trajectories.create({ name: secret });
    return cairn.handoffs.create({
      from_agent_id: 'giver-1',
      to_agent_id,
      trajectory_id,
      reason: secret,
      next_steps: [secret],
      context_snapshot: Buffer.from(secret).toString('base64'),
    });
  };
  const { handoff_id } = await offer();
  const accepted = await cairn.handoffs.accept({ handoff_id: (await offer()).handoff_id });
  return { handoff_id, to_agent_id, 'handoffs.complete': { handoff_id: accepted.handoff_id } };
}
