/** The primitives of delegation: delegate_async, fork_join, launch_principal, ask_expert. */
import type { Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { appendEvent, type Call, type Change, change, putLease, type Work } from '../../engine/index.js';
import { lockAgent } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid, toIso } from '../../kernel/index.js';
import type { DispatchAnswer } from '../agent-turns/model.js';
import { insertBatch } from '../agent-turns/store.js';
import {
  createTrajectory,
  type Dispatched,
  dispatch,
  isRefusal,
  outputOf,
  type PreparedTask,
  prepareTasks,
  readyTask,
} from './dispatch.js';
import { registerTarget, type Source, sourceOf } from './dispatch-targets.js';
import type { Refusal, Task } from './model.js';

const DEFAULT_DEADLINE_S = 900;

/** Rolls back a refused request; the refusal becomes the answer. */
class Refused extends Error {
  readonly refusal: Refusal & { readonly task_index: number };

  constructor(refusal: Refusal, task_index: number) {
    super(refusal.message);
    this.refusal = { ...refusal, task_index };
  }
}

interface Delegating {
  readonly source_agent_id?: string | undefined;
  readonly trajectory_id?: string | undefined;
  readonly channel_id?: string | undefined;
  readonly deadline_seconds?: number | undefined;
}

/** Whether all tasks form a batch, or one task has a deadline of its own. */
type Bounds = { readonly batch_id: string } | { readonly deadline_at?: number };

/** Dispatches all tasks or none: each is checked before any is dispatched. */
async function dispatchAll(
  work: Work,
  input: Delegating,
  tasks: readonly PreparedTask[],
  source: Source,
  bounds: Bounds,
): Promise<Dispatched[]> {
  const author = work.call.operation.slice(work.call.operation.indexOf('.') + 1);
  // Lock order: agents first, by id.
  const reused = tasks.flatMap(({ task }) => (task.target_strategy === 'reuse' ? (task.target_ref ?? []) : []));
  for (const agent_id of reused.sort()) await lockAgent(work.tx, agent_id);
  const ready = [];
  for (const [i, task] of tasks.entries()) {
    const one = await readyTask(work, task, source, author).catch((error) => {
      throw tasks.length === 1 ? error : inTask(error, i);
    });
    if (isRefusal(one)) throw new Refused(one, i);
    ready.push(one);
  }
  const options = { channel_id: input.channel_id ?? null, trajectory_id: input.trajectory_id ?? null };
  const placed = [];
  for (const [i, one] of ready.entries()) {
    await registerTarget(work, one.target);
    const { instruction } = tasks[i]!.task;
    placed.push({ ...one, trajectory_id: await createTrajectory(work, one.target, source, options, instruction) });
  }
  const answers: Dispatched[] = [];
  for (const [task_index, one] of placed.entries()) {
    const bound = 'batch_id' in bounds ? { batch: { batch_id: bounds.batch_id, task_index } } : bounds;
    answers.push(await dispatch(work, one, source, { ...options, ...bound }));
  }
  return answers;
}

const inTask = (error: unknown, index: number): unknown =>
  error instanceof CairnError
    ? new CairnError(error.code, `tasks[${index}]: ${error.message}`, { ...error.details, task_index: index })
    : error;

/** A change that answers a refusal: it changed nothing, so it is no error. */
const changeOrRefuse = <O>(
  call: Call,
  what: Pick<Change<O>, 'input' | 'bytes' | 'work'>,
  refused: (refusal: Refused['refusal']) => O,
): Promise<O> =>
  change<O>(call, { ...what, remember: (answer) => answer as Json, again: async (_query, kept) => kept as O }).catch(
    (error) => {
      if (error instanceof Refused) return refused(error.refusal);
      throw error;
    },
  );

