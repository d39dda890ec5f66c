/** The primitives by which agents have others work: delegate_async, fork_join, launch_principal, ask_expert. */
import type { Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { appendEvent, type Call, change, putLease, type Work } from '../../engine/index.js';
import { lockAgent } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid, toIso } from '../../kernel/index.js';
import { insertBatch } from '../agent-turns/batches-store.js';
import type { DispatchAnswer } from '../agent-turns/model.js';
import {
  type Dispatched,
  dispatch,
  isRefusal,
  outputOf,
  type PreparedTask,
  placeTask,
  prepareTasks,
  readyTask,
} from './dispatch.js';
import { registerTarget, type Source, sourceOf } from './dispatch-targets.js';
import type { Refusal, Task } from './task.js';

const DEFAULT_DEADLINE_S = 900;

/** Thrown to leave nothing behind of what was refused; becomes the answer. */
class Refused extends Error {
  readonly refusal: Refusal & { readonly task_index: number };

  constructor(refusal: Refusal, task_index: number) {
    super(refusal.message);
    this.refusal = { ...refusal, task_index };
  }
}

interface Delegating {
  readonly input: unknown;
  readonly source_agent_id: string | undefined;
  readonly trajectory_id: string | undefined;
  readonly channel_id: string | undefined;
  readonly author: string;
}

/** All tasks or none: each is checked before any is dispatched. */
async function dispatchAll(
  work: Work,
  what: Delegating,
  tasks: readonly PreparedTask[],
  source: Source,
  batch_id: string | undefined,
  deadline_at: number | undefined,
): Promise<Dispatched[]> {
  const { tx } = work;
  // Agents come first in the order of locks, and among themselves by their ids.
  const reused = tasks.flatMap(({ task: { target_strategy, target_ref } }) =>
    target_strategy === 'reuse' && target_ref !== undefined ? [target_ref] : [],
  );
  for (const agent_id of reused.sort()) await lockAgent(tx, agent_id);
  const ready = [];
  for (const [i, task] of tasks.entries()) {
    const one = await readyTask(work, task, source, what.author).catch((error) => {
      throw tasks.length === 1 ? error : inTask(error, i);
    });
    if (isRefusal(one)) throw new Refused(one, i);
    ready.push(one);
  }
  const options = { channel_id: what.channel_id ?? null, trajectory_id: what.trajectory_id ?? null };
  const placed = [];
  for (const [i, one] of ready.entries()) {
    await registerTarget(work, one.target);
    const { instruction } = tasks[i]!.task;
    placed.push(await placeTask(work, one, source, options, instruction));
  }
  const answers: Dispatched[] = [];
  for (const [i, one] of placed.entries()) {
    const batch = batch_id === undefined ? {} : { batch: { batch_id, task_index: i } };
    const deadline = deadline_at === undefined || batch_id !== undefined ? {} : { deadline_at };
    answers.push(await dispatch(work, one, source, { ...options, ...batch, ...deadline }));
  }
  return answers;
}

const inTask = (error: unknown, index: number): unknown =>
  error instanceof CairnError
    ? new CairnError(error.code, `tasks[${index}]: ${error.message}`, { ...error.details, task_index: index })
    : error;

/** A refusal has changed nothing, so it is an answer and no error. */
const answerRefusals = <T>(error: unknown, answer: (refusal: Refused['refusal']) => T): T => {
  if (error instanceof Refused) return answer(error.refusal);
  throw error;
};

async function delegateOne(
  call: Call,
  what: Delegating & { readonly deadline_seconds?: number | undefined },
  prepared: readonly PreparedTask[],
  withSource: (tx: Tx, source: Source, task: PreparedTask) => Promise<PreparedTask> = async (_tx, _source, task) =>
    task,
): Promise<DispatchAnswer> {
  return change<DispatchAnswer>(call, {
    input: what.input,
    bytes: prepared[0]!.task.instruction.length,
    work: async (work) => {
      const { tx, now } = work;
      const source = await sourceOf(work, what.source_agent_id);
      const task = await withSource(tx, source, prepared[0]!);
      const { deadline_seconds } = what;
      const deadline_at = deadline_seconds === undefined ? undefined : now + deadline_seconds * 1000;
      const [answer] = await dispatchAll(work, what, [task], source, undefined, deadline_at);
      return answer!;
    },
    remember: (answer) => answer as unknown as Json,
    again: async (_query, kept) => kept as unknown as DispatchAnswer,
  }).catch((error) =>
    answerRefusals<DispatchAnswer>(error, ({ status, error_code, message }) => ({ status, error_code, message })),
  );
}

