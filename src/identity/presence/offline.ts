/** Going offline: a silent agent is marked offline, and its locks and messages are released. */
import type { Tx } from '../../driver/index.js';
import { appendEvent, endLease, type Lease, putLease, type Work } from '../../engine/index.js';
import { SlotRegistry } from '../../engine/sql.js';
import type { JsonObject } from '../../kernel/contract.js';
import { AGENT_ORIGINS, type AgentRow, lockAgent, updateAgent } from '../agents/store.js';

export const agentEvent = (
  work: Work,
  kind: 'registered' | 'updated' | 'online' | 'offline' | 'unregistered',
  agent_id: string,
  facts: JsonObject = {},
): void => appendEvent(work, `cairn.agent.${kind}`, { type: 'agent', id: agent_id }, facts);

/** Releases one kind of holding of an agent, whose row is locked. */
type Release = (work: Work, agent_id: string) => Promise<void>;

/** Without agent_turns, which have their own lease: it is longer while a turn is suspended. */
export const agentHoldings = new SlotRegistry<'lock' | 'message', Release>('what an agent holds', ['lock', 'message']);

export async function releaseAll(work: Work, agent_id: string): Promise<void> {
  for (const [, release] of agentHoldings) await release(work, agent_id);
}

export const onlineUntil = ({ last_seen_at, offline_after_ms }: AgentRow): number => last_seen_at + offline_after_ms;

/** An idle agent that was created for tasks, or has not registered itself yet, never goes offline. */
export const isBetweenTasks = ({ made, status }: AgentRow): boolean =>
  made !== AGENT_ORIGINS.registered && status === 'idle';

/** Renews the lease whose expiry reveals silence. The token stays, since there is no other holder. */
export function holdOnline(tx: Tx, row: AgentRow): Promise<void> {
  const { agent_id } = row;
  if (isBetweenTasks(row)) return endLease(tx, 'agent', agent_id);
  const expires_at = onlineUntil(row);
  return putLease(tx, { kind: 'agent', subject_id: agent_id, holder: agent_id, token: 1, expires_at });
}

/** Marks an agent, whose row is locked, as offline; returns the new row. */
export async function goOffline(work: Work, row: AgentRow): Promise<AgentRow> {
  const { tx, now } = work;
  const { agent_id, last_seen_at } = row;
  const offline: AgentRow = { ...row, status: 'offline', updated_at: now };
  await updateAgent(tx, offline);
  await endLease(tx, 'agent', agent_id);
  agentEvent(work, 'offline', agent_id, { last_seen_at });
  await releaseAll(work, agent_id);
  return offline;
}

/** Handles an expired lease by the agent's row, which may have changed since the lease was read. */
export async function expireAgent(work: Work, lease: Lease): Promise<void> {
  const { tx, now } = work;
  const row = await lockAgent(tx, lease.subject_id);
  if (!row || row.unregistered_at !== null || row.status === 'offline' || isBetweenTasks(row))
    await endLease(tx, 'agent', lease.subject_id);
  else if (onlineUntil(row) > now) await holdOnline(tx, row);
  else await goOffline(work, row);
}
