/**
 * A worker: claims agent_turns of a profile or agent, passes each with its prompt to a function, renews its lease, and ends
 * it with the result. Uses only the Api, in process or over HTTP, and survives an outage of its server.
 */
import type { Api } from '../../api/index.js';
import type { AgentTurn } from '../../coordination/contract.js';
import { newId } from '../../kernel/contract.js';
import { anySignal, CairnError } from '../../kernel/index.js';
import { pause, retryDelay, withTimeout } from '../retries.js';
import { endTurn, type Outcome, resultOf, type TurnResult } from './ending.js';
import { HeldLease, MIN_TIMEOUT_MS } from './held-lease.js';
import { settingsOf, type WorkerChoice, type WorkerSettings } from './settings.js';
import { TurnPaused, WorkerTurn } from './turn.js';

export interface WorkerOptions extends WorkerChoice {
  /** Does the work. Its result completes the agent_turn; an error fails it. */
  readonly handle: (turn: WorkerTurn) => Promise<TurnResult> | TurnResult;
  /** Stops the worker, as `stop` does. */
  readonly signal?: AbortSignal;
}

export interface Worker {
  readonly worker_id: string;
  /** Resolves when the worker has stopped; rejects if it cannot work, for example without the required role. */
  readonly done: Promise<void>;
  /** Claims no more turns, waits up to grace_ms for running ones, and leaves the rest to other workers. */
  stop(): Promise<void>;
}

/** Starts a worker. Stop it before you close the store. */
export function runWorker(cairn: Api, options: WorkerOptions): Worker {
  const settings = settingsOf(options);
  const { handle, signal } = options;
  const running = new Running(cairn, handle, settings);
  // A slot that fails stops the others.
  const slots = Array.from({ length: settings.concurrency }, () =>
    running.loop().catch((error) => {
      running.stop();
      throw error;
    }),
  );
  const ended = Promise.allSettled(slots).then(() => running.close());
  const done = ended.then(() => Promise.all(slots)).then(() => undefined);
  const stop = async () => {
    running.stop();
    await ended;
  };
  if (signal?.aborted) running.stop();
  const stopped = () => running.stop();
  signal?.addEventListener('abort', stopped, { once: true });
  void ended.then(() => signal?.removeEventListener('abort', stopped));
  return { worker_id: settings.worker_id, done, stop };
}

class Running {
  readonly #cairn: Api;
  readonly #handle: WorkerOptions['handle'];
  readonly #settings: WorkerSettings;
  /** No more turns are claimed. */
  readonly #stopping = new AbortController();
  /** Running turns are abandoned. */
  readonly #over = new AbortController();
  #grace: ReturnType<typeof setTimeout> | undefined;

  constructor(cairn: Api, handle: WorkerOptions['handle'], settings: WorkerSettings) {
    this.#cairn = cairn;
    this.#handle = handle;
    this.#settings = settings;
  }

  stop(): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    const giveUp = () => this.#over.abort(new CairnError('SHUTTING_DOWN', 'the worker stops'));
    this.#grace = setTimeout(giveUp, this.#settings.grace_ms);
  }

  /** No turn is running any more. */
  close(): void {
    this.#stopping.abort();
    clearTimeout(this.#grace);
  }

  async loop(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const turn = await this.#claim();
      if (turn) await this.#work(turn);
    }
  }

  /** Undefined if there was no work, or the worker stops. */
  async #claim(): Promise<AgentTurn | undefined> {
    const { worker_id, filter, lease_ms, wait_ms, backoff, on_error } = this.#settings;
    const { signal } = this.#stopping;
    // One key until it is answered: a turn that was claimed when the answer was lost is found again.
    const idempotency_key = newId();
    for (let failures = 1; !signal.aborted; failures++) {
      const asked = performance.now();
      try {
        const { agent_turn } = await withTimeout(wait_ms + MIN_TIMEOUT_MS * 2, signal, (ending) =>
          this.#cairn.agent_turns.claim(
            { worker_id, ...filter, lease_ms, wait_ms },
            { idempotency_key, signal: ending },
          ),
        );
        // A turn that was claimed when an answer was lost may have another holder by now.
        if (agent_turn?.status === 'running' && agent_turn.worker_id === worker_id) return agent_turn;
        // A server that is about to stop answers early: do not ask again at once.
        if (performance.now() - asked < wait_ms / 2) await pause(backoff.first_ms, signal);
        return undefined;
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!(error instanceof CairnError) || error.status < 500 || error.details?.closed) throw error;
        on_error(error);
        await pause(retryDelay(backoff, failures), signal);
      }
    }
    return undefined;
  }

  async #work(agent_turn: AgentTurn): Promise<void> {
    const lease = new HeldLease(this.#cairn, agent_turn, this.#settings);
    // The claim was answered after the stop: no work has begun.
    if (this.#stopping.signal.aborted) return lease.release();
    const signal = anySignal([lease.lost, this.#over.signal]);
    try {
      const outcome = await unlessAborted(this.#over.signal, this.#outcome(agent_turn, lease, signal));
      if (outcome === undefined) return await lease.release();
      // Another worker has the turn, or it waits for an answer: nothing to report.
      if (lease.lost.aborted) return;
      const ending = { cairn: this.#cairn, agent_turn, lease, settings: this.#settings, signal: this.#over.signal };
      await endTurn(ending, outcome);
    } finally {
      lease.close();
    }
  }

  /** Never rejects, whatever the handle does. */
  async #outcome(agent_turn: AgentTurn, lease: HeldLease, signal: AbortSignal): Promise<Outcome> {
    try {
      const turn = await WorkerTurn.begin(this.#cairn, agent_turn, lease, signal, this.#settings);
      return { result: resultOf(await this.#handle(turn)) };
    } catch (error) {
      if (!(error instanceof TurnPaused)) this.#settings.on_error(error);
      return { error };
    }
  }
}

/** The result of a promise; undefined if the signal aborts first. */
async function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
  let abort = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    abort = () => resolve(undefined);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
