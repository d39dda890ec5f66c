/** Checks a call against the rights of its agent, by the `touches` of the operation. */
import { listToText, type Query } from '../../driver/index.js';
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
  type CardReach,
  cardExtents,
  type Extent,
  extentOf,
  reachesCard,
  reachesSubjects,
  subjectsOfUser,
  type UserReach,
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
import { needsNoUser } from './users.js';

/**
 * Throws unless the agent of the call may do this; returns the call with the reach of lists. Nothing to check for a caller
 * without an agent and a user. `records_presence`: the use case itself records the heartbeat.
 */
export async function asPermitted(
  call: Call,
  touches: Touches,
  input: object,
  records_presence = false,
): Promise<Call> {
  const { agent_id } = call.caller;
  const row = agent_id === null ? undefined : await rowOf(call, agent_id, records_presence);
  if (agent_id !== null) checkRule(call, row, touches);
  // memory_access does not apply between the parties of an agent_turn, message or lock.
  const acting = touches === 'parties' ? undefined : actingOf(call, row);
  if (acting === undefined) return call;
  const own: Call = { ...call, acting };
  await checkUses(own, touches, input);
  return own;
}

const rowOf = (call: Call, agent_id: string, records_presence: boolean): Promise<AgentRow | undefined> =>
  records_presence ? findAgent(call.driver.at(call.tenant), agent_id) : recordCallHeartbeat(call);

/** What restricts a call: the memory_access of its agent, its user, or both. */
function actingOf(
  { caller: { user_id } }: Call,
  row: AgentRow | undefined,
  about: ActingAgent['about'] = user_id === undefined ? undefined : { subjects: subjectsOfUser(user_id) },
): ActingAgent | undefined {
  const memory_access = row?.memory_access ?? null;
  if (memory_access === null && about === undefined) return undefined;
  return {
    agent_id: row?.agent_id ?? null,
    current_trajectory_id: row?.current_trajectory_id ?? null,
    memory_access: memory_access === null ? {} : (JSON.parse(memory_access) as MemoryAccess),
    about,
  };
}

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

/** A call on behalf of an agent, restricted to that agent's reach, and to content about the same people or nobody. */
export async function withReachOf(call: Call, agent_id: string | null, subjects: readonly string[]): Promise<Call> {
  const about = { subjects: listToText(subjects) };
  if (call.caller.agent_id !== null && call.acting) return { ...call, acting: { ...call.acting, about } };
  const row = agent_id === null ? undefined : await findAgent(call.driver.at(call.tenant), agent_id);
  return { ...call, acting: actingOf(call, row, about) };
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
    if (call.caller.user_id !== undefined) await refuseForeign(call, use, input as Given);
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

/** Refuses to a caller that acts for a user what is about others and, where it has to be the user's own, about nobody. */
async function refuseForeign(call: Call, use: MemoryUse, given: Given): Promise<void> {
  const { user_id } = call.caller;
  const { by, of_user = use.need === 'write' && use.by !== 'made' ? 'own' : 'shared' } = use;
  if (user_id === undefined || isAbsent(use, given)) return;
  const user = { subjects: subjectsOfUser(user_id), owned: of_user === 'own' };
  const reach: Reach = { extent: 'all', agent_id: null, current_trajectory_id: null, user };
  const refuse = (what: string) => {
    const whose = of_user === 'own' ? 'not about this user alone' : 'about somebody else';
    throw new CairnError('FORBIDDEN', `user ${user_id} may not ${use.need} this ${what}: it is ${whose}`, {
      rule: 'user',
      user_id,
    });
  };
  if (by === 'tenant' || of_user === 'none') throw needsNoUser(call);
  if (by === 'listed' || by === 'named' || by === 'items') return;
  if (by === 'card_id') {
    const card = await cardOwners.get('card')(call.driver.at(call.tenant), given[use.member ?? by] as string);
    if (card && !reachesSubjects(user, card.subject_ids)) refuse(use.type);
    return;
  }
  for (const place of by === 'made' ? (use.places ?? []) : [by]) {
    const id = given[by === 'made' ? place : (use.member ?? place)];
    if (await isBeyond(call, place === 'thread_id' ? 'trajectory_id' : place, id, reach)) refuse(use.type);
  }
}
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
  const user = userOf(acting, 'write');
  return extent === 'all' && user === undefined ? undefined : { ...acting, extent: widest([extent, 'own']), user };
}

