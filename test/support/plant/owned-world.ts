/** One of everything that an agent can own, for the generated tests of what agents may touch. */
import type { Api, Planted } from '../contract.js';

const DAY_MS = 24 * 3_600_000;

export interface Owner {
  readonly agent_id: string;
  /** Acts as the agent, which has all rights while its world is made. */
  readonly api: Api;
  /** Is in all that the agent says, and in no id. */
  readonly secret: string;
}

const SNAPSHOT = (secret: string) => ({
  thought_chain: {
    steps: [{ id: 'thought', type: 'planning' as const, content: secret, confidence: 0.5, children: [], timestamp: 1 }],
  },
  context: { messages: [{ role: 'user' as const, content: secret }], variables: { about: secret } },
  tool_state: {
    pending: [],
    completed: [{ tool_id: 'shell', arguments: {}, result: secret, success: false, duration_ms: 5, timestamp: 1 }],
  },
});

async function memoryOf({ api, secret }: Owner): Promise<Planted> {
  const about = { metadata: { about: secret } };
  const task = await api.trajectories.create({ name: secret, description: secret, ...about });
  const { trajectory_id } = task;
  const window = { trajectory_id, name: secret, purpose: secret, ...about };
  const { scope_id, box_id } = await api.scopes.create(window);
  const { turn_id } = await api.turns.add({ scope_id, role: 'User', content: { said: secret } });
  await api.scopes.checkpoint({ scope_id, context_state: Buffer.from(secret).toString('base64') });
  const place = { trajectory_id, scope_id };
  const { artifact_id } = await api.artifacts.create({
    ...place,
    artifact_type: 'Fact',
    name: secret,
    content: secret,
  });
  const { note_id } = await api.notes.create({
    note_type: 'Fact',
    title: secret,
    content: { said: secret },
    source_trajectory_ids: [trajectory_id],
  });
  const participants = [
    { entity_type: 'Note' as const, entity_id: note_id },
    { entity_type: 'Artifact' as const, entity_id: artifact_id },
  ];
  const { edge_id } = await api.edges.create({ edge_type: 'Supports', participants, ...about });
  const trigger = { type: 'TurnCount' as const, count: 1 };
  const { policy_id } = await api.summarization_policies.create({ trigger, scope_id, name: secret });
  await api.turns.add({ scope_id, role: 'User', content: secret });
  const { jobs } = await api.jobs.list({ scope_id });
  return {
    ...place,
    turn_id,
    artifact_id,
    note_id,
    edge_id,
    participants: [...participants].reverse(),
    policy_id,
    job_id: jobs[0]!.job_id,
    turns_box_id: box_id,
    parent_trajectory_id: trajectory_id,
  };
}

async function factsOf({ api, secret }: Owner, trajectory_id: string): Promise<Planted> {
  const content = { said: secret };
  const [first, second] = [await api.cards.add({ content }), await api.cards.add({ content })];
  const card_ids = [first.card_id, second.card_id];
  const { box_id } = await api.boxes.create({ card_ids, metadata: { about: secret } });
  const packet = await api.packets.write({
    packet_type: 'event',
    payload: content,
    thread_id: trajectory_id,
    tags: ['hdpe'],
  });
  const { execution_id } = await api.executions.create({ trajectory_id, name: secret });
  const one = await api.checkpoints.create({ execution_id, snapshot: SNAPSHOT(secret), name: secret });
  const two = await api.checkpoints.create({ execution_id, snapshot: SNAPSHOT(secret) });
  const assemble = (user_input: string) => api.context.assemble({ trajectory_id, user_input, include_notes: false });
  const [context, other] = [await assemble(secret), await assemble(`${secret}, again`)];
  return {
    card_id: first.card_id,
    card_ids,
    box_id,
    box_ids: [box_id],
    packet_id: packet.packet_id,
    thread_id: trajectory_id,
    execution_id,
    checkpoint_id: one.id,
    to: two.id,
    manifest_id: context.manifest_id,
    against: other.manifest_id,
  };
}

