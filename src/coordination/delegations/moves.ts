/** Moves of a delegation, in one transaction with its agent_turn: the row, an event, and messages to its parties. */
import { appendEvent, endLease, type Work } from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import { sendFromSystem } from '../messages/service.js';
import type { DelegationResult, DelegationStatus } from './model.js';
import { delegationHasEnded } from './rules.js';
import { changeDelegation, type DelegationRow, lockDelegation } from './store.js';

type Party = 'from_agent_id' | 'to_agent_id';

/** For each status: the name of its event, and the parties that get a message. */
const ANNOUNCEMENTS: Readonly<Record<DelegationStatus, readonly [event: string, ...parties: Party[]]>> = {
  Pending: ['created', 'to_agent_id'],
  Accepted: ['accepted', 'from_agent_id'],
  Rejected: ['rejected', 'from_agent_id'],
  InProgress: ['started'],
  Completed: ['completed', 'from_agent_id'],
  Failed: ['failed', 'from_agent_id', 'to_agent_id'],
  Cancelled: ['cancelled', 'from_agent_id', 'to_agent_id'],
};

/** Appends the event of a move, wakes callers that wait for the end, and sends messages to the parties. */
export async function announceDelegation(work: Work, row: DelegationRow, facts: JsonObject = {}): Promise<void> {
  const { delegation_id, from_agent_id, to_agent_id, status, agent_turn_id, trajectory_id } = row;
  const moved = { from_agent_id, to_agent_id, status, agent_turn_id };
  const [event] = ANNOUNCEMENTS[status];
  const entity = { type: 'delegation', id: delegation_id };
  appendEvent(work, `cairn.delegation.${event}`, entity, { ...moved, ...facts }, trajectory_id);
  work.tx.wake(`delegation:${delegation_id}`);
  await sendMessages(work, row, { delegation_id, trajectory_id, ...moved });
}

/** Messages all concerned parties but the agent that made the move. */
async function sendMessages(work: Work, row: DelegationRow, facts: JsonObject): Promise<void> {
  // Dispatched without an offer: the delegator waits for the agent_turn or its batch, if at all.
  if (row.handover === null) return;
  const [event, ...parties] = ANNOUNCEMENTS[row.status];
  const message_type = row.status === 'Pending' ? 'delegation.offered' : `delegation.${event}`;
  for (const party of parties) {
    const to_agent_id = row[party];
    if (to_agent_id === null || to_agent_id === work.call.caller.agent_id) continue;
    const from_agent_id = row[party === 'to_agent_id' ? 'from_agent_id' : 'to_agent_id'];
    // Without a trajectory_id: the message carries no content that must be erased with the trajectory.
    await sendFromSystem(work, { from_agent_id, to_agent_id, message_type, payload: canonical(facts) });
  }
}

/** Moves an accepted delegation to InProgress; any other stays as it is. */
export async function startDelegation(work: Work, delegation_id: string): Promise<void> {
  const locked = await lockDelegation(work.tx, delegation_id);
  if (locked?.status !== 'Accepted') return;
  await announceDelegation(work, await changeDelegation(work.tx, locked, { status: 'InProgress' }, work.now));
}

export interface DelegationEnd {
  readonly status: 'Completed' | 'Failed' | 'Cancelled' | 'Rejected';
  readonly result?: DelegationResult;
  readonly reason?: string | null;
}

/** How many artifacts an event names. */
const MAX_NAMED = 100;

/** Ends a locked delegation, unless it has ended. */
export async function endDelegation(
  work: Work,
  row: DelegationRow,
  { status, result, reason = null }: DelegationEnd,
): Promise<void> {
  const { tx, now } = work;
  if (delegationHasEnded(row.status)) return;
  const change = { status, result: result ? canonical(result as Json) : null, reason, ended_at: now };
  const ended = await changeDelegation(tx, row, change, now);
  await endLease(tx, 'delegation', row.delegation_id);
  const { artifacts = [] } = result ?? {};
  await announceDelegation(work, ended, {
    ...(result ? { result: result.status } : {}),
    ...(artifacts.length === 0 ? {} : { artifact_ids: artifacts.slice(0, MAX_NAMED) }),
  });
}
