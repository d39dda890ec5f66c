/** Batches whose items commit and are answered one by one, in order; a retry under the batch's key replays them. */
import { CairnError, settleInChunks } from '../../kernel/index.js';
import { sha256 } from '../../kernel/node.js';
import type { Call } from '../calls/call.js';
import { change } from './change.js';

export type ItemResult<T> = { status: 'success'; data: T } | { status: 'error'; code: string; message: string };

export interface BatchAnswer<T> {
  results: ItemResult<T>[];
  succeeded: number;
  failed: number;
}

/** The ids that an item depends on. */
export interface ItemReferences {
  /** The entity that it creates, changes or deletes, if known in advance. */
  readonly changes?: string | undefined;
  /** The entities that it only refers to. */
  readonly names?: readonly string[] | undefined;
}

interface EachOptions<I, P> {
  /** Runs items one by one until the first failure. Otherwise they start in order and share commits. */
  readonly stop_on_error?: boolean | undefined;
  /** The name of an item in messages (default: item). */
  readonly noun?: string;
  /** Slow work outside the transaction, done for all items before the first one runs. */
  readonly prepare?: (call: Call, item: I) => Promise<P>;
  /** An item that depends on an earlier item's change waits for it. */
  readonly about?: (item: I) => ItemReferences;
}

/** Reason of an item that was not tried because an earlier one failed. */
const NOT_TRIED = Symbol('not tried');

/** The answer of a batch that succeeded as a whole. */
export const allSucceeded = <T>(data: readonly T[]): BatchAnswer<T> => ({
  results: data.map((one) => ({ status: 'success', data: one })),
  succeeded: data.length,
  failed: 0,
});

/**
 * Runs every item as a call of its own. `input` is that of the whole batch, for its idempotency record. `run` must queue
 * its write before it awaits anything, so that the writes keep the order of the items.
 */
export async function runEach<I, T, P = undefined>(
  call: Call,
  input: unknown,
  items: readonly I[],
  run: (call: Call, item: I, prepared: P) => Promise<T>,
  options: EachOptions<I, P> = {},
): Promise<BatchAnswer<T>> {
  const { stop_on_error = false, noun = 'item', about = () => ({}) } = options;
  const prepare = options.prepare ?? (async () => undefined as P);
  // The key is recorded for the batch as a whole before it is used for each item.
  if (call.options.idempotency_key !== undefined)
    await change(call, { input, work: async () => null, remember: () => null, again: async () => null });
  const calls = items.map((_, i) => callOfItem(call, i));
  const prepareItem = (i: number) => prepare(calls[i]!, items[i]!);
  const runItem = (i: number, prepared: P) => run(calls[i]!, items[i]!, prepared);
  const settled = stop_on_error
    ? await oneByOne(items.length, async (i) => runItem(i, await prepareItem(i)))
    : await inOrder(items.map(about), prepareItem, runItem);
  throwStoreFailure(settled);
  return answerOf(settled.map((one) => resultOf(one, noun)));
}

/** Replays one item: if its entity is gone, only this item fails. */
export async function replayItem<T>(read: () => Promise<T>): Promise<ItemResult<T>> {
  const [one] = await Promise.allSettled([read()]);
  if (one.status === 'rejected' && !(one.reason instanceof CairnError)) throw one.reason;
  return resultOf(one, 'item');
}

export function answerOf<T>(results: ItemResult<T>[]): BatchAnswer<T> {
  const succeeded = results.filter(({ status }) => status === 'success').length;
  return { results, succeeded, failed: results.length - succeeded };
}

/** The results of a batch in one transaction, including items that were not tried. */
export function resultsOf<T>(
  settled: readonly PromiseSettledResult<T>[],
  count: number,
  { noun, list, atomic = false }: { noun: string; list: string; atomic?: boolean | undefined },
): ItemResult<T>[] {
  const all: PromiseSettledResult<T>[] = Array.from(
    { length: count },
    (_, i) => settled[i] ?? { status: 'rejected', reason: NOT_TRIED },
  );
  for (const [i, one] of all.entries()) {
    if (one.status === 'fulfilled') continue;
    // Any other error is a failure of the store, and so of the whole transaction.
    if (one.reason !== NOT_TRIED && !(one.reason instanceof CairnError)) throw one.reason;
    if (atomic)
      withItemIndex(list, i, () => {
        throw one.reason;
      });
  }
  return all.map((one) => resultOf(one, noun));
}

