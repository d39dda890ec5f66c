/** Delegations for the generated tests. */
import type { Api } from '#cairn/client/index.js';

/** One that can be answered, and accepted ones of other agents, since an agent does one thing at a time. */
export async function plantDelegations(cairn: Api, secret: string) {
  const offer = async (to_agent_id: string): Promise<{ delegation_id: string }> => {
    await cairn.agents.register({ agent_id: to_agent_id, agent_type: 'delegatee', capabilities: ['work'] });
    const { trajectory_id } = await cairn.trajectories.create({ name: secret });
    const { delegation_id } = await cairn.delegations.create({
      from_agent_id: 'delegator-1',
      to_agent_id,
      trajectory_id,
      task_description: secret,
      context: { about: secret },
    });
    return { delegation_id };
  };
  const accepted = async (to_agent_id: string): Promise<{ delegation_id: string }> => {
    const { delegation_id } = await cairn.delegations.accept(await offer(to_agent_id));
    return { delegation_id };
  };
  const to_agent_id = 'delegatee-1';
  return {
    ...(await offer(to_agent_id)),
    to_agent_id,
    'delegations.start': await accepted('delegatee-2'),
    'delegations.complete': await accepted('delegatee-3'),
  };
}
