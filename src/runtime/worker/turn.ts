/** What a worker's handle is given: an agent_turn with its prompt, and what its holder can do with it. */
import type { Api } from '../../api/index.js';
import type { AgentTurn, Batch } from '../../coordination/contract.js';
import type { Hydrated, PromptFormat } from '../../facts/contract.js';
import { CairnError, isErrorCode } from '../../kernel/index.js';
import { retrying } from '../retries.js';
import { guardedApi } from './guarded-api.js';
import type { HeldLease } from './held-lease.js';
import type { WorkerSettings } from './settings.js';

type Input<G extends keyof Api, V extends keyof Api[G]> = Api[G][V] extends (input: infer I) => unknown
  ? NonNullable<I>
  : never;
type Answer<G extends keyof Api, V extends keyof Api[G]> = Api[G][V] extends (...args: never) => infer R
  ? Awaited<R>
  : never;
type Held = 'agent_turn_id' | 'turn_epoch';

export type NewCards = Parameters<Api['agent_turns']['append']>[0]['cards'];
export type ForkTasks = Parameters<Api['pmo']['fork_join']>[0]['tasks'];
export type ForkOptions = Omit<Parameters<Api['pmo']['fork_join']>[0], 'tasks'>;
export type Delegated = Parameters<Api['pmo']['delegate_async']>[0];
export type Dispatched = Extract<Answer<'pmo', 'delegate_async'>, { status: 'accepted' }>;

/** How long one question for the end of a batch waits. */
const WAIT_MS = 20_000;

export class WorkerTurn {
  readonly agent_turn: AgentTurn;
  /** What the model is to see. */
  readonly prompt: Hydrated;
  /** Given when the turn is no longer this worker's, or the worker must end: stop working then. */
  readonly signal: AbortSignal;
  /** The same Api, where every call is made in this agent_turn: as its agent, and refused when it is late. */
  readonly api: Api;
  readonly #format: PromptFormat;
  readonly #lease_ms: number;
  #dispatched = 0;

  private constructor(
    agent_turn: AgentTurn,
    prompt: Hydrated,
    signal: AbortSignal,
    api: Api,
    settings: WorkerSettings,
  ) {
    this.agent_turn = agent_turn;
    this.prompt = prompt;
    this.signal = signal;
    this.api = api;
    this.#format = settings.format;
    this.#lease_ms = settings.lease_ms;
  }

  /** Hydrates it. `signal` is given when the turn is lost or the worker ends. */
  static async begin(
    cairn: Api,
    agent_turn: AgentTurn,
    lease: HeldLease,
    signal: AbortSignal,
    settings: WorkerSettings,
  ): Promise<WorkerTurn> {
    const { agent_turn_id, turn_epoch } = agent_turn;
    const { backoff, on_error } = settings;
    const retries = { backoff, signal, goesOn: () => lease.left_ms > 0, onFailure: on_error };
    const api = guardedApi(cairn, {
      agent_turn: `${agent_turn_id}:${turn_epoch}`,
      signal,
      retry: (run) => retrying(retries, run),
    });
    const prompt = await api.agent_turns.hydrate({ agent_turn_id, turn_epoch, format: settings.format });
    return new WorkerTurn(agent_turn, prompt, signal, api, settings);
  }

  /** What every step names. */
  get #held(): Pick<AgentTurn, Held> {
    const { agent_turn_id, turn_epoch } = this.agent_turn;
    return { agent_turn_id, turn_epoch };
  }

  /** What the model is to see now, after cards were appended. */
  hydrate(format: PromptFormat = this.#format): Promise<Hydrated> {
    return this.api.agent_turns.hydrate({ ...this.#held, format });
  }

  append(cards: NewCards): Promise<Answer<'agent_turns', 'append'>> {
    return this.api.agent_turns.append({ ...this.#held, cards });
  }

  /** Shows others that it waits. It is still held, and must be resumed before its end. */
  suspend(): Promise<AgentTurn> {
    return this.api.agent_turns.suspend({ ...this.#held, lease_ms: this.#lease_ms });
  }

  resume(): Promise<AgentTurn> {
    return this.api.agent_turns.resume({ ...this.#held, lease_ms: this.#lease_ms });
  }

  /**
   * Has others work at once, and gives what came of it when all have ended. A worker that takes the turn over and asks
   * the same finds the batch that its predecessor dispatched. So what comes from a model, and might be another plan the
   * next time, is to be appended first, and read from the prompt.
   */
  async forkJoin(tasks: ForkTasks, options: ForkOptions = {}): Promise<Batch> {
    const input: Input<'pmo', 'fork_join'> = { ...options, tasks };
    const told = await this.api.pmo.fork_join(input, this.#numbered('fork_join'));
    if (told.status !== 'accepted') throw refusal(told);
    for (;;) {
      const batch = await this.api.pmo.batch({ batch_id: told.batch_id, wait_ms: WAIT_MS });
      if (batch.status !== 'running') return batch;
      this.signal.throwIfAborted();
    }
  }

  /** Has another agent do something, without waiting for it; after a take-over it is found again, as by forkJoin. */
  async delegate(input: Delegated): Promise<Dispatched> {
    const told = await this.api.pmo.delegate_async(input, this.#numbered('delegate'));
    if (told.status !== 'accepted') throw refusal(told);
    return told;
  }

  /** The same in every epoch, so that whoever takes the turn over does nothing twice. */
  #numbered(what: string): { idempotency_key: string } {
    return { idempotency_key: `${this.agent_turn.agent_turn_id}:${what}:${++this.#dispatched}` };
  }
}

function refusal(told: { status: string; error_code: string; message: string; task_index?: number }): CairnError {
  const { error_code, message, status, task_index } = told;
  const code = isErrorCode(error_code) ? error_code : 'STATE_CONFLICT';
  return new CairnError(code, message, { status, error_code, ...(task_index === undefined ? {} : { task_index }) });
}
