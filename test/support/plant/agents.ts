/** An agent for the generated tests. */
import type { Api } from '#cairn/client/index.js';
import { agents } from '#cairn/identity/agents/contract.js';

/** Registered as the example registers one, so that registering it again is no conflict. */
export async function plantAgent(cairn: Api, secret: string): Promise<{ agent_id: string }> {
  const agent_id = 'reviewer';
  const { agent_type, capabilities } = agents.register.example;
  await cairn.agents.register({ agent_id, agent_type, capabilities: [...capabilities] });
  // It must not fall silent while tests look whether anything has changed.
  await cairn.agents.update({ agent_id, metadata: { about: secret }, offline_after_ms: 7 * 24 * 3_600_000 });
  return { agent_id };
}
