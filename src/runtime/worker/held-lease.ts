/** The lease of an agent_turn that a worker holds: renewed by heartbeats, and over by its own clock. */
import type { Api } from '../../api/index.js';
import type { AgentTurn } from '../../coordination/contract.js';
import { CairnError } from '../../kernel/index.js';
import { retryDelay, withTimeout } from '../retries.js';
import type { WorkerSettings } from './settings.js';

/** Heartbeats per lease: two may be lost. */
const RENEWALS = 3;
/** Minimum timeout of a call, however short the lease. */
export const MIN_TIMEOUT_MS = 2000;
/** The minimum lease: another worker can claim a released turn after this time. */
const RELEASE_MS = 100;

type LeaseOptions = Pick<WorkerSettings, 'lease_ms' | 'backoff' | 'on_error'>;

export class HeldLease {
  readonly #cairn: Api;
  readonly #turn: { readonly agent_turn_id: string; readonly turn_epoch: number };
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  #over_at: number;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #end: ReturnType<typeof setTimeout> | undefined;

  constructor(cairn: Api, { agent_turn_id, turn_epoch }: AgentTurn, options: LeaseOptions) {
    this.#cairn = cairn;
    this.#turn = { agent_turn_id, turn_epoch };
    this.#options = options;
    this.#over_at = performance.now() + options.lease_ms;
    this.#renewIn(options.lease_ms / RENEWALS, 0);
    this.#watch();
  }

  /** Aborts when the worker has lost the turn, with the reason. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Time until the lease expires without a renewal, by the monotonic clock of this process. */
  get left_ms(): number {
    return this.#over_at - performance.now();
  }

  lose(reason: Error): void {
    this.close();
    this.#lost.abort(reason);
  }

  /** Ends the renewals. */
  close(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#end);
    this.#ended.abort();
  }

  /** Lets another worker claim the turn soon. If the call fails, the lease expires by itself. */
  async release(): Promise<void> {
    this.close();
    await withTimeout(MIN_TIMEOUT_MS, AbortSignal.timeout(MIN_TIMEOUT_MS), (signal) =>
      this.#cairn.agent_turns.renew({ ...this.#turn, lease_ms: RELEASE_MS }, { signal }),
    ).catch(this.#options.on_error);
  }

  #renewIn(ms: number, failures: number): void {
    if (this.#ended.signal.aborted) return;
    this.#renewal = setTimeout(() => void this.#renew(failures), ms);
  }

  async #renew(failures: number): Promise<void> {
    const { lease_ms, backoff, on_error } = this.#options;
    const sent = performance.now();
    try {
      await withTimeout(Math.max(lease_ms / RENEWALS, MIN_TIMEOUT_MS), this.#ended.signal, (signal) =>
        this.#cairn.agent_turns.renew({ ...this.#turn, lease_ms }, { signal }),
      );
      if (this.#ended.signal.aborted) return;
      this.#over_at = sent + lease_ms;
      this.#watch();
      this.#renewIn(Math.max(0, sent + lease_ms / RENEWALS - performance.now()), 0);
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      on_error(error);
      const refused = error instanceof CairnError && error.status < 500;
      if (refused) return this.lose(error);
      // Other errors may be transient; if they last, #watch ends the lease.
      this.#renewIn(retryDelay(backoff, failures + 1), failures + 1);
    }
  }

  /** Ends the lease when it expires without a renewal. */
  #watch(): void {
    clearTimeout(this.#end);
    const { agent_turn_id, turn_epoch } = this.#turn;
    this.#end = setTimeout(() => {
      this.lose(
        new CairnError(
          'STALE_TURN',
          `agent_turn ${agent_turn_id} could not be renewed in time: its lease of epoch ${turn_epoch} has expired`,
        ),
      );
    }, this.left_ms);
  }
}