/** Work between the agent and others that it made for it. The tenant's key stands in for their workers. */
async function workOf({ api, agent_id, secret }: Owner, tenant: Api): Promise<Planted> {
  const name = `${agent_id}-${Math.random()}`;
  await api.profiles.create({ name, description: 'told to all', system_prompt: secret });
  const pack_arguments = [{ arg_key: 'instruction', card_metadata: { about: secret } }];
  await api.handovers.save({ name, handover: { context_packing_config: { pack_arguments } } });
  const target = { target_strategy: 'new' as const, target_ref: name, instruction: secret };
  const forked = (await api.pmo.fork_join({ tasks: [target] })) as { batch_id: string };
  const done = (await api.pmo.delegate_async(target)) as { agent_turn_id: string };
  const { agent_turn_id } = done;
  const claim = { worker_id: 'worker', agent_turn_id, lease_ms: DAY_MS };
  const { turn_epoch } = (await tenant.agent_turns.claim(claim)).agent_turn!;
  const metadata = { type: 'agent.thought', role: 'assistant' };
  await tenant.agent_turns.append({ agent_turn_id, turn_epoch, cards: [{ content: secret, metadata }] });
  await tenant.agent_turns.hydrate({ agent_turn_id, turn_epoch });
  const receiver = `receiver-${Math.random()}`;
  await tenant.agents.register({ agent_id: receiver, agent_type: 'receiver', capabilities: ['work'] });
  const offered = async () => (await api.trajectories.create({ name: secret })).trajectory_id;
  const { delegation_id } = await api.delegations.create({
    to_agent_id: receiver,
    trajectory_id: await offered(),
    task_description: secret,
  });
  const { handoff_id } = await api.handoffs.create({
    to_agent_id: receiver,
    trajectory_id: await offered(),
    reason: secret,
  });
  const { message_id } = await tenant.messages.send({
    from_agent_id: receiver,
    to_agent_id: agent_id,
    message_type: 'note',
    payload: secret,
  });
  const { lock_id } = await api.locks.acquire({
    resource_type: 'file',
    resource_id: `${secret} ${Math.random()}`,
    lease_ms: DAY_MS,
  });
  // Asked by a worker in a task of the agent: the agent delegated it, and may answer.
  const asking = (await api.pmo.delegate_async(target)) as { agent_turn_id: string };
  const asker = await tenant.agent_turns.claim({ worker_id: 'worker', agent_turn_id: asking.agent_turn_id });
  const { pause_id } = await tenant.pauses.create({
    agent_turn_id: asking.agent_turn_id,
    turn_epoch: asker.agent_turn!.turn_epoch,
    question: secret,
    details: { about: secret },
  });
  const gone = await api.cards.add({ content: secret });
  const { erasure_id } = await tenant.memory.forget({ ids: [gone.card_id] });
  const { card_id: spare } = await api.cards.add({ content: secret });
  const named = (group: string, verbs: readonly string[]) =>
    Object.fromEntries(verbs.map((verb) => [`${group}.${verb}`, { name }]));
  return {
    ...named('profiles', ['get', 'save', 'delete']),
    ...named('handovers', ['get', 'save', 'delete']),
    profile_name: name,
    batch_id: forked.batch_id,
    agent_turn_id,
    turn_epoch,
    delegation_id,
    handoff_id,
    message_id,
    pause_id,
    lock_id,
    to_agent_id: receiver,
    target_ref: name,
    erasure_id,
    'memory.forget': { ids: [spare] },
  };
}

/** Makes one of everything as the agent; ids by the names that inputs have for them. */
export async function plantOwned(owner: Owner, tenant: Api): Promise<Planted> {
  const memory = await memoryOf(owner);
  const facts = await factsOf(owner, memory.trajectory_id as string);
  const work = await workOf(owner, tenant);
  const asked = { query: owner.secret };
  return {
    ...memory,
    ...facts,
    ...work,
    agent_id: owner.agent_id,
    entity_id: memory.note_id,
    entity_type: 'Note',
    'search.query': asked,
    'notes.search': asked,
    'artifacts.search': asked,
    'memory.recall': asked,
  };
}
