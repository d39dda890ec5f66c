/** Use cases of locks. */
import type { Query, Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, change, listPage, type Work } from '../../engine/index.js';
import { actingFor, recordCallHeartbeat } from '../../identity/index.js';
import { newId } from '../../kernel/contract.js';
import { CairnError, notFound, toIso } from '../../kernel/index.js';
import { agentOf, requiredAgent } from '../acting-agent.js';
import { DEFAULT_LOCK_LEASE_MS, type Lock } from './model.js';
import { giveUp, hold, journal, lease, modesOf, openLock, readQueue, settle } from './queue.js';
import { grantable, LONGEST_LEASE_MS, WAITER_LEASE_MS } from './rules.js';
import {
  countLocks,
  findLock,
  holds,
  insertLock,
  insertResource,
  isInQueue,
  isLive,
  type LockRow,
  listLocks,
  lockResource,
  openLocksOf,
  toLock,
  updateResource,
} from './store.js';
import { leave, waitInQueue } from './waiting.js';

/** A request with its defaults. */
type Wanted = Pick<LockRow, 'resource_type' | 'resource_id' | 'holder_agent_id' | 'mode' | 'lease_ms'>;

interface Asked {
  readonly wanted: Wanted;
  readonly lock_id: string | undefined;
  readonly timeout_ms: number;
  /** Identifies this call among those that ask for the same lock. */
  readonly asker: string;
}

/** A lock that is held or waited for, and whether this call created it. */
interface Enqueued {
  readonly row: LockRow;
  readonly created: boolean;
}

export async function acquire(caller: Call, input: In<'locks.acquire'>): Promise<Out<'locks.acquire'>> {
  const { lock_id, timeout_ms = 0 } = input;
  const asked: Asked = { wanted: wantedOf(caller, input), lock_id, timeout_ms, asker: newId() };
  const call = await actingFor(caller, asked.wanted.holder_agent_id);
  const { driver, tenant, options } = call;
  const { resource_type, resource_id } = asked.wanted;
  const { row, created } = await change<Enqueued>(call, {
    input,
    work: (work) => enqueue(work, asked),
    // A lock_id of the caller may name a lock of another resource, so that more than this one is read.
    ...(lock_id === undefined ? { entity: `lock ${resource_type.length} ${resource_type} ${resource_id}` } : {}),
    remember: (found) => found.row.lock_id,
    again: (tx, kept) => enqueueAgain({ call, tx, now: driver.now() }, kept as string, asked),
  });
  const waiting = { row, asker: asked.asker, timeout_ms, can_return: lock_id !== undefined };
  // A caller that has gone would not release the lock created for it.
  if (options.signal?.aborted && row.state === 'held' && created) await leave(call, waiting, 'held');
  if (row.state === 'held') options.signal?.throwIfAborted();
  const held = row.state === 'held' ? row : await waitInQueue(call, waiting);
  if (held) return toLock(held, driver.now());
  throw conflict(asked, await readQueue(driver.at(tenant), row), driver.now());
}

const wantedOf = (call: Call, input: In<'locks.acquire'>): Wanted => ({
  resource_type: input.resource_type,
  resource_id: input.resource_id,
  holder_agent_id: requiredAgent(call, input.holder_agent_id, 'holder_agent_id'),
  mode: input.mode ?? 'Exclusive',
  lease_ms: input.lease_ms ?? DEFAULT_LOCK_LEASE_MS,
});