export async function delegate_async(call: Call, input: In<'pmo.delegate_async'>): Promise<DispatchAnswer> {
  const prepared = await prepareTasks(call, [input], input.handover);
  return delegateOne(call, { ...input, ...delegating(call, input) }, prepared);
}

const delegating = (
  { operation }: Call,
  input: Partial<Pick<Delegating, 'source_agent_id' | 'trajectory_id' | 'channel_id'>>,
): Delegating => ({
  input,
  source_agent_id: input.source_agent_id,
  trajectory_id: input.trajectory_id,
  channel_id: input.channel_id,
  author: operation.slice(operation.indexOf('.') + 1),
});

export async function launch_principal(call: Call, input: In<'pmo.launch_principal'>): Promise<DispatchAnswer> {
  const { profile_name: target_ref, instruction } = input;
  const task: Task = { target_strategy: 'new', target_ref, instruction };
  return delegateOne(call, delegating(call, input), await prepareTasks(call, [task], input.handover));
}

export async function ask_expert(call: Call, input: In<'pmo.ask_expert'>): Promise<DispatchAnswer> {
  const { profile_name: target_ref, question: instruction, include_history } = input;
  const task: Task = { target_strategy: 'new', target_ref, instruction };
  const prepared = await prepareTasks(call, [task], input.handover);
  return delegateOne(call, delegating(call, input), prepared, async (tx, source, one) => {
    if (!include_history) return one;
    return { ...one, task: { ...one.task, context_box_id: await outputOf(tx, source) } };
  });
}

/** An agent has one agent_turn at a time, so it can get one task of a batch. */
function refuseTwice(tasks: readonly Task[]): void {
  const reused = tasks.filter(({ target_strategy }) => target_strategy === 'reuse');
  const refs = reused.map(({ target_ref }) => target_ref);
  const twice = refs.find((ref, i) => refs.indexOf(ref) !== i);
  if (twice === undefined) return;
  throw invalid(`tasks reuse agent ${twice} twice: an agent does one task at a time`);
}

export async function fork_join(call: Call, input: In<'pmo.fork_join'>): Promise<Out<'pmo.fork_join'>> {
  refuseTwice(input.tasks);
  const prepared = await prepareTasks(call, input.tasks, input.handover);
  const what = delegating(call, input);
  return change<Out<'pmo.fork_join'>>(call, {
    input,
    bytes: input.tasks.reduce((sum, { instruction }) => sum + instruction.length, 0),
    work: async (work) => {
      const { tx, now } = work;
      const source = await sourceOf(work, input.source_agent_id);
      const batch_id = newId();
      const deadline_at = now + (input.deadline_seconds ?? DEFAULT_DEADLINE_S) * 1000;
      const task_count = prepared.length;
      const dispatched = await dispatchAll(work, what, prepared, source, batch_id, deadline_at);
      await insertBatch(tx, {
        batch_id,
        source_agent_id: source.agent_id,
        parent_agent_turn_id: source.turn?.agent_turn_id ?? null,
        channel_id: input.channel_id ?? null,
        fail_fast: input.fail_fast ? 1 : 0,
        task_count,
        status: 'running',
        deadline_at,
        created_at: now,
        ended_at: null,
      });
      const lease = { kind: 'batch', subject_id: batch_id, holder: null, token: 0 } as const;
      await putLease(tx, { ...lease, expires_at: deadline_at });
      const agent_turn_ids = dispatched.map(({ agent_turn_id }) => agent_turn_id);
      const facts = { agent_turn_ids, fail_fast: input.fail_fast ?? false, deadline_at: toIso(deadline_at) };
      const thread = source.turn?.trajectory_id ?? input.trajectory_id ?? null;
      appendEvent(work, 'cairn.batch.dispatched', { type: 'batch', id: batch_id }, facts, thread);
      return { status: 'accepted', batch_id, task_count, agent_turn_ids, deadline_at: toIso(deadline_at) };
    },
    remember: (answer) => answer as unknown as Json,
    again: async (_query, kept) => kept as unknown as Out<'pmo.fork_join'>,
  }).catch((error) => answerRefusals<Out<'pmo.fork_join'>>(error, (refusal) => refusal));
}
