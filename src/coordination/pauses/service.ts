/** Use cases of pauses: create, get, list. `answer` is in answering.ts. */
import {
  type ExecutionRow,
  findCheckpoint,
  isExecutionFinished,
  openExecutionLocked,
} from '../../checkpoints/index.js';
import { longQuery, type Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  type Call,
  change,
  expireDueLeases,
  listPage,
  putLease,
  type TurnGuard,
  type Work,
} from '../../engine/index.js';
import { checkSize } from '../../facts/index.js';
import { effectiveType, findAgent } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid, notFound, toIso, toMs } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { successorOf, unknownEntity } from '../../memory/index.js';
import { findHeldTurn, heldTurn } from '../agent-turns/service.js';
import { sendFromSystem } from '../messages/service.js';
import { readAfterEnd } from '../waiting-reads.js';
import { MAX_TIMEOUT_MS, type Pause } from './model.js';
import { journalPause } from './moves.js';
import { type Answerer, checkAnswer, choicesOf, defaultActions, isPartyTo, MAX_OPEN_PAUSES } from './rules.js';
import { pauseExecution, suspendTurn } from './runs.js';
import {
  countPauses,
  findByKey,
  findPause,
  insertPause,
  listPauses,
  openPausesOf,
  type PauseFilter,
  type PauseRow,
  pauseBytes,
  type Run,
  toPause,
} from './store.js';

/** An agent with its type; a person for a key without an agent. */
export async function answererOf(query: Query, agent_id: string | null): Promise<Answerer> {
  const agent = agent_id === null ? undefined : await findAgent(query, agent_id);
  return { agent_id, agent_type: agent?.unregistered_at === null ? effectiveType(agent) : null };
}

/** To an agent that is not a party, a pause does not exist; nor does an erased one. */
export async function openPause(call: Call, query: Query, pause_id: string): Promise<PauseRow> {
  const row = await findPause(query, pause_id);
  if (row?.erased_at === null && isPartyTo(row, await answererOf(query, call.caller.agent_id))) return row;
  throw notFound(call, 'pause', pause_id);
}

export const readPause = async (call: Call, query: Query, pause_id: string): Promise<Pause> =>
  toPause(await openPause(call, query, pause_id));

/** A question checked and hashed before the transaction. */
interface PreparedPause {
  readonly input: In<'pauses.create'>;
  readonly held: TurnGuard | null;
  readonly question: Pick<PauseRow, Texts>;
  readonly sent_hash: string;
  readonly bytes: number;
}
type Texts = 'trigger' | 'question' | 'choices' | 'details' | 'answers' | 'default_answer' | 'outside';

function checkRunOf(input: In<'pauses.create'>): TurnGuard | null {
  const { agent_turn_id, turn_epoch, execution_id, checkpoint_id } = input;
  if ((agent_turn_id === undefined) === (execution_id === undefined)) {
    throw invalid('give either agent_turn_id with its turn_epoch, or execution_id');
  }
  if (agent_turn_id === undefined) {
    if (turn_epoch !== undefined) throw invalid('turn_epoch needs agent_turn_id: an execution has no epoch');
    return null;
  }
  if (checkpoint_id !== undefined) throw invalid('checkpoint_id needs execution_id: an agent_turn has no checkpoints');
  if (turn_epoch === undefined) throw invalid('turn_epoch is required with agent_turn_id: claim answered it');
  return { agent_turn_id, turn_epoch };
}

function prepareCreate(call: Call, input: In<'pauses.create'>): PreparedPause {
  const held = checkRunOf(input);
  const { trigger = 'manual', details, default: fallback, to_agent_id, to_agent_type, outside = false } = input;
  if (to_agent_id !== undefined && to_agent_type !== undefined)
    throw invalid('give either to_agent_id or to_agent_type');
  if (input.timeout_ms !== undefined && input.deadline_at !== undefined) {
    throw invalid('give either timeout_ms or deadline_at');
  }
  const choices = choicesOf(input.choices);
  const answers = input.answers ? [...new Set(input.answers)] : defaultActions(trigger, choices.length > 0);
  if (fallback !== undefined) {
    if (input.timeout_ms === undefined && input.deadline_at === undefined) {
      throw invalid('default needs a deadline: give timeout_ms or deadline_at');
    }
    checkAnswer({ answers, choices }, fallback, 'default.');
  }
  const question = {
    trigger,
    question: input.question,
    choices: choices.length === 0 ? null : canonical(choices),
    details: details === undefined ? null : canonical(details),
    answers: canonical(answers),
    default_answer: fallback === undefined ? null : canonical(fallback as Json),
    outside: outside ? 1 : 0,
  };
  // Without the deadline, which a run that asks again computes anew.
  const sent = canonical({ ...question, to_agent_id: to_agent_id ?? null, to_agent_type: to_agent_type ?? null });
  const bytes = Buffer.byteLength(sent);
  checkSize('the question with its details', bytes, call.limits);
  return { input, held, question, sent_hash: sha256(sent), bytes };
}

