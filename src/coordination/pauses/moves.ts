/** Moves of a pause: the row, its event, its deadline, and callers that wait for its end. The run is locked. */
import { appendEvent, endLease, type Work } from '../../engine/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { MAX_OPEN_PAUSES } from './rules.js';
import { changePause, findPause, openPausesOf, type PauseEnd, type PauseRow, type Run } from './store.js';

export function journalPause(work: Work, row: PauseRow, event: string, facts: JsonObject = {}): void {
  const { pause_id, agent_turn_id, execution_id, trajectory_id, trigger } = row;
  const entity = { type: 'pause', id: pause_id };
  const known = { trigger, agent_turn_id, execution_id };
  appendEvent(work, `cairn.pause.${event}`, entity, { ...known, ...facts }, trajectory_id);
}

/** Ends an open pause. Its run goes on separately. */
export async function endPause(work: Work, row: PauseRow, end: PauseEnd, facts: JsonObject = {}): Promise<PauseRow> {
  const { tx, now } = work;
  const after = await changePause(tx, row, end, now);
  if (row.deadline_at !== null) await endLease(tx, 'pause', row.pause_id);
  journalPause(work, after, end.status, facts);
  tx.wake(`pause:${row.pause_id}`);
  return after;
}

/** Cancels the open pauses of a run that ends. */
export async function cancelPauses(work: Work, run: Run): Promise<void> {
  for (const pause_id of await openPausesOf(work.tx, run, MAX_OPEN_PAUSES))
    await endPause(work, (await findPause(work.tx, pause_id))!, { status: 'cancelled' });
}
