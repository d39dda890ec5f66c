/** One run of an agent: its thoughts, context and tools, what it tells of them, and when its state is kept. */
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
import { CairnError } from '../kernel/index.js';
import { CheckpointQueue, type CheckpointSink } from './checkpoint-queue.js';
import { Context } from './context.js';
import { Emitter } from './emitter.js';
import type { ChangeEvents, RunEvents, Tell } from './events.js';
import { checked, type Frozen, parse, refusal, sealed } from './frozen.js';
import { Interval } from './interval.js';
import { type CheckpointPolicies, checkpointPolicies, DEFAULT_POLICIES, reasonFor } from './policies.js';
import { type RunState, runState, stateOf } from './run-state.js';
import { ThoughtChain } from './thought-chain.js';
import { ToolState } from './tool-state.js';

/** What a run needs of a store to begin, to go on and to end. `openCairn` and `connectCairn` give one. */
export interface RunStore {
  readonly executions: Pick<Api['executions'], 'create' | 'get' | 'update'>;
  readonly checkpoints: Pick<Api['checkpoints'], 'create' | 'get' | 'latest' | 'restore'>;
}

/** Where checkpoints go; `executions` lets `close` set how the run ended. */
export interface RunSink extends CheckpointSink {
  readonly executions?: Pick<Api['executions'], 'update'>;
}

export interface RunOptions {
  /** Which checkpoints are taken unasked: one after each step unless given. */
  readonly policies?: CheckpointPolicies | undefined;
}

export interface ExecutionOptions extends RunOptions, Partial<RunState> {
  /** Without one nothing is written: `toCheckpoint` and `toJSON` still say all. */
  readonly store?: RunSink;
}

export type StartOptions = RunOptions & NonNullable<Parameters<Api['executions']['create']>[0]>;

const details = checkpointSummary.pick({ name: true, description: true, labels: true });
/** What a checkpoint that is taken by hand may carry. */
export type CheckpointDetails = Frozen<Pick<Checkpoint, 'name' | 'description' | 'labels'>>;

export class Execution {
  readonly execution_id: string;
  readonly agent_id: string;
  readonly thoughts: ThoughtChain;
  readonly context: Context;
  readonly tools: ToolState;
  /** Epoch milliseconds; of a run that was taken up again, the moment it was. */
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

