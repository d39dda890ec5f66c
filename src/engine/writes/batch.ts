/** Batches whose items commit alone: each is answered alone, in order, and can be sent again under the batch's key. */
import { CairnError, eachInTurn } from '../../kernel/index.js';
import { sha256 } from '../../kernel/node.js';
import type { Call } from '../calls/call.js';
import { inItem } from './batch-item-errors.js';
import { change } from './change.js';

export type ItemResult<T> = { status: 'success'; data: T } | { status: 'error'; code: string; message: string };

export interface BatchAnswer<T> {
  results: ItemResult<T>[];
  succeeded: number;
  failed: number;
}

/** The ids that an item is about. */
export interface About {
  /** Of what it makes, changes or deletes, if that is known before. */
  readonly changes?: string | undefined;
  /** Of what it refers to and leaves as it is. */
  readonly names?: readonly string[] | undefined;
}

export interface EachOptions<I, P> {
  /** One after another, and none behind one that failed. Otherwise they start in order and share commits. */
  readonly stop_on_error?: boolean | undefined;
  /** What an item is, in messages. */
  readonly noun?: string;
  /** What takes a while and needs no transaction. It is done for all items before the first of them is run. */
  readonly prepare?: (call: Call, item: I) => Promise<P>;
  /** An item about what one before it changes waits until that one is done. */
  readonly about?: (item: I) => About;
}

/** Of an item that was not tried, since one before it failed. */
const NOT_TRIED = Symbol('not tried');

/** The answer of a batch that was done as a whole. */
export const allDone = <T>(data: readonly T[]): BatchAnswer<T> => ({
  results: data.map((one) => ({ status: 'success', data: one })),
  succeeded: data.length,
  failed: 0,
});

/**
 * Runs every item as a call of its own. `input` is that of the batch, by which it is recognised when it comes again.
 * `run` asks for its write before it awaits anything: so the writes of the items stand in line in their order.
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
  // The key stands for the batch as a whole, and only then for each of its items.
  if (call.options.idempotency_key !== undefined)
    await change(call, { input, work: async () => null, remember: () => null, again: async () => null });
  const calls = items.map((_, i) => callOfItem(call, i));
  const prepareItem = (i: number) => prepare(calls[i]!, items[i]!);
  const runItem = (i: number, prepared: P) => run(calls[i]!, items[i]!, prepared);
  const settled = stop_on_error
    ? await oneByOne(items.length, async (i) => runItem(i, await prepareItem(i)))
    : await inOrder(items.map(about), prepareItem, runItem);
  refuseIfOurs(settled);
  return answerOf(settled.map((one) => resultOf(one, noun)));
}

/** Gives an item of a batch again: what is gone since is refused alone, and does not hide the others. */
export async function itemAgain<T>(read: () => Promise<T>): Promise<ItemResult<T>> {
  try {
    return { status: 'success', data: await read() };
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    return { status: 'error', code: error.code, message: error.message };
  }
}

export function answerOf<T>(results: ItemResult<T>[]): BatchAnswer<T> {
  const succeeded = results.filter(({ status }) => status === 'success').length;
  return { results, succeeded, failed: results.length - succeeded };
}

/** Of a batch that runs in one transaction: its answers, the items that were not tried included. */
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
    // Whatever is no refusal is a failure of the store, and with it of the whole transaction.
    if (one.reason !== NOT_TRIED && !(one.reason instanceof CairnError)) throw one.reason;
    if (atomic)
      inItem(list, i, () => {
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

/** Prepares all, some at a time, then starts one after another without a pause, stretch by stretch. */
async function inOrder<T, P>(
  abouts: readonly About[],
  prepare: (index: number) => Promise<P>,
  run: (index: number, prepared: P) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const prepared = await eachInTurn(abouts, (_, i) => prepare(i));
  let away: unknown;
  const start = async (i: number): Promise<T> => {
    const one = prepared[i]!;
    if (one.status === 'rejected') throw one.reason;
    if (away !== undefined) throw away;
    return run(i, one.value);
  };
  const settled: PromiseSettledResult<T>[] = [];
  for (const stretch of stretchesOf(abouts)) {
    const done = await Promise.allSettled(stretch.map(start));
    // Those that come after would each wait for the database as long, in vain.
    away ??= done.find(isAway)?.reason;
    settled.push(...done);
  }
  return settled;
}

const isAway = (one: PromiseSettledResult<unknown>): one is PromiseRejectedResult =>
  one.status === 'rejected' && one.reason instanceof CairnError && one.reason.code === 'DATABASE_UNAVAILABLE';

/**
 * Cuts items into stretches in which none is about what another one changes. Those of a stretch share commits; but
 * writes that share one may be tried again one by one, so what must see another's outcome waits for it.
 */
function stretchesOf(abouts: readonly About[]): number[][] {
  const stretches: number[][] = [];
  const changed = new Set<string>();
  const named = new Set<string>();
  for (const [i, { changes, names = [] }] of abouts.entries()) {
    const meets =
      (changes !== undefined && (changed.has(changes) || named.has(changes))) || names.some((id) => changed.has(id));
    if (meets || i === 0) {
      stretches.push([]);
      changed.clear();
      named.clear();
    }
    stretches.at(-1)!.push(i);
    if (changes !== undefined) changed.add(changes);
    for (const id of names) named.add(id);
  }
  return stretches;
}

/** Where nothing was written for a reason that lies with the store, the batch as a whole says so. */
function refuseIfOurs(settled: readonly PromiseSettledResult<unknown>[]): void {
  const tried = settled.filter((one) => one.status === 'fulfilled' || one.reason !== NOT_TRIED);
  const failures = tried.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown);
  const ours = (reason: unknown) => !(reason instanceof CairnError) || reason.status >= 500;
  if (failures.length > 0 && failures.length === tried.length && failures.every(ours)) throw failures[0];
}

function resultOf<T>(one: PromiseSettledResult<T>, noun: string): ItemResult<T> {
  if (one.status === 'fulfilled') return { status: 'success', data: one.value };
  const { code, message } = errorOf(one.reason, noun);
  return { status: 'error', code, message };
}

function errorOf(reason: unknown, noun: string): CairnError {
  if (reason instanceof CairnError) return reason;
  if (reason !== NOT_TRIED) return new CairnError('INTERNAL', `a defect in Cairn: this ${noun} was not written`);
  const message = `an earlier ${noun} of the batch failed and stop_on_error is set: send this one again`;
  return new CairnError('NOT_ATTEMPTED', message);
}
