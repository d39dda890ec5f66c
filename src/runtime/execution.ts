/** One run of an agent: its thoughts, context and tools, its events, and its checkpoints. */
import type { Api } from '../api/index.js';
import {
  CHECKPOINT_VERSION,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointReason,
  type CheckpointSummary,
  checkpointSummary,
  type ExecutionStatus,
  type Snapshot,
} from '../checkpoints/contract.js';
import { newId } from '../kernel/contract.js';
import { CairnError, invalid, parseAs } from '../kernel/index.js';
import { type Answer, AskKeys, askAndWait, type PauseSink, type Question, reasonOf } from './asking.js';
import { CheckpointQueue, type CheckpointSink } from './checkpoint-queue.js';
import { Context } from './context.js';
import { Emitter } from './emitter.js';
import type { ChangeEvents, Emit, RunEvents } from './events.js';
import { checked, type Frozen, frozenCopy, sealed } from './frozen.js';
import { Interval } from './interval.js';
import { type CheckpointPolicies, checkpointPolicies, DEFAULT_POLICIES, reasonFor } from './policies.js';
import { type RunState, runState, stateOf } from './run-state.js';
import { ThoughtChain } from './thought-chain.js';
import { ToolState } from './tool-state.js';

/** The part of a store that a run needs. `openCairn` and `connectCairn` return one. */
export interface RunStore {
  readonly executions: Pick<Api['executions'], 'create' | 'get' | 'update'>;
  readonly checkpoints: Pick<Api['checkpoints'], 'create' | 'get' | 'latest' | 'restore'>;
  /** For `ask`. */
  readonly pauses?: PauseSink;
}

/** The target of checkpoints; `executions` lets `close` set the final status, `pauses` lets the run ask. */
export interface RunSink extends CheckpointSink {
  readonly executions?: Pick<Api['executions'], 'update'>;
  readonly pauses?: PauseSink;
}

export interface RunOptions {
  /** When checkpoints are taken automatically; default: after each step. */
  readonly policies?: CheckpointPolicies | undefined;
}

export interface ExecutionOptions extends RunOptions, Partial<RunState> {
  /** Without a store nothing is written; `toCheckpoint` and `toJSON` return the state. */
  readonly store?: RunSink;
}

type SinkOptions = Pick<ExecutionOptions, 'policies' | 'store'>;

export type StartOptions = RunOptions & NonNullable<Parameters<Api['executions']['create']>[0]>;

const details = checkpointSummary.pick({ name: true, description: true, labels: true });
/** Details of a manual checkpoint. */
export type CheckpointDetails = Frozen<Pick<Checkpoint, 'name' | 'description' | 'labels'>>;

export class Execution {
  readonly execution_id: string;
  readonly agent_id: string;
  readonly thoughts: ThoughtChain;
  readonly context: Context;
  readonly tools: ToolState;
  /** Epoch milliseconds; for a resumed run, the time of the resume. */
  readonly started_at = Date.now();
  readonly #emitter = new Emitter<RunEvents>((error, event) => this.#listenerFailed(error, event));
  readonly #policies: CheckpointPolicies;
  readonly #store: RunSink | undefined;
  readonly #queue: CheckpointQueue | undefined;
  readonly #interval: Interval | undefined;
  readonly #mark = performance.now();
  readonly #earlier_ms: number;
  #latest: string | undefined;
  #step_number: number;
  #tokens_used: number;
  #total_steps_estimate: number | undefined;
  #snapshot: Frozen<Snapshot> | undefined;
  #closed = false;
  /** Whether something changed since the last checkpoint was taken. */
  #unsaved: boolean;
  readonly #askKeys = new AskKeys();

