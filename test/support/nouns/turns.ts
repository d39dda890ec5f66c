/** Agent_turns for tests: profiles, what is dispatched for them, and how it ended. */
import type { Api } from '#cairn/client/index.js';
import type { AgentTurn } from '#cairn/coordination/agent-turns/model.js';

export const saveProfile = (cairn: Api, name: string) =>
  cairn.profiles.save({ name, system_prompt: `You are the ${name}.` });

/** Dispatches an agent_turn of a profile, which is made if needed. */
export async function launch(cairn: Api, profile_name: string, instruction: string): Promise<string> {
  await saveProfile(cairn, profile_name);
  const told = await cairn.pmo.launch_principal({ profile_name, instruction });
  if (told.status !== 'accepted') throw new Error(told.message);
  return told.agent_turn_id;
}

export const endOf = (cairn: Api, agent_turn_id: string): Promise<AgentTurn> =>
  cairn.agent_turns.get({ agent_turn_id, wait_ms: 20_000 });

export async function deliverableOf(cairn: Api, agent_turn_id: string): Promise<unknown> {
  const { deliverable_card_id: card_id } = await endOf(cairn, agent_turn_id);
  return card_id === null ? undefined : (await cairn.cards.get({ card_id })).content;
}
