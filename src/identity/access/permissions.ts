/** Checks a call against the rights of its agent, by the `touches` of the operation. */
import type { Query } from '../../driver/index.js';
import {
  type DerivedKind,
  type MemoryAccess,
  type MemoryKind,
  type MemoryUse,
  type Need,
  ruleOf,
  type Touches,
  usesOf,
} from '../../engine/contract.js';
import {
  type ActingAgent,
  type Call,
  type CardExtents,
  type CardReach,
  cardExtents,
  type Extent,
  extentOf,
  reachesCard,
  widest,
} from '../../engine/index.js';
import {
  type ContainerId,
  type ContainerReach,
  isReadableContainer,
  isWithin,
  type Reach,
  type ReachedBy,
  SlotRegistry,
} from '../../engine/sql.js';
import { CairnError } from '../../kernel/index.js';
import { type AgentRow, findAgent } from '../agents/store.js';
import { recordCallHeartbeat } from '../presence/heartbeats.js';

/**
 * Throws unless the agent of the call may do this; returns the call with the reach of lists. Nothing to check for a key
 * without an agent. `records_presence`: the use case itself records the heartbeat.
 */
export async function asPermitted(
  call: Call,
  touches: Touches,
  input: object,
  records_presence = false,
): Promise<Call> {
  if (call.caller.agent_id === null) return call;
  const row = records_presence
    ? await findAgent(call.driver.at(call.tenant), call.caller.agent_id)
    : await recordCallHeartbeat(call);
  checkRule(call, row, touches);
  // memory_access does not apply between the parties of an agent_turn, message or lock.
  if (touches === 'parties' || !row || row.memory_access === null) return call;
  const own: Call = { ...call, acting: actingOf(row, row.memory_access) };
  await checkUses(own, touches, input);
  return own;
}

const actingOf = ({ agent_id, current_trajectory_id }: AgentRow, memory_access: string): ActingAgent => ({
  agent_id,
  current_trajectory_id,
  memory_access: JSON.parse(memory_access) as MemoryAccess,
});

/** Refuses an unregistered agent, and any agent if the operation needs a key without one. */
function checkRule(call: Call, row: AgentRow | undefined, touches: Touches): void {
  const rule = ruleOf(touches);
  const { agent_id } = call.caller;
  if (rule === 'self') return;
  if (rule === 'tenant_key')
    throw new CairnError('FORBIDDEN', `${call.operation} needs a key without an agent: this key acts as ${agent_id}`, {
      rule: 'key_agent',
    });
  if (row && row.unregistered_at === null) return;
  throw new CairnError(
    'FORBIDDEN',
    row
      ? `agent ${agent_id} was unregistered: its keys can no longer be used`
      : `agent ${agent_id} is not registered: call agents.register, or have an admin create its key with keys.create`,
    { rule: 'agent_registered', agent_id },
  );
}

/** A call by Cairn or a tenant on behalf of an agent, restricted to that agent's reach. */
export async function withReachOf(call: Call, agent_id: string | null): Promise<Call> {
  if (call.caller.agent_id !== null || agent_id === null) return call;
  const row = await findAgent(call.driver.at(call.tenant), agent_id);
  if (!row || row.memory_access === null) return call;
  return { ...call, acting: actingOf(row, row.memory_access) };
}

/** Checks a running stream again: its agent may have lost rights since the start. */
export const stillPermitted = (call: Call, touches: Touches, input: object): Promise<Call> => {
  const { acting: _, ...begun } = call;
  return asPermitted(begun, touches, input);
};

