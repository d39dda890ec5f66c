/** What is told of a handoff: an event, and a message to the one who waits for it. */
import { appendEvent, type Work } from '../../engine/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { findTrajectory } from '../../memory/index.js';
import { sendFromSystem } from '../messages/service.js';
import type { HandoffRow } from './store.js';

type Told = 'created' | 'accepted' | 'rejected' | 'expired' | 'completed';

/** The receiver hears of an offer, the giver of what became of it. */
function messageOf(what: Told, { from_agent_id: giver, to_agent_id: receiver }: HandoffRow) {
  if (what === 'completed') return undefined;
  return what === 'created'
    ? { message_type: 'handoff.offered', from_agent_id: giver, to_agent_id: receiver }
    : { message_type: `handoff.${what}`, from_agent_id: what === 'expired' ? null : receiver, to_agent_id: giver };
}

/** Tells what a handoff, which is locked or new, has become: in ids alone, what it says is read from the handoff. */
export async function tellHandoff(work: Work, what: Told, row: HandoffRow): Promise<void> {
  const { tx } = work;
  const { handoff_id, trajectory_id, from_agent_id, to_agent_id, scope_id, new_scope_id, context_box_id } = row;
  const facts: JsonObject = {
    from_agent_id,
    to_agent_id,
    ...(scope_id === null ? {} : { scope_id }),
    ...(new_scope_id === null ? {} : { new_scope_id, context_box_id }),
  };
  appendEvent(work, `cairn.handoff.${what}`, { type: 'handoff', id: handoff_id }, facts, trajectory_id);
  const message = messageOf(what, row);
  if (!message) return;
  // Nothing can be sent in a deleted trajectory, but that an offer of it is over is told all the same.
  const trajectory = await findTrajectory(tx, trajectory_id);
  const place = trajectory && trajectory.deleted_at === null ? { trajectory_id } : {};
  const payload = JSON.stringify({ handoff_id, trajectory_id, status: row.status, ...facts });
  await sendFromSystem(work, { ...message, ...place, payload });
}
