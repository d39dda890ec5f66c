/** Signs of life: whatever an agent does says that it is there. */
import { appendEvent, type Call, type Work } from '../../engine/index.js';
import { type AgentRow, findAgent, isOffline, lockAgent, updateAgent } from '../agents/store.js';
import { goOffline, holdOnline, isBetweenTasks, onlineUntil } from './offline.js';

/** So often within the time that it may be silent is a sign of life noted; the others cost one read. */
const NOTED = 4;

/** Whether it is time to note a sign of life. */
export const isDue = (row: AgentRow, now: number): boolean =>
  row.unregistered_at === null && (isOffline(row, now) || row.last_seen_at + row.offline_after_ms / NOTED <= now);

/**
 * Notes that an agent is there; one that was offline is idle again. Nothing happens to an agent that is not registered.
 * Called before other rows are locked: an agent comes first in the order of locks.
 */
export async function seen(work: Work, agent_id: string): Promise<void> {
  const { tx, now } = work;
  const known = await findAgent(tx, agent_id);
  if (!known || !isDue(known, now)) return;
  const row = await lockAgent(tx, agent_id);
  if (row && isDue(row, now)) await noteSeen(work, row);
}

/**
 * Notes that the agent is there that a call is made by or for; gives its row. Outside any transaction, and no reason to
 * fail. What is done in an agent_turn is a sign of life only of who holds that, which was seen with the guard.
 */
export async function signOfLife(
  call: Call,
  agent_id: string | null = call.caller.agent_id ?? call.for_agent ?? null,
): Promise<AgentRow | undefined> {
  const { driver, tenant } = call;
  if (agent_id === null) return undefined;
  const row = await findAgent(driver.at(tenant), agent_id);
  if (row && call.turn === undefined && isDue(row, driver.now()))
    await driver.write(tenant, (tx) => seen({ call, tx, now: driver.now() }, agent_id)).catch(() => undefined);
  return row;
}

/** The call of a key without an agent as it is made for the one that it names, which is there, since it acts. */
export async function actingFor(call: Call, agent_id: string): Promise<Call> {
  if (call.caller.agent_id !== null) return call;
  const own: Call = { ...call, for_agent: agent_id };
  await signOfLife(own);
  return own;
}

/** The same for an agent whose row is locked, with what else changes in it. */
export async function noteSeen(work: Work, row: AgentRow, changes: Partial<AgentRow> = {}): Promise<AgentRow> {
  const { tx, now } = work;
  const silent = row.status !== 'offline' && !isBetweenTasks(row) && onlineUntil(row) <= now;
  // Nobody has noticed yet, but it was offline all the same: what it held is as good as released.
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
  if (returns) appendEvent(work, 'cairn.agent.online', { type: 'agent', id: row.agent_id }, { status: after.status });
  return after;
}