/** The reach for reading trajectories and scopes; undefined if unrestricted. */
export function containerReachOf(call: Call): ContainerReach | undefined {
  const { acting } = call;
  const user = readerOf(acting);
  if (!acting || (user === undefined && extentOf(acting.memory_access, 'Turn', 'read') === 'all')) return undefined;
  const { agent_id, current_trajectory_id } = acting;
  const reach = (type: MemoryKind): Reach =>
    limitOf(acting, type, 'read') ?? { extent: 'all', agent_id, current_trajectory_id };
  const [turns, artifacts, notes, executions] = [reach('Turn'), reach('Artifact'), reach('Note'), reach('Checkpoint')];
  const follows_trajectory = [turns, artifacts, notes, executions].some(
    ({ extent }) => extent === 'own_trajectory' || extent === 'all',
  );
  return { agent_id, current_trajectory_id, turns, artifacts, notes, executions, follows_trajectory, user };
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
  readonly subject_ids: string | null;
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
function limitOf(acting: ActingAgent, type: MemoryKind, need: Need): Reach | undefined {
  const { agent_id, current_trajectory_id, memory_access } = acting;
  const user = userOf(acting, need);
  const extent = extentOf(memory_access, type, need);
  const readable = extentOf(memory_access, 'Turn', 'read');
  const turns = (type === 'Artifact' || type === 'Note') && readable !== 'all' ? readable : undefined;
  if (extent === 'all' && turns === undefined && user === undefined) return undefined;
  return { extent, turns, agent_id, current_trajectory_id, user };
}

const userOf = ({ about }: ActingAgent, need: Need): UserReach | undefined =>
  about && { subjects: about.subjects, owned: need === 'write' };

const readerOf = (acting: ActingAgent | undefined): UserReach | undefined => acting && userOf(acting, 'read');

/** What the caller may read for its user; undefined if it acts for none. */
export function userReachOf({ acting, caller: { user_id } }: Call, need: Need = 'read'): UserReach | undefined {
  if (acting?.about) return userOf(acting, need);
  return user_id === undefined ? undefined : { subjects: subjectsOfUser(user_id), owned: need === 'write' };
}

/** Whether a caller that acts for a user may not see content about these. */
export const isForeign = (call: Call, { subject_ids }: { readonly subject_ids: string | null }): boolean =>
  !reachesSubjects(userReachOf(call), subject_ids);

/** Refuses a write to content that is not about the user of the caller alone. */
export function refuseForeignWrite(call: Call, what: string, subject_ids: string | null): void {
  if (reachesSubjects(userReachOf(call, 'write'), subject_ids)) return;
  const { user_id } = call.caller;
  const message = `user ${user_id} may not write ${what}: it is not about this user alone`;
  throw new CairnError('FORBIDDEN', message, { rule: 'user', user_id });
}

/** Whether nothing restricts what a caller sees: neither an agent nor a user. */
export const seesAll = ({ caller: { agent_id, user_id } }: Call): boolean => agent_id === null && user_id === undefined;

export function cardReachOf({ acting }: Call): CardReach | undefined {
  if (!acting) return undefined;
  const extents = cardExtents(acting.memory_access, 'read');
  const user = readerOf(acting);
  if (user === undefined && extents.loose === 'all' && extents.held === 'all') return undefined;
  return { ...extents, agent_id: acting.agent_id, user };
}

export function mayReadCard(call: Call, card: CardOwner): boolean {
  const reach = cardReachOf(call);
  return !reach || (reachesSubjects(reach.user, card.subject_ids) && reachesCard(reach, reach.agent_id, card));
}

/** Whether a profile or handover is readable: by its creator, keys without an agent, and readers of all cards. */
export const mayReadRecipe = (call: Call, made_by: string | null): boolean => {
  const { agent_id } = call.caller;
  return agent_id === null || made_by === agent_id || (cardReachOf(call)?.loose ?? 'all') === 'all';
};