  constructor(options: ExecutionOptions = {}) {
    const { store, policies, ...given } = options;
    parseAs(runState.partial(), given, 'Execution');
    const { snapshot } = given;
    this.#policies = checkPolicies({ policies });
    this.execution_id = given.execution_id ?? newId();
    this.agent_id = given.agent_id ?? 'agent';
    this.#step_number = given.step_number ?? 0;
    this.#tokens_used = given.tokens_used ?? 0;
    this.#earlier_ms = given.duration_ms ?? 0;
    this.#total_steps_estimate = given.total_steps_estimate;
    this.thoughts = snapshot ? ThoughtChain.fromJSON(snapshot.thought_chain, this.#emit) : new ThoughtChain(this.#emit);
    this.context = snapshot ? Context.fromJSON(snapshot.context, this.#emit) : new Context(this.#emit);
    this.tools = snapshot ? ToolState.fromJSON(snapshot.tool_state, this.#emit) : new ToolState(this.#emit);
    this.#latest = given.latest_checkpoint_id;
    this.#unsaved = this.#latest === undefined;
    this.#store = store;
    this.#queue =
      store &&
      new CheckpointQueue(store, this.#latest, {
        written: (summary) => this.#emitter.emit('checkpoint', summary),
        failed: (error, { checkpoint_id, metadata: { checkpoint_reason: reason } }) => {
          this.#unsaved = true;
          this.#emitter.emit('error', { source: 'checkpoint', error, checkpoint_id, reason });
        },
      });
    const { every_ms } = this.#policies;
    if (every_ms !== undefined && store) this.#interval = new Interval(every_ms, () => this.#takeByTime());
  }

  /** Creates an execution and its run. An execution with checkpoints, or one that has ended, must be resumed instead. */
  static async start(store: RunStore, options: StartOptions = {}): Promise<Execution> {
    const { policies, ...input } = options;
    checkPolicies(options);
    const { execution_id, agent_id, latest_checkpoint_id, status, finished_at } = await store.executions.create(input);
    if (latest_checkpoint_id !== null || finished_at !== null) {
      const why = latest_checkpoint_id === null ? `is ${status}` : 'has checkpoints';
      throw new CairnError(
        'STATE_CONFLICT',
        `execution "${execution_id}" ${why}: resume it with Execution.resume, or start another`,
        { execution_id, latest_checkpoint_id, status },
      );
    }
    return new Execution({ policies, execution_id, agent_id, store });
  }

  /** Resumes a run at its latest checkpoint, or from the start if it has none, and sets its status to running. */
  static async resume(store: RunStore, execution_id: string, options: RunOptions = {}): Promise<Execution> {
    checkPolicies(options);
    const { agent_id, status, latest_checkpoint_id } = await store.executions.get({ execution_id });
    const run =
      latest_checkpoint_id === null
        ? new Execution({ ...options, execution_id, agent_id, store })
        : Execution.fromCheckpoint(await store.checkpoints.latest({ execution_id }), { ...options, store });
    if (status !== 'running') await store.executions.update({ execution_id, status: 'running' });
    return run;
  }

  /** Resumes a run at any of its checkpoints. The next checkpoint is a branch if this one already has a child. */
  static async restore(store: RunStore, checkpoint_id: string, options: RunOptions = {}): Promise<Execution> {
    checkPolicies(options);
    // Checks the state first: a restore must not reset the execution to a state that cannot be resumed.
    const run = Execution.fromCheckpoint(await store.checkpoints.get({ checkpoint_id }), { ...options, store });
    await store.checkpoints.restore({ checkpoint_id });
    return run;
  }

  static fromCheckpoint(json: Frozen<Checkpoint>, options: SinkOptions = {}): Execution {
    return new Execution({ ...stateOf(json), ...options });
  }

  static fromJSON(json: RunState, options: SinkOptions = {}): Execution {
    return new Execution({ ...parseAs(runState, json, 'Execution'), ...options });
  }

  toJSON(): RunState {
    return frozenCopy({
      execution_id: this.execution_id,
      agent_id: this.agent_id,
      ...this.#progress(),
      latest_checkpoint_id: this.latest_checkpoint_id,
      snapshot: this.snapshot(),
    }) as RunState;
  }

  /** The current state, frozen; unchanged parts are the same objects as before. */
  snapshot(): Frozen<Snapshot> {
    this.#snapshot ??= sealed({
      thought_chain: this.thoughts.toJSON(),
      context: this.context.toJSON(),
      tool_state: this.tools.toJSON(),
    });
    return this.#snapshot;
  }