const delegateOne = (
  call: Call,
  input: Delegating,
  prepared: PreparedTask,
  withSource?: (tx: Tx, source: Source) => Promise<Partial<Task>>,
): Promise<DispatchAnswer> => {
  const work = async (work: Work): Promise<DispatchAnswer> => {
    const { deadline_seconds } = input;
    const source = await sourceOf(work, input.source_agent_id);
    const task = { ...prepared.task, ...(await withSource?.(work.tx, source)) };
    const deadline = deadline_seconds === undefined ? {} : { deadline_at: work.now + deadline_seconds * 1000 };
    return (await dispatchAll(work, input, [{ ...prepared, task }], source, deadline))[0]!;
  };
  const bytes = prepared.task.instruction.length;
  return changeOrRefuse(call, { input, bytes, work }, ({ task_index: _, ...refusal }) => refusal);
};

export async function delegate_async(call: Call, input: In<'pmo.delegate_async'>): Promise<DispatchAnswer> {
  const [prepared] = await prepareTasks(call, [input], input.handover);
  return delegateOne(call, input, prepared!);
}

export async function launch_principal(call: Call, input: In<'pmo.launch_principal'>): Promise<DispatchAnswer> {
  const { profile_name: target_ref, instruction } = input;
  const [prepared] = await prepareTasks(call, [{ target_strategy: 'new', target_ref, instruction }], input.handover);
  return delegateOne(call, input, prepared!);
}

export async function ask_expert(call: Call, input: In<'pmo.ask_expert'>): Promise<DispatchAnswer> {
  const { profile_name: target_ref, question: instruction, include_history } = input;
  const [prepared] = await prepareTasks(call, [{ target_strategy: 'new', target_ref, instruction }], input.handover);
  return delegateOne(call, input, prepared!, async (tx, source) =>
    include_history ? { context_box_id: await outputOf(tx, source) } : {},
  );
}

/** An agent does one task at a time, so a batch can give it only one. */
function refuseTwice(tasks: readonly Task[]): void {
  const refs = tasks.flatMap((task) => (task.target_strategy === 'reuse' ? (task.target_ref ?? []) : []));
  const twice = refs.find((ref, i) => refs.indexOf(ref) !== i);
  if (twice !== undefined) throw invalid(`tasks reuse agent ${twice} twice: an agent does one task at a time`);
}

export async function fork_join(call: Call, input: In<'pmo.fork_join'>): Promise<Out<'pmo.fork_join'>> {
  refuseTwice(input.tasks);
  const prepared = await prepareTasks(call, input.tasks, input.handover);
  const bytes = input.tasks.reduce((sum, { instruction }) => sum + instruction.length, 0);
  const work = async (work: Work): Promise<Out<'pmo.fork_join'>> => {
    const { tx, now } = work;
    const { fail_fast = false, channel_id = null, trajectory_id = null } = input;
    const source = await sourceOf(work, input.source_agent_id);
    const batch_id = newId();
    const expires_at = now + (input.deadline_seconds ?? DEFAULT_DEADLINE_S) * 1000;
    const deadline_at = toIso(expires_at);
    const task_count = prepared.length;
    const dispatched = await dispatchAll(work, input, prepared, source, { batch_id });
    await insertBatch(tx, {
      batch_id,
      source_agent_id: source.agent_id,
      parent_agent_turn_id: source.turn?.agent_turn_id ?? null,
      channel_id,
      fail_fast: fail_fast ? 1 : 0,
      task_count,
      status: 'running',
      deadline_at: expires_at,
      created_at: now,
      ended_at: null,
    });
    await putLease(tx, { kind: 'batch', subject_id: batch_id, holder: null, token: 0, expires_at });
    const agent_turn_ids = dispatched.map(({ agent_turn_id }) => agent_turn_id);
    const facts = { agent_turn_ids, fail_fast, deadline_at };
    const thread = source.turn?.trajectory_id ?? trajectory_id;
    appendEvent(work, 'cairn.batch.dispatched', { type: 'batch', id: batch_id }, facts, thread);
    return { status: 'accepted', batch_id, task_count, agent_turn_ids, deadline_at };
  };
  return changeOrRefuse(call, { input, bytes, work }, (refusal) => refusal);
}
