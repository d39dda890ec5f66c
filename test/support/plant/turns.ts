/** A profile, a handover, a fork_join and an agent_turn at work, for the generated tests. */
import type { Api } from '#cairn/api/index.js';
import { handovers } from '#cairn/coordination/contract.js';
import { profiles } from '#cairn/facts/contract.js';

const DAY_MS = 24 * 3_600_000;

/** Made as the examples make them, so that making them again is no conflict. Nothing of it runs out while tests run. */
export async function plantTurns(cairn: Api, secret: string): Promise<Record<string, unknown>> {
  const profile_name = profiles.create.example.name;
  await cairn.profiles.create(profiles.create.example);
  await cairn.profiles.create({ name: 'of-this-tenant', description: secret, system_prompt: secret });
  const { name } = handovers.save.example;
  const pack_arguments = [{ arg_key: 'instruction', card_metadata: { about: secret } }];
  await cairn.handovers.save({ name, handover: { context_packing_config: { pack_arguments } } });
  const target = { target_strategy: 'new' as const, target_ref: profile_name, instruction: secret };
  const forked = await cairn.pmo.fork_join({ tasks: [target], deadline_seconds: 604_800 });
  const done = await cairn.pmo.delegate_async({ ...target, handover: name });
  if (forked.status !== 'accepted' || done.status !== 'accepted') throw new Error('nothing was dispatched');
  const { agent_turn_id, agent_id } = done;
  const { agent_turn } = await cairn.agent_turns.claim({ worker_id: 'worker-1', agent_turn_id, lease_ms: DAY_MS });
  await cairn.agents.update({ agent_id, offline_after_ms: 7 * DAY_MS });
  const { turn_epoch } = agent_turn!;
  const metadata = { type: 'agent.thought', role: 'assistant' };
  await cairn.agent_turns.append({ agent_turn_id, turn_epoch, cards: [{ content: secret, metadata }] });
  await cairn.agent_turns.hydrate({ agent_turn_id, turn_epoch });
  return {
    profile_name,
    ...Object.fromEntries(['get', 'save', 'delete'].map((verb) => [`profiles.${verb}`, { name: profile_name }])),
    ...Object.fromEntries(['get', 'save', 'delete'].map((verb) => [`handovers.${verb}`, { name }])),
    batch_id: forked.batch_id,
    agent_turn_id,
    turn_epoch,
  };
}
