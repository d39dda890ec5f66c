/** The lease of an agent_turn that a worker holds: renewed by a timer, and known to be over without asking anyone. */
import type { Api } from '../../api/index.js';
import type { AgentTurn } from '../../coordination/contract.js';
import { CairnError } from '../../kernel/index.js';
import { type Backoff, waitBefore, within } from '../retries.js';

/** So many renewals fit into the time of a lease: two may be lost. */
const RENEWALS = 3;
/** No answer of a server that is there takes longer, however short the lease. */
export const SHORTEST_TRY_MS = 2000;
/** The shortest lease there is: so soon after it was let go may another worker have the turn. */
const LET_GO_MS = 100;

export interface LeaseOptions {
  readonly lease_ms: number;
  readonly backoff: Backoff;
  readonly on_error: (error: unknown) => void;
}

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

  /** Given when the turn is no longer this worker's: its reason says why. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** By this process's clock, which cannot be set back: how long it lasts at most, if nobody renews it. */
  get left_ms(): number {
    return this.#over_at - performance.now();
  }

  /** What is written from now on by this worker would be late. */
  lose(reason: CairnError): void {
    this.close();
    this.#lost.abort(reason);
  }

  /** Renews it no more. */
  close(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#end);
    this.#ended.abort();
  }

  /** Leaves the turn to another worker as soon as can be; if that cannot be said, the lease runs out by itself. */
  async letGo(): Promise<void> {
    this.close();
    await within(SHORTEST_TRY_MS, AbortSignal.timeout(SHORTEST_TRY_MS), (signal) =>
      this.#cairn.agent_turns.renew({ ...this.#turn, lease_ms: LET_GO_MS }, { signal }),
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
      await within(Math.max(lease_ms / RENEWALS, SHORTEST_TRY_MS), this.#ended.signal, (signal) =>
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
      // Whatever else it was may pass; when the time of the lease has, the watch ends it.
      this.#renewIn(waitBefore(backoff, failures + 1), failures + 1);
    }
  }

  /** The lease ends by itself when no renewal was answered. */
  #watch(): void {
    clearTimeout(this.#end);
    const { agent_turn_id, turn_epoch } = this.#turn;
    this.#end = setTimeout(() => {
      this.lose(
        new CairnError(
          'STALE_TURN',
          `agent_turn ${agent_turn_id} could not be renewed in time: its lease of epoch ${turn_epoch} is over`,
        ),
      );
    }, this.left_ms);
  }
}
