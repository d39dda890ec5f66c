/** What follows when an agent falls silent: it is offline, and what it held is let go. */
import type { Tx } from '../../driver/index.js';
import { appendEvent, endLease, type Lease, putLease, type Work } from '../../engine/index.js';
import { SlotRegistry } from '../../engine/sql.js';
import { type AgentRow, lockAgent, MADE, updateAgent } from '../agents/store.js';

/** Lets go of one kind of what an agent held, whose row is locked. */
export type Release = (work: Work, agent_id: string) => Promise<void>;

/**
 * One for each kind of thing that an agent can hold. An agent_turn is not among them: its own lease says how long its
 * worker may be silent, which is longer while it is suspended.
 */
export const agentHoldings = new SlotRegistry<'lock' | 'message', Release>('what an agent holds', ['lock', 'message']);

/** Lets go of all that an agent held: it has gone, or was taken off the register. */
export async function releaseAll(work: Work, agent_id: string): Promise<void> {
  for (const [, release] of agentHoldings) await release(work, agent_id);
}

export const onlineUntil = ({ last_seen_at, offline_after_ms }: AgentRow): number => last_seen_at + offline_after_ms;

/**
 * An agent that was made for a task comes and goes with its tasks: between them, nobody misses it. Nor is one missed that
 * has not registered itself yet.
 */
export const isBetweenTasks = ({ made, status }: AgentRow): boolean => made !== MADE.registered && status === 'idle';

/** Gives an agent the lease by which its silence is noticed. It has no other holder, so the token stays. */
export function holdOnline(tx: Tx, row: AgentRow): Promise<void> {
  const { agent_id } = row;
  if (isBetweenTasks(row)) return endLease(tx, 'agent', agent_id);
  return putLease(tx, {
    kind: 'agent',
    subject_id: agent_id,
    holder: agent_id,
    token: 1,
    expires_at: onlineUntil(row),
  });
}

/** Notes that an agent, whose row is locked, has been silent for too long; gives the row as it is then. */
export async function goOffline(work: Work, row: AgentRow): Promise<AgentRow> {
  const { tx, now } = work;
  const { agent_id, last_seen_at } = row;
  const offline: AgentRow = { ...row, status: 'offline', updated_at: now };
  await updateAgent(tx, offline);
  await endLease(tx, 'agent', agent_id);
  appendEvent(work, 'cairn.agent.offline', { type: 'agent', id: agent_id }, { last_seen_at });
  await releaseAll(work, agent_id);
  return offline;
}

/** The end of an agent's lease. Whether it is silent its row says, which may have changed since the lease was read. */
export async function expireAgent(work: Work, lease: Lease): Promise<void> {
  const { tx, now } = work;
  const row = await lockAgent(tx, lease.subject_id);
  if (!row || row.unregistered_at !== null || row.status === 'offline' || isBetweenTasks(row)) {
    await endLease(tx, 'agent', lease.subject_id);
  } else if (onlineUntil(row) > now) await holdOnline(tx, row);
  else await goOffline(work, row);
}