/** Throws for a use beyond reach; lists apply their own condition. Batches call it for each item. */
export async function checkUses(call: Call, touches: Touches, input: object): Promise<void> {
  const { acting } = call;
  if (!acting) return;
  for (const use of usesOf(touches)) {
    const refused = await refusalOf(call, acting, use, input as Given);
    if (refused === undefined) continue;
    const { type: memory_type, need, scope } = typeof refused === 'string' ? { ...use, scope: refused } : refused;
    throw new CairnError(
      'FORBIDDEN',
      `agent ${acting.agent_id} may not ${need} this ${memory_type}: its memory_access allows it to ${need} ${SCOPE_TEXTS[scope]}`,
      { rule: 'memory_access', memory_type, need, scope },
    );
  }
}

type Given = Readonly<Record<string, unknown>>;
type Limited = Exclude<Extent, 'all'>;
/** The object form names another type than that of the use. */
type Refused = Limited | { readonly type: MemoryKind; readonly need: Need; readonly scope: Limited };

const isDerived = (type: MemoryUse['type']): type is DerivedKind =>
  type === 'Trajectory' || type === 'Scope' || type === 'Edge';

const SCOPE_TEXTS: Readonly<Record<Limited, string>> = {
  none: 'none of this type',
  own: 'only its own',
  own_trajectory: 'only its own and those in its trajectories',
};

/** The agent's scope, if a use exceeds it. */
async function refusalOf(call: Call, acting: ActingAgent, use: MemoryUse, given: Given): Promise<Refused | undefined> {
  const { type, need, by } = use;
  if (by === 'listed' || by === 'named' || isAbsent(use, given)) return undefined;
  if (isDerived(type)) return by === 'items' ? undefined : refusalOfContainer(call, acting, use, given);
  const extent = extentOf(acting.memory_access, type, need);
  if (extent === 'none') return extent;
  if (by === 'tenant') return extent === 'all' ? undefined : extent;
  if (by === 'card_id') return refusalOfCard(call, acting, need, given.card_id);
  if (by === 'items') return undefined;
  if (by !== 'made') return refusalOfEntity(call, limitOf(acting, type, need), by, given[use.member ?? by]);
  if (extent === 'all') return undefined;
  // The agent owns a new entity, but its container must be within reach.
  const ownTrajectory: Reach = { ...acting, extent: 'own_trajectory' };
  for (const place of use.places ?? [])
    if (await isBeyond(call, place === 'thread_id' ? 'trajectory_id' : place, given[place], ownTrajectory))
      return extent;
  return undefined;
}

/** Its owner and agents that reach anything in a container read it; its owner and agents that write Turns in it write. */
async function refusalOfContainer(call: Call, acting: ActingAgent, { need, by, member }: MemoryUse, given: Given) {
  const id = given[member ?? by];
  const scope = extentOf(acting.memory_access, 'Turn', need);
  if (scope === 'all' || typeof id !== 'string') return undefined;
  const container = by as ContainerId;
  const beyond =
    need === 'write'
      ? await isBeyond(call, container, id, { ...acting, extent: widest([scope, 'own']) })
      : (await isReadableContainer(call.driver.at(call.tenant), container, id, containerReachOf(call)!)) === false;
  return beyond ? scope : undefined;
}

/** The reach for writing trajectories, always including its own; undefined if unrestricted. */
export function trajectoryWriteReach({ acting }: Call): Reach | undefined {
  if (!acting) return undefined;
  const extent = extentOf(acting.memory_access, 'Turn', 'write');
  return extent === 'all' ? undefined : { ...acting, extent: widest([extent, 'own']) };
}

/** The reach for reading trajectories and scopes; undefined if unrestricted. */
export function containerReachOf(call: Call): ContainerReach | undefined {
  const { acting } = call;
  if (!acting || extentOf(acting.memory_access, 'Turn', 'read') === 'all') return undefined;
  const { agent_id, current_trajectory_id } = acting;
  const reach = (type: MemoryKind): Reach =>
    limitOf(acting, type, 'read') ?? { extent: 'all', agent_id, current_trajectory_id };
  const [turns, artifacts, notes, executions] = [reach('Turn'), reach('Artifact'), reach('Note'), reach('Checkpoint')];
  const follows_trajectory = [turns, artifacts, notes, executions].some(
    ({ extent }) => extent === 'own_trajectory' || extent === 'all',
  );
  return { agent_id, current_trajectory_id, turns, artifacts, notes, executions, follows_trajectory };
}

