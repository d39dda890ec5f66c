/** CairnSaver: a checkpointer for LangGraph, on the checkpoints of Cairn. */
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
import { type CairnError, invalid } from '../../kernel/index.js';
import { Codec } from './codec.js';
import { codeOf, configOf, type Place, placeKey } from './ids.js';
import { Images } from './images.js';
import { Reader } from './reader.js';
import { Threads } from './threads.js';
import { Writer } from './writer.js';

export interface CairnSaverOptions {
  /** LangGraph's own unless given. With another, lists are still stored by their elements, all else in one piece. */
  readonly serde?: SerializerProtocol;
  /** The agent that the executions are of. */
  readonly agent_id?: string;
}

/** What to keep when a thread is pruned: as executions.prune takes it. */
export interface PruneOptions {
  readonly keep_newest?: number;
  readonly keep_daily?: boolean;
  readonly keep_branch_points?: boolean;
  readonly keep_named?: boolean;
  readonly dry_run?: boolean;
}

/**
 * Keeps the states of LangGraph's threads in Cairn, in process (`openCairn`) or over HTTP (`connectCairn`). A step
 * costs what it changed: messages and other plain data that are as they were are neither serialised nor stored again.
 *
 * Each thread and namespace is an execution; its checkpoints can be listed, compared, branched and exported like any
 * other. What is different from a saver that keeps bytes: members of objects come back in sorted order, and NaN and
 * infinities become null, as in the serializer of LangGraph.
 */
export class CairnSaver extends BaseCheckpointSaver {
  readonly #cairn: Api;
  readonly #threads: Threads;
  readonly #images = new Images();
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(cairn: Api, options: CairnSaverOptions = {}) {
    super(options.serde);
    const codec = new Codec(this.serde);
    this.#cairn = cairn;
    this.#threads = new Threads(cairn, options.agent_id);
    this.#reader = new Reader(cairn, codec, this.#threads, this.#images, () => this.getNextVersion(undefined));
    this.#writer = new Writer(cairn, codec, this.#threads, this.#images, this.#reader);
  }

  /** The checkpoint that the config names, or else the one that the thread stands at. */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#tuple(config, true);
  }

  /** Newest first, by checkpoint id; over all threads and namespaces unless the config names them. */
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

  /** Channels of `newVersions` take their values from the checkpoint; the others go on from where they were. */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const place = placeIn(config, 'store a checkpoint');
    const parent = optional('checkpoint_id', config.configurable?.checkpoint_id) || undefined;
    await this.#writer.put(place, parent, checkpoint, metadata, newVersions);
    return configOf(place, checkpoint.id);
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const place = placeIn(config, 'store writes');
    const checkpoint_id = optional('checkpoint_id', config.configurable?.checkpoint_id);
    if (!checkpoint_id) throw refusal('cannot store writes: config.configurable.checkpoint_id says what they follow');
    await this.#writer.putWrites(place, checkpoint_id, writes, taskId);
  }

  /** Deletes the thread in all its namespaces, for good: the content is erased when this resolves. */
  override async deleteThread(threadId: string): Promise<void> {
    for (const { place, execution_id } of await this.#threads.all(threadId)) {
      this.#forget(place);
      try {
        await this.#cairn.executions.delete({ execution_id, wait: true });
      } catch (error) {
        // Somebody else was faster.
        if (codeOf(error) !== 'EXECUTION_NOT_FOUND') throw error;
      }
    }
  }

  /** Removes old checkpoints of a thread, in each of its namespaces. Says what that freed. */
  async prune(threadId: string, options: PruneOptions = {}): Promise<Pruned[]> {
    const pruned: Pruned[] = [];
    for (const { place, execution_id } of await this.#threads.all(threadId)) {
      pruned.push(await this.#cairn.executions.prune({ execution_id, ...options }));
      this.#images.forget(placeKey(place));
    }
    return pruned;
  }

  /** As inherited, but what it reads on its way up is not kept to compare with: the next state has nothing of it. */
  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const passing = { getTuple: (config: RunnableConfig) => this.#tuple(config, false) };
    return super.getDeltaChannelHistory.call(passing as unknown as this, options);
  }

  async #tuple(config: RunnableConfig, retain: boolean): Promise<CheckpointTuple | undefined> {
    // A config that names no thread has no checkpoint.
    if (config.configurable?.thread_id === undefined) return undefined;
    const id = optional('checkpoint_id', getCheckpointId(config)) ?? '';
    return this.#reader.tuple(placeIn(config, 'read a checkpoint'), id, { retain });
  }

  #forget(place: Place): void {
    this.#threads.forget(place);
    this.#images.forget(placeKey(place));
  }
}

function placeIn(config: RunnableConfig, purpose: string): Place {
  const thread_id = optional('thread_id', config.configurable?.thread_id);
  if (!thread_id)
    throw refusal(
      `cannot ${purpose}: config.configurable.thread_id says which conversation it is of, such as { configurable: { thread_id: 'chat-1' } }`,
    );
  return { thread_id, namespace: optional('checkpoint_ns', config.configurable?.checkpoint_ns) ?? '' };
}

const refusal = (message: string): CairnError => invalid(message);

function optional(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw refusal(`config.configurable.${name} must be a string, not ${typeof value}`);
  return value;
}
