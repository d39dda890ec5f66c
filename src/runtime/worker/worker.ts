/**
 * A worker: claims agent_turns of a profile or agent, hands each with its prompt to a function, keeps its lease, and ends it
 * with what the function gives. It stands on the Api alone, in process or over HTTP, and outlives the loss of its server.
 */
import type { Api } from '../../api/index.js';
import type { AgentTurn } from '../../coordination/contract.js';
import { newId } from '../../kernel/contract.js';
import { anySignal, CairnError } from '../../kernel/index.js';
import { pause, waitBefore, within } from '../retries.js';
import { endTurn, type Outcome, resultOf, type TurnResult } from './ending.js';
import { HeldLease, SHORTEST_TRY_MS } from './held-lease.js';
import { settingsOf, type WorkerChoice, type WorkerSettings } from './settings.js';
import { WorkerTurn } from './turn.js';

export interface WorkerOptions extends WorkerChoice {
  /** Does the work. What it gives completes the agent_turn, what it throws fails it. */
  readonly handle: (turn: WorkerTurn) => Promise<TurnResult> | TurnResult;
  /** Stops the worker, as `stop` does. */
  readonly signal?: AbortSignal;
}

export interface Worker {
  readonly worker_id: string;
  /** Resolves when the worker has stopped; rejects when it cannot work, such as for want of a right. */
  readonly done: Promise<void>;
  /** Claims no more, lets what is under way end for up to grace_ms, and leaves the rest to other workers. */
  stop(): Promise<void>;
}

/** Starts a worker. Stop it before you close what it works on. */
export function runWorker(cairn: Api, options: WorkerOptions): Worker {
  const settings = settingsOf(options);
  const { handle, signal } = options;
  const running = new Running(cairn, handle, settings);
  // One slot that cannot work ends the others.
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
  /** No more is claimed. */
  readonly #stopping = new AbortController();
  /** What is under way is given up. */
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

  /** Nothing is under way any more. */
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

  /** Undefined when there was nothing, or the worker stops. */
  async #claim(): Promise<AgentTurn | undefined> {
    const { worker_id, wanted, lease_ms, wait_ms, backoff, on_error } = this.#settings;
    const { signal } = this.#stopping;
    // One key until it is answered: a turn that was claimed while the answer was lost is found again.
    const idempotency_key = newId();
    for (let failures = 1; !signal.aborted; failures++) {
      const asked = performance.now();
      try {
        const { agent_turn } = await within(wait_ms + SHORTEST_TRY_MS * 2, signal, (ending) =>
          this.#cairn.agent_turns.claim(
            { worker_id, ...wanted, lease_ms, wait_ms },
            { idempotency_key, signal: ending },
          ),
        );
        // What was claimed while an answer was lost may be another's by now.
        if (agent_turn?.status === 'running' && agent_turn.worker_id === worker_id) return agent_turn;
        // An answer that came too early, as from a server that is about to stop, is no reason to ask at once.
        if (performance.now() - asked < wait_ms / 2) await pause(backoff.first_ms, signal);
        return undefined;
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!(error instanceof CairnError) || error.status < 500 || error.details?.closed) throw error;
        on_error(error);
        await pause(waitBefore(backoff, failures), signal);
      }
    }
    return undefined;
  }

  async #work(agent_turn: AgentTurn): Promise<void> {
    const lease = new HeldLease(this.#cairn, agent_turn, this.#settings);
    // A claim that was answered while the worker stopped: nothing was begun.
    if (this.#stopping.signal.aborted) return lease.letGo();
    const signal = anySignal([lease.lost, this.#over.signal]);
    try {
      const outcome = await unless(this.#over.signal, this.#outcome(agent_turn, lease, signal));
      if (outcome === undefined) return await lease.letGo();
      if (lease.lost.aborted) return;
      await endTurn(
        { cairn: this.#cairn, agent_turn, lease, settings: this.#settings, signal: this.#over.signal },
        outcome,
      );
    } finally {
      lease.close();
    }
  }

  /** Whatever the handle does, this does not reject. */
  async #outcome(agent_turn: AgentTurn, lease: HeldLease, signal: AbortSignal): Promise<Outcome> {
    try {
      const turn = await WorkerTurn.begin(this.#cairn, agent_turn, lease, signal, this.#settings);
      return { result: resultOf(await this.#handle(turn)) };
    } catch (error) {
      this.#settings.on_error(error);
      return { error };
    }
  }
}

/** What comes of it before the signal is given; undefined after. */
async function unless<T>(signal: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
  let given = () => {};
  const never = new Promise<undefined>((resolve) => {
    given = () => resolve(undefined);
    signal.addEventListener('abort', given, { once: true });
    if (signal.aborted) given();
  });
  try {
    return await Promise.race([promise, never]);
  } finally {
    signal.removeEventListener('abort', given);
  }
}
