/** Which entities of mixed types a caller may read and write: for edges, and for what something new was made from. */
import type { Query } from '../../driver/index.js';
import { type MemoryUse, type OwnerId, writes } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { openBox } from '../../facts/index.js';
import { cardReachOf, checkUses, containerReachOf, reachOf } from '../../identity/index.js';
import { CairnError } from '../../kernel/index.js';
import type { EdgeType, EntityType } from '../edges/model.js';
import { type EntityReach, type EntityRef, knownEntities, type Moment, nameOf } from './store.js';

function entityReachOf(call: Call): EntityReach | undefined {
  if (!call.acting) return undefined;
  return {
    turn: reachOf(call, 'Turn'),
    artifact: reachOf(call, 'Artifact'),
    note: reachOf(call, 'Note'),
    packet: reachOf(call, 'Packet'),
    card: cardReachOf(call),
    container: containerReachOf(call),
  };
}

/** What the caller can read now, or could at a moment. */
export const momentFor = (call: Call, as_of?: number): Moment => ({
  now: call.driver.now(),
  as_of,
  agent: call.caller.agent_id,
  reach: entityReachOf(call),
});

/** Of these ids those that a restricted agent cannot read: to it they do not exist. */
export async function beyondAmong(
  call: Call,
  query: Query,
  entity_type: EntityType,
  ids: readonly string[],
): Promise<string[]> {
  if (!call.acting || ids.length === 0) return [];
  const entities = ids.map((entity_id) => ({ entity_type, entity_id }));
  const readable = await knownEntities(query, entities, momentFor(call));
  return entities.filter((one) => !readable.has(nameOf(one))).map(({ entity_id }) => entity_id);
}

/** Of these the first that the caller cannot read. */
async function firstUnreadable(
  call: Call,
  query: Query,
  entities: readonly EntityRef[],
): Promise<EntityRef | undefined> {
  if (call.caller.agent_id === null) return undefined;
  const readable = await knownEntities(query, entities, momentFor(call));
  return entities.find((one) => !readable.has(nameOf(one)));
}

/** An edge is for those who can read all that it links. */
export async function refuseUnreadableEdge(
  call: Call,
  query: Query,
  participants: readonly EntityRef[],
): Promise<void> {
  const beyond = await firstUnreadable(call, query, participants);
  if (beyond !== undefined) throw edgeBeyond(call, beyond.entity_type);
}

/** Of these edges those that the caller may read. */
export async function readableEdges<E extends { readonly participants: readonly EntityRef[] }>(
  call: Call,
  query: Query,
  edges: readonly E[],
): Promise<E[]> {
  if (call.caller.agent_id === null) return [...edges];
  const ends = edges.flatMap(({ participants }) => participants);
  const readable = await knownEntities(query, ends, momentFor(call));
  return edges.filter(({ participants }) => participants.every((one) => readable.has(nameOf(one))));
}

const edgeBeyond = (call: Call, entity_type: EntityType): CairnError =>
  new CairnError(
    'FORBIDDEN',
    `agent ${call.caller.agent_id} may not read this Edge: it links a ${entity_type} that the agent cannot read, or that is gone`,
    { rule: 'edge_participants', entity_type },
  );

const writing: Readonly<Record<Exclude<EntityType, 'Box'>, [MemoryUse['type'], OwnerId]>> = {
  Trajectory: ['Trajectory', 'trajectory_id'],
  Scope: ['Scope', 'scope_id'],
  Turn: ['Turn', 'turn_id'],
  Artifact: ['Artifact', 'artifact_id'],
  Note: ['Note', 'note_id'],
  Card: ['Card', 'card_id'],
  Packet: ['Packet', 'packet_id'],
};

async function refuseUnwritable(call: Call, { entity_type, entity_id }: EntityRef): Promise<void> {
  if (entity_type === 'Box') {
    await openBox(call, call.driver.at(call.tenant), entity_id, 'write');
    return;
  }
  const [type, by] = writing[entity_type];
  await checkUses(call, [writes(type, by)], { [by]: entity_id });
}

/**
 * What a caller must be able to write to make or delete an edge: both ends of one that hides the other, the first of one
 * that says what it came from, any of the rest. That it can read all of them is checked where they are looked up.
 */
export async function refuseLinking(
  call: Call,
  edge_type: EdgeType,
  participants: readonly EntityRef[],
): Promise<void> {
  if (call.caller.agent_id === null) return;
  if (edge_type === 'Supersedes') {
    for (const one of participants) await refuseUnwritable(call, one);
    return;
  }
  if (edge_type === 'DerivedFrom' || edge_type === 'SynthesizedFrom') return refuseUnwritable(call, participants[0]!);
  let refusal: unknown;
  for (const one of participants) {
    try {
      return await refuseUnwritable(call, one);
    } catch (error) {
      if (!(error instanceof CairnError) || error.code !== 'FORBIDDEN') throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}
