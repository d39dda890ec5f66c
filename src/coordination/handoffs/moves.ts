/** Records each step of a handoff: its row, an event, and a message to the party that waits for it. */
import { appendEvent, endLease, type Work } from '../../engine/index.js';
import { findTrajectory } from '../../memory/index.js';
import { sendFromSystem } from '../messages/service.js';
import { type HandoffChange, type HandoffRow, updateHandoff } from './store.js';

type Step = 'created' | 'accepted' | 'rejected' | 'expired' | 'completed';

/** The receiver is told of an offer, the giver of its outcome. */
function messageOf(step: Step, { from_agent_id: giver, to_agent_id: receiver }: HandoffRow) {
  if (step === 'completed') return undefined;
  return step === 'created'
    ? { message_type: 'handoff.offered', from_agent_id: giver, to_agent_id: receiver }
    : { message_type: `handoff.${step}`, from_agent_id: step === 'expired' ? null : receiver, to_agent_id: giver };
}

/** Appends the event and sends the message. Both carry ids and states, never texts. */
export async function announceHandoff(work: Work, step: Step, row: HandoffRow): Promise<void> {
  const { handoff_id, trajectory_id, from_agent_id, to_agent_id, scope_id, new_scope_id, context_box_id } = row;
  const facts = {
    from_agent_id,
    to_agent_id,
    ...(scope_id === null ? {} : { scope_id }),
    ...(new_scope_id === null ? {} : { new_scope_id, context_box_id }),
  };
  appendEvent(work, `cairn.handoff.${step}`, { type: 'handoff', id: handoff_id }, facts, trajectory_id);
  const message = messageOf(step, row);
  if (!message) return;
  // A message cannot name a deleted trajectory, but the giver is still told that the offer has ended.
  const trajectory = await findTrajectory(work.tx, trajectory_id);
  const about = trajectory?.deleted_at === null ? { trajectory_id } : {};
  const payload = JSON.stringify({ handoff_id, trajectory_id, status: row.status, ...facts });
  await sendFromSystem(work, { ...message, ...about, payload });
}

/** Moves a locked handoff out of its offer or to its end; returns the new row. */
export async function moveHandoff(
  work: Work,
  step: Exclude<Step, 'created'>,
  row: HandoffRow,
  change: HandoffChange,
): Promise<HandoffRow> {
  const moved = await updateHandoff(work.tx, row, change);
  await endLease(work.tx, 'handoff', row.handoff_id);
  await announceHandoff(work, step, moved);
  return moved;
}