/** The existing pause with the same id or key, if it asks the same question. */
function samePause(row: PauseRow, run: Run, sent_hash: string, by: 'pause_id' | 'ask_key'): PauseRow {
  const name = by === 'ask_key' ? `ask_key "${row.ask_key}"` : `pause ${row.pause_id}`;
  if (row.erased_at !== null) throw new CairnError('ENTITY_GONE', `${name} was erased; ids are never reused`);
  const isSameRun = row.agent_turn_id === run.agent_turn_id && row.execution_id === run.execution_id;
  if (isSameRun && row.sent_hash === sent_hash) return row;
  throw new CairnError('ENTITY_ALREADY_EXISTS', `${name} already asks another question: use a new ${by}`, {
    pause_id: row.pause_id,
  });
}

async function existingPause(
  { tx }: Work,
  run: Run,
  { input, sent_hash }: PreparedPause,
): Promise<PauseRow | undefined> {
  const byId = input.pause_id && (await findPause(tx, input.pause_id));
  if (byId) return samePause(byId, run, sent_hash, 'pause_id');
  const byKey = input.ask_key && (await findByKey(tx, run, input.ask_key));
  return byKey ? samePause(byKey, run, sent_hash, 'ask_key') : undefined;
}

function deadlineOf({ timeout_ms, deadline_at }: In<'pauses.create'>, now: number): number | null {
  if (timeout_ms !== undefined) return now + timeout_ms;
  if (deadline_at === undefined) return null;
  const due = toMs(deadline_at);
  if (due <= now) throw invalid(`deadline_at must be in the future, not ${deadline_at}`);
  if (due - now > MAX_TIMEOUT_MS) throw invalid(`deadline_at must be within 366 days, not ${deadline_at}`);
  return due;
}

/** A checkpoint of another execution, or none, would mislead who answers. */
async function checkCheckpoint({ tx }: Work, input: In<'pauses.create'>, execution_id: string): Promise<void> {
  const { checkpoint_id, outside } = input;
  // A question that is resumed outside of Cairn may name a checkpoint that is not stored yet.
  if (checkpoint_id === undefined || outside) return;
  if ((await findCheckpoint(tx, checkpoint_id))?.execution_id !== execution_id)
    throw unknownEntity('checkpoint_id', 'checkpoint', [checkpoint_id]);
}

async function refuseMany({ tx }: Work, run: Run): Promise<void> {
  if ((await openPausesOf(tx, run, MAX_OPEN_PAUSES)).length < MAX_OPEN_PAUSES) return;
  const message = `a run has at most ${MAX_OPEN_PAUSES} open pauses: answer some first`;
  throw new CairnError('STATE_CONFLICT', message, { limit: MAX_OPEN_PAUSES });
}

interface Asker extends Run, Pick<PauseRow, 'agent_id' | 'source_agent_id' | 'trajectory_id'> {}

async function addPause(work: Work, asker: Asker, { input, question, sent_hash }: PreparedPause): Promise<PauseRow> {
  const { tx, now } = work;
  const { to_agent_id = null, to_agent_type = null } = input;
  if (to_agent_id === asker.agent_id) throw invalid('to_agent_id must be another agent than the one that asks');
  const row: PauseRow = {
    pause_id: input.pause_id ?? newId(),
    status: 'open',
    ...question,
    ...asker,
    deadline_at: deadlineOf(input, now),
    checkpoint_id: input.checkpoint_id ?? null,
    ask_key: input.ask_key ?? null,
    to_agent_id,
    to_agent_type,
    answer: null,
    answered_by_agent_id: null,
    answered_by_key_id: null,
    by_default: 0,
    answered_at: null,
    sent_hash,
    created_at: now,
    updated_at: now,
    erased_at: null,
  };
  await insertPause(tx, row);
  const { pause_id, deadline_at, agent_id } = row;
  if (deadline_at !== null) {
    await putLease(tx, { kind: 'pause', subject_id: pause_id, holder: null, token: 0, expires_at: deadline_at });
  }
  const due = deadline_at === null ? null : toIso(deadline_at);
  journalPause(work, row, 'created', { agent_id, to_agent_id, to_agent_type, deadline_at: due });
  if (to_agent_id !== null) {
    const payload = canonical({ pause_id, agent_id, trigger: row.trigger });
    await sendFromSystem(work, { from_agent_id: agent_id, to_agent_id, message_type: 'pause.created', payload });
  }
  return row;
}