function callOfItem(call: Call, index: number): Call {
  const key = call.options.idempotency_key;
  if (key === undefined) return call;
  return { ...call, options: { ...call.options, idempotency_key: `batch:${sha256(key)}:${index}` } };
}

async function oneByOne<T>(count: number, run: (index: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
  const settled: PromiseSettledResult<T>[] = [];
  for (let i = 0; i < count; i++) {
    if (settled.at(-1)?.status === 'rejected') settled.push({ status: 'rejected', reason: NOT_TRIED });
    else settled.push(...(await Promise.allSettled([run(i)])));
  }
  return settled;
}

/** Prepares all items in chunks, then runs them group by group; the items of a group start without a pause. */
async function inOrder<T, P>(
  abouts: readonly ItemReferences[],
  prepare: (index: number) => Promise<P>,
  run: (index: number, prepared: P) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const prepared = await settleInChunks(abouts, (_, i) => prepare(i));
  let unavailable: unknown;
  const start = async (i: number): Promise<T> => {
    const one = prepared[i]!;
    if (one.status === 'rejected') throw one.reason;
    if (unavailable !== undefined) throw unavailable;
    return run(i, one.value);
  };
  const settled: PromiseSettledResult<T>[] = [];
  for (const group of independentGroups(abouts)) {
    const done = await Promise.allSettled(group.map(start));
    // Later items fail at once: each would wait just as long for an unavailable database.
    unavailable ??= done.find(isUnavailable)?.reason;
    settled.push(...done);
  }
  return settled;
}

const isUnavailable = (one: PromiseSettledResult<unknown>): one is PromiseRejectedResult =>
  one.status === 'rejected' && one.reason instanceof CairnError && one.reason.code === 'DATABASE_UNAVAILABLE';

/**
 * Splits items into groups in which none depends on a change of another. The items of a group share commits; since these
 * may be retried one by one, an item that must see another's outcome has to be in a later group.
 */
function independentGroups(abouts: readonly ItemReferences[]): number[][] {
  const groups: number[][] = [];
  const changed = new Set<string>();
  const named = new Set<string>();
  for (const [i, { changes, names = [] }] of abouts.entries()) {
    const depends =
      (changes !== undefined && (changed.has(changes) || named.has(changes))) || names.some((id) => changed.has(id));
    if (depends || i === 0) {
      groups.push([]);
      changed.clear();
      named.clear();
    }
    groups.at(-1)!.push(i);
    if (changes !== undefined) changed.add(changes);
    for (const id of names) named.add(id);
  }
  return groups;
}

/** Fails the whole batch if all tried items failed because of the store. */
function throwStoreFailure(settled: readonly PromiseSettledResult<unknown>[]): void {
  const tried = settled.filter((one) => one.status === 'fulfilled' || one.reason !== NOT_TRIED);
  const failures = tried.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown);
  const isOfStore = (reason: unknown) => !(reason instanceof CairnError) || reason.status >= 500;
  if (failures.length > 0 && failures.length === tried.length && failures.every(isOfStore)) throw failures[0];
}

function resultOf<T>(one: PromiseSettledResult<T>, noun: string): ItemResult<T> {
  if (one.status === 'fulfilled') return { status: 'success', data: one.value };
  if (one.reason instanceof CairnError) return { status: 'error', code: one.reason.code, message: one.reason.message };
  const [code, message] =
    one.reason === NOT_TRIED
      ? ([
          'NOT_ATTEMPTED',
          `an earlier ${noun} of the batch failed and stop_on_error is set: send this one again`,
        ] as const)
      : (['INTERNAL', `a defect in Cairn: this ${noun} was not written`] as const);
  return { status: 'error', code, message };
}

/** Total size of the items of a batch. */
export const totalBytes = (items: readonly { readonly bytes: number }[]): number =>
  items.reduce((sum, { bytes }) => sum + bytes, 0);

/** Runs an action, synchronous or not, on an item; its errors name the item. */
export function withItemIndex<T>(list: string, index: number, action: () => T): T {
  const named = (error: unknown): never => {
    if (!(error instanceof CairnError)) throw error;
    throw new CairnError(error.code, `${list}[${index}]: ${error.message}`, error.details);
  };
  try {
    const result = action();
    return result instanceof Promise ? (result.catch(named) as T) : result;
  } catch (error) {
    return named(error);
  }
}
