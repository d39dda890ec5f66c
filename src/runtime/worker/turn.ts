/** The argument of a worker's handle: an agent_turn with its prompt, and the operations of its holder. */
import type { Api } from '../../api/index.js';
import type { AgentTurn, Batch, Pause } from '../../coordination/contract.js';
import type { Hydrated, PromptFormat } from '../../facts/contract.js';
import { CairnError, isErrorCode } from '../../kernel/index.js';
import { type Answer as Answered, AskKeys, answerIn, type Question } from '../asking.js';
import { withRetries } from '../retries.js';
import { guardedApi } from './guarded-api.js';
import type { HeldLease } from './held-lease.js';
import type { WorkerSettings } from './settings.js';

type Answer<G extends keyof Api, V extends keyof Api[G]> = Api[G][V] extends (...args: never) => infer R
  ? Awaited<R>
  : never;

type NewCards = Parameters<Api['agent_turns']['append']>[0]['cards'];
type ForkTasks = Parameters<Api['pmo']['fork_join']>[0]['tasks'];
type ForkOptions = Omit<Parameters<Api['pmo']['fork_join']>[0], 'tasks'>;
type Delegated = Parameters<Api['pmo']['delegate_async']>[0];
type Dispatched = Extract<Answer<'pmo', 'delegate_async'>, { status: 'accepted' }>;

/** How long one request for the end of a batch waits. */
const WAIT_MS = 20_000;

/** Ends a handle whose turn waits for an answer. Let it pass: the turn neither fails nor completes with it. */
export class TurnPaused extends Error {
  readonly pause: Pause;

  constructor(pause: Pause) {
    super(`agent_turn ${pause.agent_turn_id} waits for the answer to pause ${pause.pause_id}`);
    this.name = 'TurnPaused';
    this.pause = pause;
  }
}

export class WorkerTurn {
  readonly agent_turn: AgentTurn;
  /** The prompt for the model. */
  readonly prompt: Hydrated;
  /** Aborts when the worker has lost the turn or stops: stop working then. */
  readonly signal: AbortSignal;
  /** The Api with every call made in this agent_turn: as its agent, and refused if the turn is lost. */
  readonly api: Api;
  readonly #settings: WorkerSettings;
  readonly #lease: HeldLease;
  readonly #askKeys = new AskKeys();
  #dispatched = 0;

  private constructor(
    turn: Pick<WorkerTurn, 'agent_turn' | 'prompt' | 'signal' | 'api'>,
    lease: HeldLease,
    settings: WorkerSettings,
  ) {
    this.agent_turn = turn.agent_turn;
    this.prompt = turn.prompt;
    this.signal = turn.signal;
    this.api = turn.api;
    this.#lease = lease;
    this.#settings = settings;
  }

  /** Hydrates the prompt. `signal` aborts when the turn is lost or the worker stops. */
  static async begin(
    cairn: Api,
    agent_turn: AgentTurn,
    lease: HeldLease,
    signal: AbortSignal,
    settings: WorkerSettings,
  ): Promise<WorkerTurn> {
    const { agent_turn_id, turn_epoch } = agent_turn;
    const { backoff, on_error } = settings;
    const retries = { backoff, signal, hasTime: () => lease.left_ms > 0, onFailure: on_error };
    const api = guardedApi(cairn, {
      agent_turn: `${agent_turn_id}:${turn_epoch}`,
      signal,
      retry: (run) => withRetries(retries, run),
    });
    const prompt = await api.agent_turns.hydrate({ agent_turn_id, turn_epoch, format: settings.format });
    return new WorkerTurn({ agent_turn, prompt, signal, api }, lease, settings);
  }

  get #held(): Pick<AgentTurn, 'agent_turn_id' | 'turn_epoch'> {
    const { agent_turn_id, turn_epoch } = this.agent_turn;
    return { agent_turn_id, turn_epoch };
  }

  /** The current prompt, including appended cards. */
  hydrate(format: PromptFormat = this.#settings.format): Promise<Hydrated> {
    return this.api.agent_turns.hydrate({ ...this.#held, format });
  }

  append(cards: NewCards): Promise<Answer<'agent_turns', 'append'>> {
    return this.api.agent_turns.append({ ...this.#held, cards });
  }

  /** Marks the turn as waiting. It stays held and must be resumed before its end. */
  suspend(): Promise<AgentTurn> {
    return this.api.agent_turns.suspend({ ...this.#held, lease_ms: this.#settings.lease_ms });
  }

  resume(): Promise<AgentTurn> {
    return this.api.agent_turns.resume({ ...this.#held, lease_ms: this.#settings.lease_ms });
  }

  /**
   * Dispatches tasks to other agents in parallel and resolves when all have ended. A worker that takes the turn over and
   * makes the same call gets the batch of its predecessor. So append a plan that comes from a model first and read it from
   * the prompt: the model might plan differently the next time.
   */
  async forkJoin(tasks: ForkTasks, options: ForkOptions = {}): Promise<Batch> {
    const answer = await this.api.pmo.fork_join({ ...options, tasks }, this.#nextKey('fork_join'));
    if (answer.status !== 'accepted') throw refusal(answer);
    for (;;) {
      const batch = await this.api.pmo.batch({ batch_id: answer.batch_id, wait_ms: WAIT_MS });
      if (batch.status !== 'running') return batch;
      this.signal.throwIfAborted();
    }
  }

  /** Dispatches a task to another agent without waiting for it; after a takeover it is found again, as with forkJoin. */
  async delegate(input: Delegated): Promise<Dispatched> {
    const answer = await this.api.pmo.delegate_async(input, this.#nextKey('delegate'));
    if (answer.status !== 'accepted') throw refusal(answer);
    return answer;
  }

  /**
   * Asks a person or another agent. The first time, the handle ends here with a `TurnPaused`, and the turn waits without a
   * worker; once there is an answer, any worker calls its handle again from the start, and this call returns the answer. So
   * the code before it runs again: make it repeatable, and append what comes from a model, as with forkJoin. The same
   * question must come again: another one is asked anew. Throws `PAUSE_EXPIRED` if the deadline passed without a default.
   */
  async ask(question: Question): Promise<Answered> {
    const { key: _, ...asked } = question;
    const ask_key = await this.#askKeys.next(question, 'agent_turn');
    const pause = await this.api.pauses.create({ ...asked, ...this.#held, ask_key });
    if (pause.status !== 'open') return answerIn(pause);
    const paused = new TurnPaused(pause);
    this.#lease.lose(paused);
    throw paused;
  }

  /** The same idempotency keys in every epoch, so that a worker that takes the turn over repeats nothing. */
  #nextKey(what: string): { idempotency_key: string } {
    return { idempotency_key: `${this.agent_turn.agent_turn_id}:${what}:${++this.#dispatched}` };
  }
}

function refusal(answer: { status: string; error_code: string; message: string; task_index?: number }): CairnError {
  const { error_code, message, status, task_index } = answer;
  const code = isErrorCode(error_code) ? error_code : 'STATE_CONFLICT';
  return new CairnError(code, message, { status, error_code, ...(task_index === undefined ? {} : { task_index }) });
}
