/** CairnSaver: a checkpointer for LangGraph on the checkpoints of Cairn. */
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  getCheckpointId,
  type PendingWrite,
  type SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import type { Api } from '../../api/index.js';
import type { Pruned } from '../../checkpoints/contract.js';
import type { Json } from '../../kernel/contract.js';
import { invalid } from '../../kernel/index.js';
import { Codec } from './codec.js';
import { configOf, type Thread, threadKey, unless } from './ids.js';
import { Images } from './images.js';
import { Interrupts } from './interrupts.js';
import { Reader } from './reader.js';
import { Threads } from './threads.js';
import { Writer } from './writer.js';

export interface CairnSaverOptions {
  /** Default: LangGraph's own. With another, lists are stored element by element, other values as a whole. */
  readonly serde?: SerializerProtocol;
  /** The agent of the executions. */
  readonly agent_id?: string;
}

/** Which checkpoints to keep: the options of executions.prune. */
export type PruneOptions = Omit<Parameters<Api['executions']['prune']>[0], 'execution_id'>;

/**
 * Stores the states of LangGraph's threads in Cairn, in process (`openCairn`) or over HTTP (`connectCairn`). Messages and
 * other plain data that did not change are neither serialized nor stored again.
 *
 * Each thread and namespace is an execution; its checkpoints can be listed, compared, branched and exported. Unlike a saver
 * that stores bytes, it returns members of objects in sorted order, and NaN and infinities as null, like LangGraph's serializer.
 */
export class CairnSaver extends BaseCheckpointSaver {
  readonly #cairn: Api;
  readonly #threads: Threads;
  readonly #images = new Images();
  readonly #interrupts: Interrupts;
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(cairn: Api, options: CairnSaverOptions = {}) {
    super(options.serde);
    this.#cairn = cairn;
    this.#threads = new Threads(cairn, options.agent_id);
    const codec = new Codec(this.serde);
    this.#interrupts = new Interrupts(cairn, codec);
    const parts = { cairn, codec, threads: this.#threads, images: this.#images, interrupts: this.#interrupts };
    this.#reader = new Reader(parts, () => this.getNextVersion(undefined));
    this.#writer = new Writer(parts, this.#reader);
  }

  /** The checkpoint that the config names; default: the latest of the thread. */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#tuple(config, true);
  }

  /** Newest first, by checkpoint id; default: all threads and namespaces. */
  override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
    yield* this.#reader.list(
      {
        thread_id: optional('thread_id', thread_id),
        namespace: optional('checkpoint_ns', checkpoint_ns),
        checkpoint_id: optional('checkpoint_id', checkpoint_id) || undefined,
        before: optional('before.checkpoint_id', options.before?.configurable?.checkpoint_id) || undefined,
      },
      options.filter ?? {},
      options.limit ?? Number.POSITIVE_INFINITY,
    );
  }

  /** Channels of `newVersions` take their values from the checkpoint; the others keep their last value. */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const thread = threadIn(config, 'store a checkpoint');
    const parent = optional('checkpoint_id', config.configurable?.checkpoint_id) || undefined;
    await this.#writer.put({ thread, parent, checkpoint, metadata, newVersions });
    return configOf(thread, checkpoint.id);
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const thread = threadIn(config, 'store writes');
    const checkpoint_id = optional('checkpoint_id', config.configurable?.checkpoint_id);
    if (!checkpoint_id) throw invalid('cannot store writes: config.configurable.checkpoint_id is required');
    await this.#writer.putWrites(thread, checkpoint_id, writes, taskId);
  }

  /** Deletes the thread in all its namespaces; its content is erased when this resolves. */
  override async deleteThread(threadId: string): Promise<void> {
    for (const { thread, execution_id } of await this.#threads.all(threadId)) {
      this.#threads.forget(thread);
      this.#images.forget(threadKey(thread));
      this.#interrupts.forget(thread);
      await unless(['EXECUTION_NOT_FOUND'], this.#cairn.executions.delete({ execution_id, wait: true }));
    }
  }

  /**
   * The answers that were given in Cairn to the interrupts of a thread, by the ids of the interrupts: the value of the answer,
   * else its choice, else its action. Undefined if there are none yet.
   *
   * @example
   * const resume = await saver.answers(config);
   * if (resume) await graph.invoke(new Command({ resume }), config);
   */
  async answers(config: RunnableConfig): Promise<Record<string, Json> | undefined> {
    const { thread_id } = threadIn(config, 'read answers');
    const execution_id = await this.#threads.find({ thread_id, namespace: '' });
    if (execution_id === undefined) return undefined;
    const { latest_checkpoint_id: checkpoint_id } = await this.#cairn.executions.get({ execution_id });
    if (checkpoint_id === null) return undefined;
    const answers = await this.#interrupts.answers({ execution_id, checkpoint_id });
    return Object.keys(answers).length === 0 ? undefined : answers;
  }

  /** Removes old checkpoints of a thread in each of its namespaces. */
  async prune(threadId: string, options: PruneOptions = {}): Promise<Pruned[]> {
    const pruned: Pruned[] = [];
    for (const { thread, execution_id } of await this.#threads.all(threadId)) {
      pruned.push(await this.#cairn.executions.prune({ execution_id, ...options }));
      this.#images.forget(threadKey(thread));
    }
    return pruned;
  }

  /** As inherited, but the states that it reads are not cached: the next state shares nothing with them. */
  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const uncached = { getTuple: (config: RunnableConfig) => this.#tuple(config, false) };
    return super.getDeltaChannelHistory.call(uncached as unknown as this, options);
  }

  async #tuple(config: RunnableConfig, retain: boolean): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.thread_id === undefined) return undefined;
    const id = optional('checkpoint_id', getCheckpointId(config)) ?? '';
    return this.#reader.tuple(threadIn(config, 'read a checkpoint'), id, retain);
  }
}

function threadIn(config: RunnableConfig, purpose: string): Thread {
  const thread_id = optional('thread_id', config.configurable?.thread_id);
  if (!thread_id)
    throw invalid(
      `cannot ${purpose}: config.configurable.thread_id is required, such as { configurable: { thread_id: 'chat-1' } }`,
    );
  return { thread_id, namespace: optional('checkpoint_ns', config.configurable?.checkpoint_ns) ?? '' };
}

function optional(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(`config.configurable.${name} must be a string, not ${typeof value}`);
  return value;
}
