/** Telling agents of delegations that concern them: by messages that name what happened, never what was said. */
import type { Work } from '../../engine/index.js';
import { canonical } from '../../kernel/node.js';
import { sendFromSystem } from '../messages/service.js';
import type { DelegationStatus } from './model.js';
import type { DelegationRow } from './store.js';

type Party = 'from_agent_id' | 'to_agent_id';

/** Who is told of a move, and by which type of message. Of the start of work the stream of events tells. */
const NEWS: Readonly<Record<DelegationStatus, readonly [type: string, ...parties: Party[]]>> = {
  Pending: ['delegation.offered', 'to_agent_id'],
  Accepted: ['delegation.accepted', 'from_agent_id'],
  Rejected: ['delegation.rejected', 'from_agent_id'],
  InProgress: ['delegation.started'],
  Completed: ['delegation.completed', 'from_agent_id'],
  Failed: ['delegation.failed', 'from_agent_id', 'to_agent_id'],
  Cancelled: ['delegation.cancelled', 'from_agent_id', 'to_agent_id'],
};

/** One that was dispatched at once was never offered: its delegator waits for the agent_turn or its batch, if at all. */
const wasOffered = ({ handover }: DelegationRow): boolean => handover !== null;

/** Tells those whom a move concerns, but for the agent that made it. */
export async function tellParties(work: Work, row: DelegationRow): Promise<void> {
  const { call } = work;
  if (!wasOffered(row)) return;
  const [message_type, ...parties] = NEWS[row.status];
  const { delegation_id, status, from_agent_id, to_agent_id, trajectory_id, agent_turn_id } = row;
  for (const party of parties) {
    const told = row[party];
    if (told === null || told === call.caller.agent_id) continue;
    const said = { delegation_id, status, from_agent_id, to_agent_id, trajectory_id, agent_turn_id };
    const other = party === 'to_agent_id' ? from_agent_id : to_agent_id;
    // Of no trajectory: it says nothing that would have to go with one.
    await sendFromSystem(work, { from_agent_id: other, to_agent_id: told, message_type, payload: canonical(said) });
  }
}