  /** The current state in the portable form, for a file. Writes nothing to the store. */
  toCheckpoint(reason: CheckpointReason = 'manual', given: CheckpointDetails = {}): Frozen<Checkpoint> {
    const { latest_checkpoint_id: checkpoint_id } = this;
    return frozenCopy({
      version: CHECKPOINT_VERSION,
      id: newId(),
      timestamp: Date.now(),
      execution_id: this.execution_id,
      agent_id: this.agent_id,
      ...checked(details, given, 'toCheckpoint'),
      snapshot: this.snapshot(),
      metadata: this.#metadata(reason),
      parent: checkpoint_id === undefined ? undefined : { checkpoint_id, is_branch: false },
    }) as Frozen<Checkpoint>;
  }

  get step_number(): number {
    return this.#step_number;
  }

  get tokens_used(): number {
    return this.#tokens_used;
  }

  /** Estimated number of steps. */
  get total_steps_estimate(): number | undefined {
    return this.#total_steps_estimate;
  }

  set total_steps_estimate(steps: number | undefined) {
    parseAs(runState.partial(), { total_steps_estimate: steps }, 'Execution');
    this.#total_steps_estimate = steps;
  }

  /** Total run time, including the time before a resume. */
  get duration_ms(): number {
    return this.#earlier_ms + Math.round(performance.now() - this.#mark);
  }

  /** The last checkpoint that this run wrote or was resumed from: the parent of the next. */
  get latest_checkpoint_id(): string | undefined {
    return this.#queue?.latest ?? this.#latest;
  }

  /** Number of checkpoints that are taken and not written yet. */
  get unwritten(): number {
    return this.#queue?.length ?? 0;
  }

  /** Completes a step. */
  step({ tokens = 0 }: { readonly tokens?: number } = {}): number {
    this.#tokens_used = this.#withTokens(tokens, 'step');
    this.#step_number++;
    this.#emit('step', { step_number: this.#step_number, tokens_used: this.#tokens_used });
    return this.#step_number;
  }

  /** Counts tokens within a step. */
  useTokens(tokens: number): void {
    this.#tokens_used = this.#withTokens(tokens, 'useTokens');
    this.#emit('tokens.used', { tokens, tokens_used: this.#tokens_used });
  }

  /** Adds a listener; returns a function that removes it. A listener that fails does not break the run. */
  on<K extends keyof RunEvents>(event: K, listener: (data: RunEvents[K]) => unknown): () => void {
    return this.#emitter.on(event, listener);
  }