  constructor(options: ExecutionOptions = {}) {
    const { store, policies, ...given } = options;
    parse(runState.partial(), given, 'Execution');
    const { execution_id = newId(), agent_id = 'agent', snapshot } = given;
    this.#policies = checkPolicies({ policies });
    this.execution_id = execution_id;
    this.agent_id = agent_id;
    this.#step_number = given.step_number ?? 0;
    this.#tokens_used = given.tokens_used ?? 0;
    this.#earlier_ms = given.duration_ms ?? 0;
    this.#total_steps_estimate = given.total_steps_estimate;
    this.thoughts = snapshot ? ThoughtChain.fromJSON(snapshot.thought_chain, this.#tell) : new ThoughtChain(this.#tell);
    this.context = snapshot ? Context.fromJSON(snapshot.context, this.#tell) : new Context(this.#tell);
    this.tools = snapshot ? ToolState.fromJSON(snapshot.tool_state, this.#tell) : new ToolState(this.#tell);
    this.#latest = given.latest_checkpoint_id;
    this.#store = store;
    this.#queue = store && this.#queueFor(store);
    const { every_ms } = this.#policies;
    if (every_ms !== undefined && store) this.#interval = new Interval(every_ms, () => this.#takeByTime());
  }

  /** Begins a run that a store knows of. An execution that has states already, or has ended, is resumed. */
  static async start(store: RunStore, options: StartOptions = {}): Promise<Execution> {
    const { policies, ...input } = options;
    checkPolicies(options);
    const made = await store.executions.create(input);
    const { execution_id, agent_id, latest_checkpoint_id, status } = made;
    if (latest_checkpoint_id !== null || made.finished_at !== null) {
      const why = latest_checkpoint_id === null ? `is ${status}` : 'has checkpoints';
      throw new CairnError(
        'STATE_CONFLICT',
        `execution "${execution_id}" ${why}: take it up with Execution.resume, or start another`,
        { execution_id, latest_checkpoint_id, status },
      );
    }
    return new Execution({ policies, execution_id, agent_id, store });
  }

  /** Takes up a run where it stands, from its beginning if it left no checkpoint. It is running again. */
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

  /** Takes up a run at any of its checkpoints; what it does next is a branch if others went on from there. */
  static async restore(store: RunStore, checkpoint_id: string, options: RunOptions = {}): Promise<Execution> {
    checkPolicies(options);
    // First what may be refused: only a state that a run can go on from is gone back to.
    const run = Execution.fromCheckpoint(await store.checkpoints.get({ checkpoint_id }), { ...options, store });
    await store.checkpoints.restore({ checkpoint_id });
    return run;
  }

  static fromCheckpoint(
    json: Frozen<Checkpoint>,
    options: Pick<ExecutionOptions, 'policies' | 'store'> = {},
  ): Execution {
    return new Execution({ ...stateOf(json), ...options });
  }

  static fromJSON(json: RunState, options: Pick<ExecutionOptions, 'policies' | 'store'> = {}): Execution {
    return new Execution({ ...parse(runState, json, 'Execution'), ...options });
  }

  toJSON(): RunState {
    const { latest_checkpoint_id, total_steps_estimate } = this;
    return {
      execution_id: this.execution_id,
      agent_id: this.agent_id,
      step_number: this.#step_number,
      ...(total_steps_estimate === undefined ? {} : { total_steps_estimate }),
      tokens_used: this.#tokens_used,
      duration_ms: this.duration_ms,
      ...(latest_checkpoint_id === undefined ? {} : { latest_checkpoint_id }),
      snapshot: this.snapshot(),
    };
  }

  /** The state as it is now, frozen; parts that did not change are the same objects as before. */
  snapshot(): Frozen<Snapshot> {
    this.#snapshot ??= sealed({
      thought_chain: this.thoughts.toJSON(),
      context: this.context.toJSON(),
      tool_state: this.tools.toJSON(),
    });
    return this.#snapshot;
  }

  /** The portable form of the state as it is now, for a file. It is not written to the store. */
  toCheckpoint(reason: CheckpointReason = 'manual', given: CheckpointDetails = {}): Frozen<Checkpoint> {
    const { latest_checkpoint_id } = this;
    return sealed({
      version: CHECKPOINT_VERSION,
      id: newId(),
      timestamp: Date.now(),
      execution_id: this.execution_id,
      agent_id: this.agent_id,
      ...checked(details, given, 'toCheckpoint'),
      snapshot: this.snapshot(),
      metadata: this.#metadata(reason),
      ...(latest_checkpoint_id === undefined
        ? {}
        : { parent: sealed({ checkpoint_id: latest_checkpoint_id, is_branch: false }) }),
    }) as Frozen<Checkpoint>;
  }

  get step_number(): number {
    return this.#step_number;
  }

  get tokens_used(): number {
    return this.#tokens_used;
  }

  /** How many steps the run is thought to take; set it as that becomes clearer. */
  get total_steps_estimate(): number | undefined {
    return this.#total_steps_estimate;
  }

  set total_steps_estimate(steps: number | undefined) {
    parse(runState.partial(), { total_steps_estimate: steps }, 'Execution');
    this.#total_steps_estimate = steps;
  }

  /** How long it has run, here and before it was taken up here. */
  get duration_ms(): number {
    return this.#earlier_ms + Math.round(performance.now() - this.#mark);
  }

  /** The last checkpoint that this run wrote or was taken up from: the parent of the next. */
  get latest_checkpoint_id(): string | undefined {
    return this.#queue?.latest ?? this.#latest;
  }

  /** How many checkpoints are taken and not written yet. */
  get unwritten(): number {
    return this.#queue?.length ?? 0;
  }

  /** A step is done, and took so many tokens. */
  step({ tokens = 0 }: { readonly tokens?: number } = {}): number {
    this.#tokens_used = this.#withTokens(tokens, 'step');
    this.#step_number++;
    this.#tell('step', { step_number: this.#step_number, tokens_used: this.#tokens_used });
    return this.#step_number;
  }

  /** Counts tokens within a step. */
  useTokens(tokens: number): void {
    this.#tokens_used = this.#withTokens(tokens, 'useTokens');
    this.#tell('tokens.used', { tokens, tokens_used: this.#tokens_used });
  }

  /** Calls the listener at each such event; the function that this gives ends that. Listeners cannot break the run. */
  on<K extends keyof RunEvents>(event: K, listener: (data: RunEvents[K]) => unknown): () => void {
    return this.#emitter.on(event, listener);
  }

  /**
   * Keeps the state as it is at this moment. Need not be awaited: a failure to write is told by `settled` as well.
   * Throws at once where there is nothing to write to.
   */
  checkpoint(given: CheckpointDetails = {}): Promise<CheckpointSummary> {
    if (!this.#queue)
      throw new CairnError('STATE_CONFLICT', 'this run has no store to keep checkpoints in: use toCheckpoint');
    if (this.#closed) throw new CairnError('STATE_CONFLICT', 'this run was closed: resume the execution to go on');
    return this.#take(this.#queue, 'manual', checked(details, given, 'checkpoint'));
  }

  /** Waits until all checkpoints taken so far are written; rejects with the first failure not yet reported so. */
  async settled(): Promise<void> {
    await this.#queue?.settled();
  }

  /**
   * Takes no more checkpoints, waits for those taken, and then sets how the execution ended, if told. Rejects where
   * `settled` would, with the status left as it was.
   */
  async close(status?: ExecutionStatus): Promise<void> {
    if (status !== undefined && !this.#store?.executions)
      throw refusal(`close: the status "${status}" cannot be set, since this run has no store that knows executions`);
    this.#closed = true;
    this.#interval?.close();
    await this.settled();
    if (status !== undefined) await this.#store!.executions!.update({ execution_id: this.execution_id, status });
  }

  /** Policies look first: what they keep is the state right after the change, not what listeners make of it. */
  readonly #tell: Tell<ChangeEvents> = (...told) => {
    this.#snapshot = undefined;
    if (this.#queue && !this.#closed) {
      const reason = reasonFor(this.#policies, ...told);
      if (reason) this.#take(this.#queue, reason);
      else this.#interval?.changed();
    }
    this.#emitter.emit(...told);
  };

  /** When the writing falls behind, states by time would pile up that nobody asked for. */
  #takeByTime(): boolean {
    if (!this.#queue || this.#queue.hasWaiting('auto')) return false;
    this.#take(this.#queue, 'auto');
    return true;
  }

  #take(queue: CheckpointQueue, reason: CheckpointReason, given: CheckpointDetails = {}): Promise<CheckpointSummary> {
    this.#interval?.taken();
    return queue.push({
      checkpoint_id: newId(),
      execution_id: this.execution_id,
      ...(given as Partial<Checkpoint>),
      snapshot: this.snapshot() as Snapshot,
      metadata: this.#metadata(reason),
      timestamp: Date.now(),
    });
  }

  #queueFor(store: RunSink): CheckpointQueue {
    return new CheckpointQueue(store, this.#latest, {
      written: (summary) => this.#emitter.emit('checkpoint', summary),
      failed: (error, { checkpoint_id, metadata }) =>
        this.#emitter.emit('error', { source: 'checkpoint', error, checkpoint_id, reason: metadata.checkpoint_reason }),
    });
  }

  #metadata(checkpoint_reason: CheckpointReason): CheckpointMetadata {
    return sealed({
      step_number: this.#step_number,
      ...(this.#total_steps_estimate === undefined ? {} : { total_steps_estimate: this.#total_steps_estimate }),
      tokens_used: this.#tokens_used,
      duration_ms: this.duration_ms,
      checkpoint_reason,
    });
  }

  #withTokens(tokens: number, what: string): number {
    const sum = this.#tokens_used + tokens;
    if (Number.isSafeInteger(tokens) && tokens >= 0 && Number.isSafeInteger(sum)) return sum;
    throw refusal(`${what}: tokens is ${tokens}, and must be a whole number of at least 0`);
  }

  /** Goes to those who listen for errors; without any to the console, since nothing else would ever show it. */
  #listenerFailed(error: unknown, event: keyof RunEvents): void {
    if (event !== 'error' && this.#emitter.has('error'))
      this.#emitter.emit('error', { source: 'listener', error, event });
    else console.error(`A listener for "${event}" of execution "${this.execution_id}" failed:`, error);
  }
}

/** Before anything is written: what is refused must change nothing. */
function checkPolicies({ policies = DEFAULT_POLICIES }: RunOptions): CheckpointPolicies {
  return checked(checkpointPolicies, policies, 'Execution: policies');
}