async function refusalOfEntity(call: Call, reach: Reach | undefined, by: ReachedBy, id: unknown) {
  if (!reach || !(await isBeyond(call, by, id, reach))) return undefined;
  const { extent, turns } = reach;
  if (extent !== 'all' && (await isBeyond(call, by, id, { ...reach, turns: undefined }))) return extent;
  // It summarizes turns that the agent may not read.
  return { type: 'Turn', need: 'read', scope: turns! } as const;
}

const isAbsent = ({ by, member, where }: MemoryUse, given: Given): boolean =>
  (where !== undefined && !where.is.includes(given[where.member])) ||
  (by !== 'made' && by !== 'items' && by !== 'tenant' && given[member ?? by] === undefined);

/** False for a missing entity: the operation answers that it is not found. */
async function isBeyond(call: Call, by: ReachedBy, id: unknown, reach: Reach): Promise<boolean> {
  if (typeof id !== 'string') return false;
  return (await isWithin(call.driver.at(call.tenant), by, id, reach)) === false;
}

/** The author and holder of a card; filled by facts, which stores cards. */
export const cardOwners = new SlotRegistry<'card', (query: Query, card_id: string) => Promise<CardOwner | undefined>>(
  'card owner',
  ['card'],
);

interface CardOwner {
  readonly author_id: string | null;
  readonly held_by: string | null;
}

async function refusalOfCard(
  call: Call,
  { agent_id, memory_access }: ActingAgent,
  need: Need,
  card_id: unknown,
): Promise<Limited | undefined> {
  const extents = cardExtents(memory_access, need);
  if (extents.loose === 'all' && extents.held === 'all') return undefined;
  const card = await cardOwners.get('card')(call.driver.at(call.tenant), card_id as string);
  if (!card || reachesCard(extents, agent_id, card)) return undefined;
  return (card.held_by === null ? extents.loose : extents.held) as Limited;
}

/** The reach of a list of this type; undefined if unrestricted. */
export const reachOf = (call: Call, type: MemoryKind, need: Need = 'read'): Reach | undefined =>
  call.acting && limitOf(call.acting, type, need);

/** Summaries of turns are limited to readers of the turns, even for agents that reach all artifacts or notes. */
function limitOf(
  { agent_id, current_trajectory_id, memory_access }: ActingAgent,
  type: MemoryKind,
  need: Need,
): Reach | undefined {
  const extent = extentOf(memory_access, type, need);
  const readable = extentOf(memory_access, 'Turn', 'read');
  const turns = (type === 'Artifact' || type === 'Note') && readable !== 'all' ? readable : undefined;
  if (extent === 'all' && turns === undefined) return undefined;
  return { extent, turns, agent_id, current_trajectory_id };
}

function extentsOf(call: Call): CardExtents | undefined {
  const extents = call.acting && cardExtents(call.acting.memory_access, 'read');
  return extents && (extents.loose !== 'all' || extents.held !== 'all') ? extents : undefined;
}

export function cardReachOf(call: Call): CardReach | undefined {
  const extents = extentsOf(call);
  return extents && { ...extents, agent_id: call.acting!.agent_id };
}

export function mayReadCard(call: Call, card: CardOwner): boolean {
  const extents = extentsOf(call);
  return !extents || reachesCard(extents, call.acting!.agent_id, card);
}

/** Whether a profile or handover is readable: by its creator, keys without an agent, and readers of all cards. */
export const mayReadRecipe = (call: Call, made_by: string | null): boolean => {
  const { agent_id } = call.caller;
  return agent_id === null || made_by === agent_id || (extentsOf(call)?.loose ?? 'all') === 'all';
};
