/** Batches of trajectories: one transaction per item, or one for all. */
import type { In, Out } from '../../engine/contract.js';
import {
  allSucceeded,
  type Call,
  change,
  type ItemReferences,
  runEach,
  startErasure,
  totalBytes,
  withItemIndex,
} from '../../engine/index.js';
import { checkUses } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import type { Action } from '../versions/changes.js';
import { trajectories as operations } from './contract.js';
import { remove, removeIn } from './ending.js';
import type { Trajectory } from './model.js';
import { create, createIn, prepareCreate, preparePatch, readAgain } from './service.js';
import { update, updateWithTask } from './updating.js';

type Item = In<'trajectories.batch'>['items'][number];

export function batch(call: Call, input: In<'trajectories.batch'>): Promise<Out<'trajectories.batch'>> {
  if (input.atomic) return batchAtomic(call, input);
  return runEach(call, input, input.items, runItem, { stop_on_error: input.stop_on_error, about });
}

function about(item: Item): ItemReferences {
  if (item.operation !== 'create') return { changes: item.trajectory_id };
  const { trajectory_id, parent_trajectory_id } = item.create;
  return { changes: trajectory_id, names: parent_trajectory_id == null ? [] : [parent_trajectory_id] };
}

/** Checks access as for a single operation. */
const checkItem = (call: Call, item: Item): Promise<void> =>
  checkUses(
    call,
    operations[item.operation].touches,
    item.operation === 'create' ? item.create : { trajectory_id: item.trajectory_id },
  );

async function runItem(call: Call, item: Item): Promise<Trajectory | null> {
  await checkItem(call, item);
  if (item.operation === 'create') return create(call, item.create);
  const { trajectory_id } = item;
  if (item.operation === 'update') return update(call, { ...item.update, trajectory_id });
  await remove(call, { trajectory_id });
  return null;
}

interface Done {
  readonly trajectory: Trajectory | null;
  readonly ended: readonly string[];
}

function prepare(call: Call, item: Item): Action<Done> {
  if (item.operation === 'create') {
    const prepared = prepareCreate(call, item.create);
    return { bytes: prepared.bytes, work: async (work) => ({ trajectory: await createIn(work, prepared), ended: [] }) };
  }
  if (item.operation === 'update') {
    const prepared = preparePatch(item.trajectory_id, item.update);
    return { bytes: prepared.bytes, work: (work) => updateWithTask(work, prepared) };
  }
  return { bytes: 0, work: async (work) => ({ trajectory: null, ended: await removeIn(work, item.trajectory_id) }) };
}

async function batchAtomic(call: Call, input: In<'trajectories.batch'>): Promise<Out<'trajectories.batch'>> {
  for (const [i, item] of input.items.entries()) await withItemIndex('items', i, () => checkItem(call, item));
  const prepared = input.items.map((item, i) => withItemIndex('items', i, () => prepare(call, item)));
  const done = await change<Done[]>(call, {
    input,
    bytes: totalBytes(prepared),
    work: async (work) => {
      const answers: Done[] = [];
      for (const [i, item] of prepared.entries()) answers.push(await withItemIndex('items', i, () => item.work(work)));
      return answers;
    },
    remember: (answers) => answers.map(({ trajectory }): Json => trajectory?.trajectory_id ?? null),
    again: (query, kept) =>
      Promise.all(
        (kept as (string | null)[]).map(async (id) => ({
          trajectory: id === null ? null : await readAgain(call, query, id),
          ended: [],
        })),
      ),
  });
  const ended = done.flatMap((one) => one.ended);
  if (ended.length > 0) startErasure(call, ended);
  return allSucceeded(done.map(({ trajectory }) => trajectory));
}
