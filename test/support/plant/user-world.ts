/** One of everything that can be about a user, for the generated test that no user reaches what is about another. */
import type { Api, Planted } from '../contract.js';

export interface World {
  /** Writes it: as a user, or for the tenant. */
  readonly api: Api;
  /** Is in all its content, and in no id. */
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

async function plantMemories({ api, secret }: World): Promise<Planted> {
  const about = { metadata: { about: secret } };
  const { trajectory_id } = await api.trajectories.create({ name: secret, description: secret, ...about });
  const { scope_id, box_id } = await api.scopes.create({ trajectory_id, name: secret, purpose: secret, ...about });
  const { turn_id } = await api.turns.add({
    scope_id,
    role: 'User',
    content: `We decided to use ${secret} for billing.`,
  });
  await api.scopes.checkpoint({ scope_id, context_state: Buffer.from(secret).toString('base64') });
  const place = { trajectory_id, scope_id };
  const fact = { ...place, artifact_type: 'Fact', name: secret, content: secret };
  const { artifact_id } = await api.artifacts.create(fact);
  const { note_id } = await api.notes.create({
    note_type: 'Fact',
    title: secret,
    content: { said: secret },
    source_trajectory_ids: [trajectory_id],
  });
  await api.notes.update({ note_id, content: { said: secret, again: true } });
  const participants = [
    { entity_type: 'Note' as const, entity_id: note_id },
    { entity_type: 'Artifact' as const, entity_id: artifact_id },
  ];
  const { edge_id } = await api.edges.create({ edge_type: 'Supports', participants, ...about });
  await api.scopes.summarize({ scope_id });
  const { job_id } = await api.scopes.extract({ scope_id });
  await api.memory.remember({ text: `Of the two, ${secret} is the better one.` });
  await api.memory.remember({ text: `I like ${secret} more.`, as: 'turn' });
  const opened = await api.scopes.create({ trajectory_id, name: secret });
  await api.turns.add({ scope_id: opened.scope_id, role: 'User', content: `My office is in ${secret}.` });
  await api.scopes.close({ scope_id: opened.scope_id });
  return {
    ...place,
    turn_id,
    artifact_id,
    note_id,
    edge_id,
    job_id,
    participants: [...participants].reverse(),
    turns_box_id: box_id,
    parent_trajectory_id: trajectory_id,
  };
}

async function plantFacts({ api, secret }: World, trajectory_id: string): Promise<Planted> {
  const content = { said: secret };
  const [first, second] = [await api.cards.add({ content }), await api.cards.add({ content })];
  const card_ids = [first.card_id, second.card_id];
  const { box_id } = await api.boxes.create({ card_ids, metadata: { about: secret } });
  const event = { packet_type: 'event', payload: content, thread_id: trajectory_id, tags: ['hdpe'] };
  const { packet_id } = await api.packets.write(event);
  const { execution_id } = await api.executions.create({ trajectory_id, name: secret });
  const one = await api.checkpoints.create({ execution_id, snapshot: SNAPSHOT(secret), name: secret });
  const two = await api.checkpoints.create({ execution_id, snapshot: SNAPSHOT(secret) });
  const assemble = (user_input: string) => api.context.assemble({ trajectory_id, user_input });
  const [context, other] = [await assemble(secret), await assemble(`${secret}, again`)];
  return {
    card_id: first.card_id,
    card_ids,
    box_id,
    box_ids: [box_id],
    packet_id,
    parent_id: packet_id,
    thread_id: trajectory_id,
    execution_id,
    checkpoint_id: one.id,
    to: two.id,
    manifest_id: context.manifest_id,
    against: other.manifest_id,
  };
}

/** Makes one of everything; ids by the names that inputs have for them. */
export async function plantWorld(world: World): Promise<Planted> {
  const memories = await plantMemories(world);
  const facts = await plantFacts(world, memories.trajectory_id as string);
  const asked = { query: world.secret };
  return {
    ...memories,
    ...facts,
    agent_id: 'agent',
    entity_id: memories.note_id,
    entity_type: 'Note',
    'search.query': asked,
    'notes.search': asked,
    'artifacts.search': asked,
    'memory.recall': asked,
  };
}
