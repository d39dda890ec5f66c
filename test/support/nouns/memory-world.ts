/** Memory of every type by two agents in several trajectories, for tests of what one of them reaches. */
import type { Api } from '#cairn/client/index.js';
import type { MemoryType } from '#cairn/engine/contract.js';

export type Kind = Exclude<MemoryType, '*'>;
export const KINDS: readonly Kind[] = ['Turn', 'Artifact', 'Note', 'Card', 'Packet', 'Checkpoint'];

/**
 * Where something stands to ann: her own, though in bob's trajectory; bob's, in her trajectory; bob's, in the one that
 * she works in; bob's, in his.
 */
export const STANDINGS = ['own', 'in_hers', 'where_she_works', 'foreign'] as const;
export type Standing = (typeof STANDINGS)[number];

export interface World {
  readonly trajectories: Readonly<Record<'hers' | 'current' | 'his', string>>;
  /** The ids, by type and standing. */
  readonly ids: Readonly<Record<Kind, Readonly<Record<Standing, string>>>>;
  /** The scopes that the turns are in. */
  readonly scopes: Readonly<Record<Standing, string>>;
}

/** All of it says this. */
export const SAID = 'badger';

/** With a thought that has the id of its execution. */
const snapshotOf = (id: string) => ({
  thought_chain: {
    steps: [{ id, type: 'reasoning' as const, content: SAID, confidence: 1, children: [], timestamp: 1 }],
  },
  context: { messages: [], variables: {} },
  tool_state: { pending: [], completed: [] },
});

interface Place {
  readonly agent_id: string;
  readonly trajectory_id: string;
}

/** Makes one of a type, and gives its id. */
const makers: Record<Exclude<Kind, 'Turn'>, (cairn: Api, place: Place) => Promise<string>> = {
  Artifact: async (cairn, place) => {
    const made = await cairn.artifacts.create({ ...place, artifact_type: 'Fact', name: 'n', content: SAID });
    return made.artifact_id;
  },
  Note: async (cairn, { agent_id, trajectory_id }) => {
    const source_trajectory_ids = [trajectory_id];
    const note = { agent_id, source_trajectory_ids, note_type: 'Fact', title: 't', content: SAID };
    return (await cairn.notes.create(note)).note_id;
  },
  Card: async (cairn, { agent_id }) => (await cairn.cards.add({ author_id: agent_id, content: SAID })).card_id,
  Packet: async (cairn, { agent_id, trajectory_id }) => {
    const metadata = { agent: agent_id };
    const packet = { packet_type: 'said', payload: { SAID }, thread_id: trajectory_id, metadata };
    return (await cairn.packets.write(packet)).packet_id;
  },
  Checkpoint: async (cairn, place) => {
    const { execution_id } = await cairn.executions.create(place);
    await cairn.checkpoints.create({ execution_id, snapshot: snapshotOf(execution_id) });
    return execution_id;
  },
};

/** By a key without an agent, which names ann and bob; ann must be registered. */
export async function makeWorld(cairn: Api): Promise<World> {
  const task = async (agent_id: string) => (await cairn.trajectories.create({ name: 'task', agent_id })).trajectory_id;
  const trajectories = { hers: await task('ann'), current: await task('bob'), his: await task('bob') };
  await cairn.agents.update({ agent_id: 'ann', current_trajectory_id: trajectories.current });
  const places: Record<Standing, Place> = {
    own: { agent_id: 'ann', trajectory_id: trajectories.his },
    in_hers: { agent_id: 'bob', trajectory_id: trajectories.hers },
    where_she_works: { agent_id: 'bob', trajectory_id: trajectories.current },
    foreign: { agent_id: 'bob', trajectory_id: trajectories.his },
  };
  const all = async (make: (place: Place) => Promise<string>): Promise<Record<Standing, string>> => {
    const made: Partial<Record<Standing, string>> = {};
    for (const standing of STANDINGS) made[standing] = await make(places[standing]);
    return made as Record<Standing, string>;
  };
  const scopes = await all(async (place) => (await cairn.scopes.create({ ...place, name: 's' })).scope_id);
  const turns: Partial<Record<Standing, string>> = {};
  for (const standing of STANDINGS) {
    const turn = { scope_id: scopes[standing], role: 'User', content: SAID } as const;
    turns[standing] = (await cairn.turns.add(turn)).turn_id;
  }
  const ids = { Turn: turns } as Record<Kind, Record<Standing, string>>;
  for (const kind of KINDS) if (kind !== 'Turn') ids[kind] = await all((place) => makers[kind](cairn, place));
  return { trajectories, ids, scopes };
}
