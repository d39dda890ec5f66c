/** Changes of artifacts and notes as they are asked for: alone, or as items of a batch. */
import {
  type About,
  allDone,
  answerOf,
  type BatchAnswer,
  bytesOf,
  type Call,
  change,
  type ItemResult,
  inItem,
  itemAgain,
  runEach,
  type Work,
} from '../../engine/index.js';
import type { Json } from '../../kernel/contract.js';
import { invalid } from '../../kernel/index.js';
import { type Memory, type Noun, readVersion } from './views.js';

/** A change that is checked, hashed and counted, and needs nothing but a transaction. */
export interface Action<O> {
  readonly bytes: number;
  readonly work: (work: Work) => Promise<O>;
}

/** Of an answer, what is kept to give it again: which version of what it was. */
type Kept = [memory_id: string, version: number] | null;

const keep = (answer: Memory | null): Json =>
  answer === null ? null : ['artifact_id' in answer ? answer.artifact_id : answer.note_id, answer.version];

async function again<M extends Memory>(work: Work, noun: Noun<M>, kept: Kept): Promise<M | null> {
  return kept === null ? null : readVersion(work, noun, ...kept);
}

export function perform<M extends Memory, O extends M | null>(
  call: Call,
  noun: Noun<M>,
  input: unknown,
  { bytes, work }: Action<O>,
): Promise<O> {
  return change<O>(call, {
    input,
    bytes,
    work,
    remember: keep,
    again: (tx, kept) => again({ call, tx, now: call.driver.now() }, noun, kept as Kept) as Promise<O>,
  });
}

interface Batch<I> {
  readonly items: readonly I[];
  readonly atomic?: boolean | undefined;
  readonly stop_on_error?: boolean | undefined;
}

interface Steps<M, I> {
  readonly prepare: (call: Call, item: I) => Promise<Action<M | null>>;
  readonly about: (item: I) => About;
}

export async function performBatch<M extends Memory, I>(
  call: Call,
  noun: Noun<M>,
  input: Batch<I>,
  { prepare, about }: Steps<M, I>,
): Promise<BatchAnswer<M | null>> {
  const { items, stop_on_error } = input;
  if (!input.atomic) {
    const run = (own: Call, item: I, action: Action<M | null>) => perform(own, noun, item, action);
    return runEach(call, input, items, run, { stop_on_error, prepare, about });
  }
  const actions: Action<M | null>[] = [];
  for (const [i, item] of items.entries()) actions.push(await inItem('items', i, () => prepare(call, item)));
  const results = await change<ItemResult<M | null>[]>(call, {
    input,
    bytes: bytesOf(actions),
    work: async (work) => {
      const done: (M | null)[] = [];
      for (const [i, action] of actions.entries()) done.push(await inItem('items', i, () => action.work(work)));
      return allDone(done).results;
    },
    remember: (list) => list.map((one) => (one.status === 'success' ? keep(one.data) : null)),
    again: async (tx, kept) => {
      const list: ItemResult<M | null>[] = [];
      for (const one of kept as Kept[])
        list.push(await itemAgain(() => again({ call, tx, now: call.driver.now() }, noun, one)));
      return list;
    },
  });
  return answerOf(results);
}

/** A change of nothing is a mistake rather than a wish. */
export function refuseEmpty(patch: object, changeable: readonly string[]): void {
  const given = Object.entries(patch).filter(([, value]) => value !== undefined);
  if (given.some(([name]) => changeable.includes(name))) return;
  throw invalid(`nothing to change: give one of ${changeable.join(', ')}`);
}
