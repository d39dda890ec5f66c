/** An agent for the generated tests. */
import { agents } from '#cairn/contract/agents.js';
import type { Api } from '#cairn/contract/api.js';

/** Registered as the example registers one, so that registering it again is no conflict. */
export async function plantAgent(cairn: Api, secret: string): Promise<{ agent_id: string }> {
  const agent_id = 'reviewer';
  const { agent_type, capabilities } = agents.register.example;
  await cairn.agents.register({ agent_id, agent_type, capabilities: [...capabilities] });
  await cairn.agents.update({ agent_id, metadata: { about: secret } });
  return { agent_id };
}
