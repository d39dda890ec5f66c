/** Batches whose items commit alone: each is answered alone, in order, and can be sent again under the batch's key. */
import { sha256 } from '../domain/canonical.js';
import { CairnError } from '../model/errors.js';
import { inItem } from './items.js';
import type { Call } from './runtime.js';
import { change } from './write.js';

export type ItemResult<T> =
  | { status: 'success'; data: T }
  | { status: 'error'; code: string; message: string };

export interface BatchAnswer<T> {
  results: ItemResult<T>[];
  succeeded: number;
  failed: number;
}

export interface EachOptions {
  /** One after another, and none behind one that failed. Otherwise they start together and share commits. */
  readonly stop_on_error?: boolean | undefined;
  /** What an item is, in messages. */
  readonly noun?: string;
}

/** Of an item that was not tried, since one before it failed. */
const NOT_TRIED = Symbol('not tried');

/** The answer of a batch that was done as a whole. */
export const allDone = <T>(data: readonly T[]): BatchAnswer<T> => ({
  results: data.map((one) => ({ status: 'success', data: one })),
  succeeded: data.length,
  failed: 0,
});

/** Runs every item as a call of its own. `input` is that of the batch, by which it is recognised when it comes again. */
export async function runEach<I, T>(
  call: Call,
  input: unknown,
  items: readonly I[],
  run: (call: Call, item: I) => Promise<T>,
  { stop_on_error = false, noun = 'item' }: EachOptions = {},
): Promise<BatchAnswer<T>> {
  // The key stands for the batch as a whole, and only then for each of its items.
  if (call.options.idempotency_key !== undefined)
    await change(call, { input, work: async () => null, remember: () => null, again: async () => null });
  const runItem = async (item: I, index: number): Promise<T> => run(callOfItem(call, index), item);
  const settled = stop_on_error
    ? await oneByOne(items, runItem)
    : await Promise.allSettled(items.map(runItem));
  refuseIfOurs(settled);
  return answerOf(settled.map((one) => resultOf(one, noun)));
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

async function oneByOne<I, T>(
  items: readonly I[],
  run: (item: I, index: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const settled: PromiseSettledResult<T>[] = [];
  for (const [i, item] of items.entries()) {
    if (settled.at(-1)?.status === 'rejected') settled.push({ status: 'rejected', reason: NOT_TRIED });
    else settled.push(...(await Promise.allSettled([run(item, i)])));
  }
  return settled;
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
  if (reason !== NOT_TRIED)
    return new CairnError('INTERNAL', `a defect in Cairn: this ${noun} was not written`);
  const message = `an earlier ${noun} of the batch failed and stop_on_error is set: send this one again`;
  return new CairnError('NOT_ATTEMPTED', message);
}