  /**
   * Takes a checkpoint of the current state. Need not be awaited: `settled` also reports a failure to write. Throws if the
   * run has no store.
   */
  checkpoint(given: CheckpointDetails = {}): Promise<CheckpointSummary> {
    if (!this.#queue) throw new CairnError('STATE_CONFLICT', 'this run has no store for checkpoints: use toCheckpoint');
    if (this.#closed) throw new CairnError('STATE_CONFLICT', 'this run is closed: resume the execution to continue');
    return this.#take(this.#queue, 'manual', checked(details, given, 'checkpoint'));
  }

  /**
   * Asks a person or another agent, and waits for the answer, over any outage of the server. The execution is `paused`, with
   * its state in a checkpoint. If the process dies, resume the execution and ask the same question again: the recorded
   * answer is returned. Throws `PAUSE_EXPIRED` if the deadline passed without a default.
   */
  async ask(
    question: Question,
    { signal = new AbortController().signal }: { signal?: AbortSignal } = {},
  ): Promise<Answer> {
    const { pauses } = this.#store ?? {};
    if (!this.#queue || !pauses) throw new CairnError('STATE_CONFLICT', 'this run has no store to ask through');
    if (this.#closed) throw new CairnError('STATE_CONFLICT', 'this run is closed: resume the execution to continue');
    const { key: _, ...asked } = question;
    const ask_key = this.#askKeys.next(question, `step ${this.#step_number}`);
    // A resumed run asks in the state that it was resumed from.
    if (this.#unsaved) await this.#take(this.#queue, reasonOf(question.trigger));
    else await this.settled();
    const waits = { execution_id: this.execution_id, checkpoint_id: this.latest_checkpoint_id };
    return askAndWait(pauses, { ...asked, ...waits, ask_key: await ask_key }, signal);
  }

  /** Waits until all checkpoints taken so far are written; rejects with the first error not yet reported. */
  async settled(): Promise<void> {
    await this.#queue?.settled();
  }

  /**
   * Takes no more checkpoints, waits for pending ones, and then sets the status, if given. Rejects like `settled`, and
   * then leaves the status unchanged.
   */
  async close(status?: ExecutionStatus): Promise<void> {
    if (status !== undefined && !this.#store?.executions)
      throw invalid(`close: the status "${status}" cannot be set, since the store of this run has no executions`);
    this.#closed = true;
    this.#interval?.close();
    await this.settled();
    if (status !== undefined) await this.#store!.executions!.update({ execution_id: this.execution_id, status });
  }

  /** Policies run before listeners: their checkpoint has the state right after the change. */
  readonly #emit: Emit<ChangeEvents> = (...event) => {
    this.#snapshot = undefined;
    this.#unsaved = true;
    if (this.#queue && !this.#closed) {
      const reason = reasonFor(this.#policies, ...event);
      if (reason) this.#take(this.#queue, reason);
      else this.#interval?.changed();
    }
    this.#emitter.emit(...event);
  };

  /** Skips a checkpoint if the last timed one still waits: they would pile up when writing falls behind. */
  #takeByTime(): boolean {
    if (!this.#queue || this.#queue.hasWaiting('auto')) return false;
    this.#take(this.#queue, 'auto');
    return true;
  }

  #take(queue: CheckpointQueue, reason: CheckpointReason, given: CheckpointDetails = {}): Promise<CheckpointSummary> {
    this.#interval?.taken();
    this.#unsaved = false;
    return queue.push({
      checkpoint_id: newId(),
      execution_id: this.execution_id,
      ...(given as Partial<Checkpoint>),
      snapshot: this.snapshot() as Snapshot,
      metadata: this.#metadata(reason),
      timestamp: Date.now(),
    });
  }

  #metadata(checkpoint_reason: CheckpointReason): CheckpointMetadata {
    return frozenCopy({ ...this.#progress(), checkpoint_reason }) as CheckpointMetadata;
  }

  #progress() {
    return {
      step_number: this.#step_number,
      total_steps_estimate: this.#total_steps_estimate,
      tokens_used: this.#tokens_used,
      duration_ms: this.duration_ms,
    };
  }

  #withTokens(tokens: number, what: string): number {
    const sum = this.#tokens_used + tokens;
    if (Number.isSafeInteger(tokens) && tokens >= 0 && Number.isSafeInteger(sum)) return sum;
    throw invalid(`${what}: \`tokens\` must be an integer ≥ 0, not ${tokens}`);
  }

  /** Emits an error event; without a listener for it, prints to the console, since nothing else would show it. */
  #listenerFailed(error: unknown, event: keyof RunEvents): void {
    if (event !== 'error' && this.#emitter.has('error'))
      this.#emitter.emit('error', { source: 'listener', error, event });
    else console.error(`A listener for "${event}" of execution "${this.execution_id}" failed:`, error);
  }
}

/** Called before anything is written: refused policies must change nothing. */
function checkPolicies({ policies = DEFAULT_POLICIES }: RunOptions): CheckpointPolicies {
  return checked(checkpointPolicies, policies, 'Execution: policies');
}
