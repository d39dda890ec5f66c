/** Which entities of mixed types a caller can read and link. */
import type { Query } from '../../driver/index.js';
import { type OwnerId, writes } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { openBox } from '../../facts/index.js';
import { cardReachOf, checkUses, containerReachOf, reachOf, seesAll, userReachOf } from '../../identity/index.js';
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
    user: userReachOf(call),
  };
}

/** The view of the caller, now or at a moment. */
export const momentFor = (call: Call, as_of?: number): Moment => ({
  now: call.driver.now(),
  as_of,
  agent: call.caller.agent_id,
  reach: entityReachOf(call),
});

/** Those of these ids that a restricted agent cannot read: for it they do not exist. */
export async function unreadableAmong(
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

/** An edge can be read by agents that can read all its participants. */
export async function refuseUnreadableEdge(
  call: Call,
  query: Query,
  participants: readonly EntityRef[],
): Promise<void> {
  if (seesAll(call)) return;
  const readable = await knownEntities(query, participants, momentFor(call));
  const unreadable = participants.find((one) => !readable.has(nameOf(one)));
  if (!unreadable) return;
  const { entity_type } = unreadable;
  throw new CairnError(
    'FORBIDDEN',
    `this caller may not read this Edge: it links a ${entity_type} that the caller cannot read, or that was deleted`,
    { rule: 'edge_participants', entity_type },
  );
}

/** Those of these edges that the caller can read. */
export async function readableEdges<E extends { readonly participants: readonly EntityRef[] }>(
  call: Call,
  query: Query,
  edges: readonly E[],
): Promise<E[]> {
  if (seesAll(call)) return [...edges];
  const ends = edges.flatMap(({ participants }) => participants);
  const readable = await knownEntities(query, ends, momentFor(call));
  return edges.filter(({ participants }) => participants.every((one) => readable.has(nameOf(one))));
}

const OWNER_IDS: Readonly<Record<Exclude<EntityType, 'Box'>, OwnerId>> = {
  Trajectory: 'trajectory_id',
  Scope: 'scope_id',
  Turn: 'turn_id',
  Artifact: 'artifact_id',
  Note: 'note_id',
  Card: 'card_id',
  Packet: 'packet_id',
};

async function refuseUnwritable(call: Call, { entity_type, entity_id }: EntityRef): Promise<void> {
  if (entity_type === 'Box') {
    await openBox(call, call.driver.at(call.tenant), entity_id, 'write');
    return;
  }
  const by = OWNER_IDS[entity_type];
  await checkUses(call, [writes(entity_type, by)], { [by]: entity_id });
}

/**
 * Checks that the caller may write what creating or deleting an edge requires: all participants of Supersedes, which
 * hides entities; the first of DerivedFrom and SynthesizedFrom; any one of other types. Callers check that it can read
 * them.
 */
export async function refuseLinking(
  call: Call,
  edge_type: EdgeType,
  participants: readonly EntityRef[],
): Promise<void> {
  if (seesAll(call)) return;
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
