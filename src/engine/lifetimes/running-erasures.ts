/** Running erasures of this process, and their batches. */
import type { Tx } from '../../driver/index.js';

/** A run of shared work, and the one that waits for it. */
interface Round {
  readonly current: Promise<unknown>;
  next?: Promise<unknown>;
}

export class Erasures {
  readonly #running = new Set<Promise<void>>();
  readonly #once = new Map<string, Promise<unknown>>();
  readonly #rounds = new Map<string, Round>();
  stopping = false;

  /** Runs in the background. A failed erasure stays stored as unfinished, and the next sweep continues it. */
  start(work: () => Promise<void>): void {
    if (!this.stopping) this.track(work).catch(() => undefined);
  }

  /** Work that `stop` waits for. */
  track<T>(work: () => Promise<T>): Promise<T> {
    const running = work();
    const quiet = running.then(
      () => void this.#running.delete(quiet),
      () => void this.#running.delete(quiet),
    );
    this.#running.add(quiet);
    return running;
  }

  /** A second call with the same name joins the running one. */
  once<T>(name: string, work: () => Promise<T>): Promise<T> {
    const known = this.#once.get(name) as Promise<T> | undefined;
    if (known) return known;
    const running = work().finally(() => this.#once.delete(name));
    this.#once.set(name, running);
    return running;
  }

  /** Runs one after another for each name. Calls during a run share the next one, which begins after them. */
  shared<T>(name: string, work: () => Promise<T>): Promise<T> {
    const round = this.#rounds.get(name);
    if (round?.next) return round.next as Promise<T>;
    const begin = (): Promise<T> => {
      const current = work();
      const mine: Round = { current };
      this.#rounds.set(name, mine);
      const end = () => {
        if (!mine.next) this.#rounds.delete(name);
      };
      current.then(end, end);
      return current;
    };
    if (!round) return begin();
    const next = round.current.then(begin, begin);
    round.next = next;
    return next;
  }

  /** Stops all after their current batch. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.allSettled([...this.#running, ...this.#once.values()]);
  }
}

/** A batch takes about `ms`, since other writers of the tenant wait for it. */
const BATCH = { first: 20, least: 5, most: 1000, ms: 8 };

/** The size of the next batch. It grows in steps, since a slow batch may follow a quick one. */
export function nextBatch(size: number, took_ms: number): number {
  const fitting = Math.round((size * BATCH.ms) / Math.max(took_ms, 0.1));
  return Math.max(BATCH.least, Math.min(fitting, size * 2, BATCH.most));
}

/** Wraps the function of a transaction, so that it is timed. */
type Timed = <T>(work: (tx: Tx) => Promise<T>) => (tx: Tx) => Promise<T>;

/**
 * Runs batches until one is not full; each in about the time that other writers may wait. Of a batch with a timed
 * transaction that alone counts: waiting for its turn and for the disk takes as long for few rows as for many, and on a
 * slow disk would leave only the smallest batches. False if the store is closing.
 */
export async function inBatches(
  { erasures }: { readonly erasures: Erasures },
  run: (limit: number, timed: Timed) => Promise<number>,
): Promise<boolean> {
  for (let limit = BATCH.first; !erasures.stopping; ) {
    let in_transaction: number | undefined;
    const timed: Timed = (work) => async (tx) => {
      const began = performance.now();
      const result = await work(tx);
      in_transaction = performance.now() - began;
      return result;
    };
    const started = performance.now();
    if ((await run(limit, timed)) < limit) return true;
    limit = nextBatch(limit, in_transaction ?? performance.now() - started);
  }
  return false;
}
