/** Heartbeats: every call by or for an agent records that it is online. */
import type { Call, Work } from '../../engine/index.js';
import { type AgentRow, findAgent, isOffline, lockAgent, updateAgent } from '../agents/store.js';
import { agentEvent, goOffline, holdOnline, isBetweenTasks, onlineUntil } from './offline.js';

/** Maximum number of heartbeats written per `offline_after_ms`; the others cost one read. */
const WRITTEN_HEARTBEATS = 4;

/** Whether a heartbeat has to be written. */
export const isHeartbeatDue = (row: AgentRow, now: number): boolean =>
  row.unregistered_at === null &&
  (isOffline(row, now) || row.last_seen_at + row.offline_after_ms / WRITTEN_HEARTBEATS <= now);

/** Records a heartbeat; an offline agent becomes idle. Before other locks: agents come first in the lock order. */
export async function recordHeartbeat(work: Work, agent_id: string): Promise<void> {
  const { tx, now } = work;
  const known = await findAgent(tx, agent_id);
  if (!known || !isHeartbeatDue(known, now)) return;
  const row = await lockAgent(tx, agent_id);
  if (row && isHeartbeatDue(row, now)) await recordLockedHeartbeat(work, row);
}

/**
 * Records a heartbeat of the agent that a call is made by or for, and returns its row. Outside any transaction; a failure
 * is ignored. Not for a call in an agent_turn, whose guard records the heartbeat of its holder.
 */
export async function recordCallHeartbeat(
  call: Call,
  agent_id: string | null = call.caller.agent_id ?? call.for_agent ?? null,
): Promise<AgentRow | undefined> {
  const { driver, tenant } = call;
  if (agent_id === null) return undefined;
  const row = await findAgent(driver.at(tenant), agent_id);
  if (row && call.turn === undefined && isHeartbeatDue(row, driver.now()))
    await driver
      .write(tenant, (tx) => recordHeartbeat({ call, tx, now: driver.now() }, agent_id))
      .catch(() => undefined);
  return row;
}

/** A call of a key without an agent, made for the agent that it names; records its heartbeat. */
export async function actingFor(call: Call, agent_id: string): Promise<Call> {
  if (call.caller.agent_id !== null) return call;
  const own: Call = { ...call, for_agent: agent_id };
  await recordCallHeartbeat(own);
  return own;
}

/** Records a heartbeat and other changes of an agent whose row is locked. */
export async function recordLockedHeartbeat(
  work: Work,
  row: AgentRow,
  changes: Partial<AgentRow> = {},
): Promise<AgentRow> {
  const { tx, now } = work;
  const silent = row.status !== 'offline' && !isBetweenTasks(row) && onlineUntil(row) <= now;
  // It was offline although nobody had noticed: its holdings count as released.
  const before = silent ? await goOffline(work, row) : row;
  const returns = before.status === 'offline';
  const after: AgentRow = {
    ...before,
    ...changes,
    status: changes.status ?? (returns ? 'idle' : before.status),
    last_seen_at: Math.max(now, before.last_seen_at),
    updated_at: returns ? now : (changes.updated_at ?? before.updated_at),
  };
  await updateAgent(tx, after);
  await holdOnline(tx, after);
  if (returns) agentEvent(work, 'online', row.agent_id, { status: after.status });
  return after;
}
