/** Answering a pause, by a caller or by its default at the deadline: once, in one transaction with its run. */
import { type In, writes } from '../../engine/contract.js';
import {
  type Call,
  change,
  endLease,
  expireDueLeases,
  type Lease,
  stillExpired,
  type Work,
} from '../../engine/index.js';
import { stillPermitted } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, toIso } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { refuseFormerOwner } from '../../memory/index.js';
import { agentOf } from '../acting-agent.js';
import type { Pause, PauseAnswer } from './model.js';
import { endPause } from './moves.js';
import { alreadyEnded, answerOf, checkAnswer, checkMayAnswer, isOwnRun, isPartyTo, isSameAnswer } from './rules.js';
import { continueRun, lockRun } from './runs.js';
import { answererOf, openPause, readPause } from './service.js';
import { answeredBy, findPause, type PauseRow, toPause } from './store.js';

export async function answer(call: Call, input: In<'pauses.answer'>): Promise<Pause> {
  const given = answerOf(input);
  const agent_id = agentOf(call, input.agent_id, 'agent_id') ?? null;
  await expireDueLeases(call);
  if (call.caller.agent_id !== null) await checkRights(call, input.pause_id, call.caller.agent_id);
  return change(call, {
    input,
    bytes: canonical(given as Json).length,
    work: (work) => answerIn(work, input.pause_id, given, agent_id),
    remember: () => input.pause_id,
    again: (query) => readPause(call, query, input.pause_id),
  });
}

const TOUCHES = [writes('Checkpoint', 'execution_id')] as const;

/** An answer sets the execution running again: the asker and the owner need the right that asking needs. */
async function checkRights(call: Call, pause_id: string, agent_id: string): Promise<void> {
  const query = call.driver.at(call.tenant);
  const row = await findPause(query, pause_id);
  // The transaction refuses what does not exist for this agent, after its guard.
  if (!row?.execution_id || row.erased_at !== null) return;
  const who = await answererOf(query, agent_id);
  if (!isPartyTo(row, who) || !isOwnRun(row, who)) return;
  await stillPermitted(call, TOUCHES, { execution_id: row.execution_id });
}

async function answerIn(work: Work, pause_id: string, given: PauseAnswer, agent_id: string | null): Promise<Pause> {
  const { call, tx, now } = work;
  const { key_id } = call.caller;
  const run = await lockRun(tx, await openPause(call, tx, pause_id));
  const row = await openPause(call, tx, pause_id);
  const who = await answererOf(tx, agent_id);
  checkMayAnswer(toPause(row), who, given.action);
  if (isOwnRun(row, who)) await refuseFormerOwner(call, tx, row.trajectory_id, agent_id);
  if (row.status !== 'open') return sameAnswer(row, given, { agent_id, key_id });
  refuseOverdue(row, now);
  // The asker can always withdraw its question.
  if (given.action !== 'cancel' || agent_id !== row.agent_id) checkAnswer(toPause(row), given);
  const by = { answered_by_agent_id: agent_id, answered_by_key_id: key_id };
  const end = { status: 'answered', answer: canonical(given as Json), answered_at: now, ...by } as const;
  const answered = await endPause(work, row, end, { action: given.action, agent_id });
  await continueRun(work, run, answered);
  return toPause(answered);
}

/** Answers a repeat by the same caller with what is recorded; any other answer comes too late. */
function sameAnswer(row: PauseRow, given: PauseAnswer, who: NonNullable<Pause['answered_by']>): Pause {
  const pause = toPause(row);
  const { answer: recorded, answered_by: by } = pause;
  const isSame = recorded !== null && isSameAnswer(recorded, given);
  if (isSame && by !== null && by.agent_id === who.agent_id && by.key_id === who.key_id) return pause;
  throw alreadyEnded({ ...row, answered_by: answeredBy(row) });
}

/** Refuses an answer after the deadline, even before the expiry is recorded. */
function refuseOverdue({ pause_id, deadline_at }: PauseRow, now: number): void {
  if (deadline_at === null || deadline_at > now) return;
  const message = `pause ${pause_id} was due at ${toIso(deadline_at)}: it takes no more answers`;
  throw new CairnError('STATE_CONFLICT', message, { status: 'expired', deadline_at: toIso(deadline_at) });
}

/** At the deadline the default counts; without one the pause expires. Either way its run goes on. */
export async function expirePause(work: Work, lease: Lease): Promise<void> {
  const { tx, now } = work;
  const known = await findPause(tx, lease.subject_id);
  const run = known && (await lockRun(tx, known));
  if (!(await stillExpired(tx, lease, now))) return;
  const row = await findPause(tx, lease.subject_id);
  if (!run || row?.status !== 'open') return endLease(tx, 'pause', lease.subject_id);
  const { default_answer } = row;
  const ended =
    default_answer === null
      ? await endPause(work, row, { status: 'expired' })
      : await endPause(
          work,
          row,
          { status: 'answered', answer: default_answer, answered_at: now, by_default: 1 },
          { action: (JSON.parse(default_answer) as PauseAnswer).action, by_default: true },
        );
  await continueRun(work, run, ended);
}