async function enqueue(work: Work, asked: Asked): Promise<Enqueued> {
  const { tx, now } = work;
  const { wanted, lock_id = newId() } = asked;
  // Pipelined in this order: the queue is read after the resource is locked.
  const [known, rows, existing] = await Promise.all([
    lockResource(tx, wanted),
    readQueue(tx, wanted),
    asked.lock_id === undefined ? undefined : findLock(tx, lock_id),
  ]);
  if (existing) return { row: await rejoin(work, existing, asked), created: false };
  const first = { resource_type: wanted.resource_type, resource_id: wanted.resource_id, token: 0, ticket: 0 };
  const { resource: settled, holders, waiters } = await settle(work, known ?? first, rows);
  const granted = waiters.length === 0 && grantable(modesOf(holders), [wanted.mode]) > 0;
  if (!granted && asked.timeout_ms === 0) throw conflict(asked, [...holders, ...waiters], now);
  const resource = { ...settled, ticket: settled.ticket + 1, token: settled.token + (granted ? 1 : 0) };
  await (known ? updateResource : insertResource)(tx, resource);
  const row: LockRow = {
    ...wanted,
    lock_id,
    state: granted ? 'held' : 'waiting',
    ticket: resource.ticket,
    token: granted ? resource.token : null,
    asked_at: now,
    granted_at: granted ? now : null,
    ended_at: null,
    expires_at: now + (granted ? wanted.lease_ms : WAITER_LEASE_MS),
    leased_to: granted ? wanted.holder_agent_id : asked.asker,
  };
  await insertLock(tx, row);
  await lease(tx, row);
  journal(work, granted ? 'cairn.lock.acquired' : 'cairn.lock.waiting', row);
  return { row, created: true };
}

/** The same request again, by its Idempotency-Key. */
async function enqueueAgain(work: Work, lock_id: string, asked: Asked): Promise<Enqueued> {
  const open = await openLock(work.tx, lock_id);
  if (!open) throw noLock(work.tx, lock_id);
  return { row: await rejoin(work, open.row, asked), created: false };
}

/** A lock that was requested before: it keeps its place in the queue, which this call now renews. */
async function rejoin({ call, tx, now }: Work, row: LockRow, asked: Asked): Promise<LockRow> {
  const { lock_id } = row;
  if (call.caller.agent_id !== null && call.caller.agent_id !== row.holder_agent_id) {
    throw new CairnError('ENTITY_ALREADY_EXISTS', `lock_id ${lock_id} is used by another agent: use a new lock_id`);
  }
  if (!isLive(row, now)) {
    const { state } = toLock(row, now);
    throw new CairnError('ENTITY_GONE', `lock ${lock_id} has ended (${state}): use a new lock_id`, { lock_id });
  }
  const others = (Object.keys(asked.wanted) as (keyof Wanted)[]).filter((name) => asked.wanted[name] !== row[name]);
  if (others.length > 0) {
    throw new CairnError(
      'ENTITY_ALREADY_EXISTS',
      `lock ${lock_id} was requested with a different ${others.join(', ')}: use a new lock_id`,
    );
  }
  if (row.state === 'held') return row;
  if (row.state === 'granted') return hold(tx, row, now);
  const kept: LockRow = { ...row, expires_at: now + WAITER_LEASE_MS, leased_to: asked.asker };
  await lease(tx, kept);
  return kept;
}

function conflict({ wanted, timeout_ms }: Asked, queue: readonly LockRow[], now: number): CairnError {
  const holders = queue.filter((row) => isLive(row, now) && holds(row));
  const [holder] = holders;
  const { resource_type, resource_id, holder_agent_id } = wanted;
  const own = holders.some((row) => row.holder_agent_id === holder_agent_id);
  const others = holder ? `${holder.holder_agent_id} holds it` : 'other requests are before this one';
  const why = own ? `${holder_agent_id} already holds it, and an exclusive lock is not reentrant` : others;
  const waited = timeout_ms === 0 ? 'give timeout_ms to wait for it' : `waited for ${timeout_ms} ms`;
  return new CairnError('LOCK_CONFLICT', `${resource_type} ${resource_id} is not free: ${why}; ${waited}`, {
    resource_type,
    resource_id,
    held_by: holder
      ? { agent_id: holder.holder_agent_id, mode: holder.mode, expires_at: toIso(holder.expires_at!) }
      : null,
  });
}

const noLock = (query: Query, lock_id: string): CairnError =>
  notFound(query, 'lock', lock_id, ', or it ended more than a day ago');

export async function get(call: Call, { lock_id }: In<'locks.get'>): Promise<Out<'locks.get'>> {
  const query = call.driver.at(call.tenant);
  const row = await findLock(query, lock_id);
  if (!row || !(await isParty(call, query, row))) throw noLock(query, lock_id);
  return toLock(row, call.driver.now());
}

