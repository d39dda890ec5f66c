/** Holds an agent to its memory_access, by what the table says that an operation touches. */
import type { MemoryKind, MemoryUse, Need } from '../contract/memory-use.js';
import {
  type CardExtents,
  cardExtents,
  type Extent,
  extentOf,
  reachesCard,
} from '../domain/memory-access.js';
import type { MemoryAccess } from '../model/agent.js';
import { CairnError } from '../model/errors.js';
import { findAgent } from '../store/agents.js';
import { findCard } from '../store/cards.js';
import type { PacketViewer } from '../store/packet-visibility.js';
import { type CardReach, isWithin, type Reach, type ReachedBy } from '../store/reach.js';
import { signOfLife } from './agent-presence.js';
import type { Call } from './runtime.js';

/** An agent that was given a part of memory, as a call is made by it. */
export interface ActingAgent {
  readonly agent_id: string;
  readonly current_trajectory_id: string | null;
  readonly memory_access: MemoryAccess;
}

/**
 * The call, if the agent that it is made as may do this with memory; it then says how far lists reach. For whoever acts as
 * no agent there is nothing to ask. One that was unregistered is held to the same, or it would free itself.
 */
export async function asPermitted(call: Call, uses: readonly MemoryUse[], input: object): Promise<Call> {
  const { agent_id } = call.caller;
  if (agent_id === null) return call;
  const row = await signOfLife(call);
  if (!row || row.memory_access === null) return call;
  const { current_trajectory_id } = row;
  const memory_access = JSON.parse(row.memory_access) as MemoryAccess;
  const own: Call = { ...call, acting: { agent_id, current_trajectory_id, memory_access } };
  await checkUses(own, uses, input);
  return own;
}

/** A call that Cairn or a tenant makes, with no more reach than an agent has: for what is done on that agent's behalf. */
export async function withReachOf(call: Call, agent_id: string | null): Promise<Call> {
  if (call.caller.agent_id !== null || agent_id === null) return call;
  const row = await findAgent(call.driver.at(call.tenant), call.tenant, agent_id);
  if (!row || row.memory_access === null) return call;
  const { current_trajectory_id } = row;
  const memory_access = JSON.parse(row.memory_access) as MemoryAccess;
  return { ...call, acting: { agent_id, current_trajectory_id, memory_access } };
}

/** The same for a stream that goes on: by what its agent may do now, which may be less than when it began. */
export const stillPermitted = (call: Call, uses: readonly MemoryUse[], input: object): Promise<Call> => {
  const { acting: _, ...begun } = call;
  return asPermitted(begun, uses, input);
};

/** Refuses what is beyond reach; what is listed is left to the lists. Batches ask it for each item. */
export async function checkUses(call: Call, uses: readonly MemoryUse[], input: object): Promise<void> {
  const { acting } = call;
  if (!acting) return;
  for (const use of uses) {
    const refused = await refusing(call, acting, use, input as Given);
    if (refused === undefined) continue;
    const {
      type: memory_type,
      need,
      scope,
    } = typeof refused === 'string' ? { ...use, scope: refused } : refused;
    throw new CairnError(
      'FORBIDDEN',
      `agent ${acting.agent_id} may not ${need} this ${memory_type}: its memory_access lets it ${need} ${IN_WORDS[scope]}`,
      { rule: 'memory_access', memory_type, need, scope },
    );
  }
}

type Given = Readonly<Record<string, unknown>>;
type Limited = Exclude<Extent, 'all'>;
/** Of another type than that of the use. */
type Refused = Limited | { readonly type: MemoryKind; readonly need: Need; readonly scope: Limited };

const IN_WORDS: Readonly<Record<Limited, string>> = {
  none: 'none of this type',
  own: 'its own',
  own_trajectory: 'its own and what is in its trajectories',
};

/** How far the agent reaches, if a use asks for more than that. */
async function refusing(
  call: Call,
  acting: ActingAgent,
  use: MemoryUse,
  given: Given,
): Promise<Refused | undefined> {
  if (use.by === 'listed' || use.by === 'named') return undefined;
  if (isNotGiven(use, given)) return undefined;
  const extent = extentOf(acting.memory_access, use.type, use.need);
  if (extent === 'none') return extent;
  if (use.by === 'card_id') return refusingCard(call, acting, use.need, given.card_id);
  if (use.by === 'items') return undefined;
  if (use.by !== 'made')
    return refusingOne(call, limitOf(acting, use.type, use.need), use.by, given[use.member ?? use.by]);
  if (extent === 'all') return undefined;
  // What is made is one's own; but it must not be put where one has no business.
  for (const place of use.places ?? [])
    if (await isBeyond(call, place, given[place], { ...acting, extent: 'own_trajectory' })) return extent;
  return undefined;
}

async function refusingOne(
  call: Call,
  reach: Reach | undefined,
  by: ReachedBy,
  id: unknown,
): Promise<Refused | undefined> {
  if (!reach || !(await isBeyond(call, by, id, reach))) return undefined;
  const { extent, turns } = reach;
  if (extent !== 'all' && (await isBeyond(call, by, id, { ...reach, turns: undefined }))) return extent;
  // It sums up turns that the agent may not read.
  return { type: 'Turn', need: 'read', scope: turns! };
}

const isNotGiven = ({ by, member, where }: MemoryUse, given: Given): boolean =>
  (where !== undefined && !where.is.includes(given[where.member])) ||
  (by !== 'made' && by !== 'items' && given[member ?? by] === undefined);

/** What is not there is not beyond reach: the operation says that it is not found. */
async function isBeyond(call: Call, by: ReachedBy, id: unknown, reach: Reach): Promise<boolean> {
  if (typeof id !== 'string') return false;
  return (await isWithin(call.driver.at(call.tenant), call.tenant, by, id, reach)) === false;
}

async function refusingCard(
  call: Call,
  { agent_id, memory_access }: ActingAgent,
  need: Need,
  card_id: unknown,
): Promise<Limited | undefined> {
  const extents = cardExtents(memory_access, need);
  if (extents.loose === 'all' && extents.held === 'all') return undefined;
  const card = await findCard(call.driver.at(call.tenant), call.tenant, card_id as string);
  if (!card || reachesCard(extents, agent_id, card)) return undefined;
  return (card.held_by === null ? extents.loose : extents.held) as Limited;
}

/** How far a list of this type reaches; undefined where it shows all. */
export function reachOf(call: Call, type: MemoryKind, need: Need = 'read'): Reach | undefined {
  return call.acting && limitOf(call.acting, type, need);
}

/** What sums up turns is for those who read the turns, also where they may read or change all artifacts or notes. */
function limitOf(
  { agent_id, current_trajectory_id, memory_access }: ActingAgent,
  type: MemoryKind,
  need: Need,
): Reach | undefined {
  const extent = extentOf(memory_access, type, need);
  const heard = extentOf(memory_access, 'Turn', 'read');
  const turns = (type === 'Artifact' || type === 'Note') && heard !== 'all' ? heard : undefined;
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

/** Whether a card that was read may be shown. */
export function mayReadCard(
  call: Call,
  card: { readonly author_id: string | null; readonly held_by: string | null },
): boolean {
  const extents = extentsOf(call);
  return !extents || reachesCard(extents, call.acting!.agent_id, card);
}

/** Who looks at packets: an agent does not see events about boxes of others, nor what is beyond its reach. */
export const viewerOf = (call: Call): PacketViewer | null => {
  const agent = call.caller.agent_id;
  return agent === null ? null : { agent, reach: reachOf(call, 'Packet') };
};