/** Asks in a held agent_turn: suspends it and ends its lease. */
async function askInTurn(work: Work, held: TurnGuard, prepared: PreparedPause): Promise<PauseRow> {
  const turn = await heldTurn(work, held);
  const { agent_turn_id, agent_id, source_agent_id, trajectory_id } = turn;
  const run = { agent_turn_id, execution_id: null };
  const existing = await existingPause(work, run, prepared);
  if (existing && existing.status !== 'open') return existing;
  const row = existing ?? (await addPause(work, { ...run, agent_id, source_agent_id, trajectory_id }, prepared));
  await suspendTurn(work, turn, row.pause_id);
  return row;
}

/** Default: the owner of the execution, which after a handoff is the receiver of its trajectory. */
async function askerOf(
  { call, tx }: Work,
  execution: ExecutionRow,
): Promise<Pick<PauseRow, 'agent_id' | 'source_agent_id'>> {
  const owner = await successorOf(tx, execution.trajectory_id, execution.agent_id);
  const agent_id = call.caller.agent_id ?? owner;
  return { agent_id, source_agent_id: agent_id === owner ? null : owner };
}

async function askInExecution(work: Work, execution_id: string, prepared: PreparedPause): Promise<PauseRow> {
  const execution = await openExecutionLocked(work, execution_id);
  const { trajectory_id, status } = execution;
  const run = { agent_turn_id: null, execution_id };
  const existing = await existingPause(work, run, prepared);
  if (existing && existing.status !== 'open') return existing;
  if (isExecutionFinished(status)) {
    const message = `execution ${execution_id} is ${status} and asks nothing any more: set it running first`;
    throw new CairnError('STATE_CONFLICT', message, { status });
  }
  if (!existing) {
    await checkCheckpoint(work, prepared.input, execution_id);
    await refuseMany(work, run);
  }
  const row =
    existing ?? (await addPause(work, { ...run, ...(await askerOf(work, execution)), trajectory_id }, prepared));
  await pauseExecution(work, execution, row.pause_id);
  return row;
}

/** Replays a question. A worker that lost its turn must not go on with the answer: another has the turn by now. */
async function askedBefore(call: Call, query: Query, pause_id: string, held: TurnGuard | null): Promise<Pause> {
  const pause = await readPause(call, query, pause_id);
  if (held && pause.status !== 'open') await findHeldTurn(call, query, held, call.driver.now());
  return pause;
}

export async function create(call: Call, input: In<'pauses.create'>): Promise<Pause> {
  const prepared = prepareCreate(call, input);
  const { held, bytes } = prepared;
  return change(call, {
    input,
    bytes,
    work: async (work) =>
      toPause(await (held ? askInTurn(work, held, prepared) : askInExecution(work, input.execution_id!, prepared))),
    remember: ({ pause_id }) => pause_id,
    again: (query, kept) => askedBefore(call, query, kept as string, held),
  });
}

export const get = (call: Call, { pause_id, wait_ms }: In<'pauses.get'>): Promise<Pause> =>
  readAfterEnd(
    call,
    `pause:${pause_id}`,
    wait_ms,
    () => readPause(call, call.driver.at(call.tenant), pause_id),
    ({ status }) => status !== 'open',
  );

export async function list(call: Call, input: In<'pauses.list'>): Promise<Out<'pauses.list'>> {
  const { driver, tenant, caller } = call;
  await expireDueLeases(call);
  const { limit, cursor, offset, order, ...asked } = input;
  const viewer = caller.agent_id === null ? undefined : await answererOf(driver.at(tenant), caller.agent_id);
  const filter: PauseFilter = { ...asked, viewer };
  const { rows, ...page } = await listPage<PauseRow, string>(call, {
    input: { limit, cursor, offset, order },
    filters: { ...asked, viewer: viewer?.agent_id ?? null } as Json,
    key: 'string',
    keyOf: ({ pause_id }) => pause_id,
    read: (request) => listPauses(longQuery(driver, tenant), filter, request),
    bytesOf: pauseBytes,
    count: countPauses(filter),
  });
  return { pauses: rows.map(toPause), ...page };
}