/** A lock is visible to its holder and to agents in the queue of its resource. */
async function isParty(call: Call, query: Query, { lock_id, holder_agent_id }: LockRow): Promise<boolean> {
  const { agent_id } = call.caller;
  return agent_id === null || holder_agent_id === agent_id || (await isInQueue(query, lock_id, agent_id));
}

export async function list(call: Call, input: In<'locks.list'>): Promise<Out<'locks.list'>> {
  const { resource_type, resource_id, holder_agent_id } = input;
  const filter = { resource_type, resource_id, holder_agent_id, party: call.caller.agent_id ?? undefined };
  const now = call.driver.now();
  const { rows, next_cursor, total } = await listPage<LockRow, string>(call, {
    input,
    filters: [resource_type ?? null, resource_id ?? null, holder_agent_id ?? null],
    key: 'string',
    keyOf: ({ lock_id }) => lock_id,
    read: (page) => listLocks(call.driver.at(call.tenant), filter, page, now),
    count: countLocks(filter, now),
  });
  return { locks: rows.map((row) => toLock(row, now)), next_cursor, total };
}

/** Opens a lock for a change by its holder: refuses other agents, and locks that have ended. */
async function openOwn({ call, tx, now }: Work, lock_id: string, agent: string | undefined) {
  const open = await openLock(tx, lock_id);
  if (!open) throw noLock(tx, lock_id);
  const { row } = open;
  if (agent !== undefined && agent !== row.holder_agent_id) {
    if (!(await isParty(call, tx, row))) throw noLock(tx, lock_id);
    const message = `lock ${lock_id} belongs to ${row.holder_agent_id}: ${agent} may not change it`;
    throw new CairnError('FORBIDDEN', message, { rule: 'lock_holder' });
  }
  if (!isLive(row, now)) {
    const { state, ended_at } = toLock(row, now);
    const message = `lock ${lock_id} has ended (${state} at ${ended_at}): acquire it again`;
    throw new CairnError('LOCK_EXPIRED', message, { lock_id });
  }
  return open;
}

export async function extend(call: Call, input: In<'locks.extend'>): Promise<Out<'locks.extend'>> {
  const { lock_id, additional_ms } = input;
  const agent = agentOf(call, input.holder_agent_id, 'holder_agent_id');
  if (call.caller.agent_id === null) {
    const known = agent ?? (await findLock(call.driver.at(call.tenant), lock_id))?.holder_agent_id;
    await recordCallHeartbeat(call, known);
  }
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const { row } = await openOwn(work, lock_id, agent);
      if (!holds(row)) {
        throw new CairnError('STATE_CONFLICT', `lock ${lock_id} is waiting: only a held lock can be extended`);
      }
      const held = row.state === 'held' ? row : await hold(tx, row, now);
      const expires_at = Math.min(held.expires_at! + additional_ms, now + LONGEST_LEASE_MS);
      const longer = { ...held, expires_at: Math.max(expires_at, held.expires_at!) };
      await lease(tx, longer);
      return toLock(longer, now);
    },
    remember: () => lock_id,
    again: (tx) => readLock(tx, lock_id, call.driver.now()),
  });
}

export function release(call: Call, input: In<'locks.release'>): Promise<Out<'locks.release'>> {
  const agent = agentOf(call, input.releasing_agent_id, 'releasing_agent_id');
  return change(call, {
    input,
    work: async (work) => {
      const { row, resource } = await openOwn(work, input.lock_id, agent);
      const ended = await giveUp(work, row);
      await settle(work, resource);
      return toLock(ended, work.now);
    },
    remember: () => input.lock_id,
    again: (tx) => readLock(tx, input.lock_id, call.driver.now()),
  });
}

async function readLock(tx: Tx, lock_id: string, now: number): Promise<Lock> {
  const row = await findLock(tx, lock_id);
  if (!row) throw noLock(tx, lock_id);
  return toLock(row, now);
}

/** Gives up all locks and waits of an agent, as when it goes offline; the next waiters are granted at once. */
export async function releaseHeldBy(work: Work, agent_id: string): Promise<void> {
  for (const { lock_id } of await openLocksOf(work.tx, agent_id)) {
    const open = await openLock(work.tx, lock_id);
    if (!open || !isLive(open.row, work.now)) continue;
    await giveUp(work, open.row);
    await settle(work, open.resource);
  }
}
