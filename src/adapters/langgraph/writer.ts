/** Stores LangGraph's checkpoints, and the writes of running steps. */
import {
  type Checkpoint,
  type CheckpointMetadata,
  type PendingWrite,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint';
import type { PendingWrite as CairnWrite } from '../../checkpoints/contract.js';
import type { Json } from '../../kernel/contract.js';
import { Encoding, frozen } from './encode.js';
import { type Labelled, labelled, measuresOf, timestampOf, toSnapshot, versionsOf } from './form.js';
import { codeOf, isNamed, type Thread, threadKey, toCheckpointId, unless } from './ids.js';
import type { ChannelVersion, Image, Versions } from './images.js';
import type { Reader, SaverParts } from './reader.js';

const MAX_WRITES = 1000;

type Channels = Map<string, Json>;

/** The arguments of a put. */
interface StateInput {
  readonly thread: Thread;
  readonly parent: string | undefined;
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
  readonly newVersions: Readonly<Record<string, ChannelVersion>> | undefined;
}

/** A state that was read and is being stored. */
interface EncodedState {
  readonly id: string;
  readonly measures: ReturnType<typeof measuresOf>;
  readonly versions: Versions;
  readonly changed: Channels;
  readonly isNew: (channel: string) => boolean;
  /** Unchanged channels: stored only if no earlier state has them. */
  readonly others: Channels;
  readonly bytes: () => number;
  readonly ready: Promise<Labelled>;
}

export class Writer {
  readonly #parts: SaverParts;
  readonly #reader: Reader;
  readonly #running = new Map<string, Promise<void>>();

  constructor(parts: SaverParts, reader: Reader) {
    this.#parts = parts;
    this.#reader = reader;
  }

  async put(input: StateInput): Promise<void> {
    const name = nameOf(input.thread, input.checkpoint.id);
    const work = this.#store(input, this.#read(input));
    this.#running.set(name, work);
    try {
      await work;
    } finally {
      if (this.#running.get(name) === work) this.#running.delete(name);
    }
  }

  async putWrites(
    thread: Thread,
    checkpoint: string,
    pending: readonly PendingWrite[],
    task_id: string,
  ): Promise<void> {
    if (pending.length === 0) return;
    this.#parts.interrupts.noteWrites(thread, pending, task_id);
    const writes: CairnWrite[] = [];
    const encoding = new Encoding(this.#parts.codec);
    for (const [i, [channel, value]] of pending.entries()) {
      const write = { task_id, index: WRITES_IDX_MAP[channel] ?? i, channel, value: null as Json };
      writes.push(write);
      encoding.encode(value, undefined, (json) => (write.value = json ?? null));
    }
    await encoding.finish();
    // LangGraph starts the next step without waiting for the checkpoint, so its writes may come first.
    await this.#running.get(nameOf(thread, checkpoint))?.catch(() => undefined);
    const execution_id = await this.#parts.threads.ensure(thread);
    const checkpoint_id = this.#reader.checkpointId(checkpoint, execution_id);
    for (let i = 0; i < writes.length; i += MAX_WRITES) {
      const some = writes.slice(i, i + MAX_WRITES);
      // A checkpoint that was pruned or deleted meanwhile is not resumed from.
      await unless(GONE, this.#parts.cairn.checkpoints.write({ checkpoint_id, execution_id, writes: some }));
    }
    await this.#parts.interrupts.written({ thread, execution_id, checkpoint_id }, pending, task_id);
  }

  /** Reads a state at once: LangGraph changes it while it is stored. */
  #read({ thread, parent, checkpoint, metadata, newVersions }: StateInput): EncodedState {
    const { channel_values, channel_versions } = checkpoint;
    const images = this.#parts.images.of(threadKey(thread)).map(frozen);
    const like = images.find(({ checkpoint_id }) => isNamed(checkpoint_id, parent)) ?? images[0];
    const encoding = new Encoding(this.#parts.codec);
    const changed: Channels = new Map();
    const others: Channels = new Map();
    const isNew = (channel: string) => newVersions === undefined || Object.hasOwn(newVersions, channel);
    for (const [channel, value] of Object.entries(channel_values ?? {})) {
      const known = (image: Image) =>
        image.channels.has(channel) && image.versions.channel_versions[channel] === channel_versions?.[channel];
      if (!isNew(channel) && (parent === undefined || images.some(known))) continue;
      encoding.encode(value, like?.channels.get(channel), (json) => {
        if (json !== undefined) (isNew(channel) ? changed : others).set(channel, json);
      });
    }
    const { transparent } = this.#parts.codec;
    const copy = { ...metadata };
    const ready = Promise.all([this.#parts.codec.dump(metadata), encoding.finish()]).then(([json]) =>
      labelled(copy, json, transparent),
    );
    // No unhandled rejection: #store awaits other calls first.
    ready.catch(() => undefined);
    const { id } = checkpoint;
    const measures = measuresOf(metadata);
    const bytes = () => encoding.bytes;
    return { id, measures, versions: versionsOf(checkpoint), changed, isNew, others, bytes, ready };
  }

  async #store({ thread, parent }: StateInput, state: EncodedState): Promise<void> {
    if (parent !== undefined) await this.#running.get(nameOf(thread, parent))?.catch(() => undefined);
    const key = threadKey(thread);
    let execution_id = await this.#parts.threads.ensure(thread);
    const from = parent === undefined ? undefined : await this.#parentOf(thread, parent, execution_id);
    const label = await state.ready;
    const channels = inherit(state, from, this.#parts.images.of(key));
    const create = async (checkpoint_id: string, parent_checkpoint_id: string | null) => {
      await this.#parts.cairn.checkpoints.create({
        checkpoint_id,
        execution_id,
        snapshot: toSnapshot(state.versions, channels, label),
        metadata: state.measures,
        labels: label.labels,
        timestamp: timestampOf(state.versions.ts),
        ...(parent_checkpoint_id === null ? { root: true } : { parent_checkpoint_id }),
      });
    };
    let checkpoint_id = toCheckpointId(state.id, execution_id);
    let parent_id = from?.checkpoint_id ?? null;
    try {
      await create(checkpoint_id, parent_id);
    } catch (error) {
      if (codeOf(error) === 'EXECUTION_NOT_FOUND') {
        // Another process deleted the thread: it starts again with this state.
        this.#parts.threads.forget(thread);
        execution_id = await this.#parts.threads.ensure(thread);
        checkpoint_id = toCheckpointId(state.id, execution_id);
      } else if (from === undefined || !PARENT_GONE.includes(codeOf(error))) throw error;
      // Or the parent was pruned: the state is complete without it.
      this.#parts.images.forget(key);
      parent_id = null;
      await create(checkpoint_id, parent_id);
    }
    const { labels, metadata = labels } = label;
    const image = { checkpoint_id, parent_id, versions: state.versions, channels, metadata };
    this.#parts.images.keep(key, image, state.bytes());
    await this.#parts.interrupts.moved(thread, execution_id, parent_id);
  }

  async #parentOf(thread: Thread, parent: string, execution_id: string): Promise<Image | undefined> {
    const checkpoint_id = this.#reader.checkpointId(parent, execution_id);
    const known = this.#parts.images.of(threadKey(thread)).find((image) => image.checkpoint_id === checkpoint_id);
    const image = known ?? (await this.#reader.image(parent, execution_id));
    return image && frozen(image);
  }
}

const GONE = ['CHECKPOINT_NOT_FOUND', 'EXECUTION_NOT_FOUND'] as const;
const PARENT_GONE: readonly unknown[] = ['UNKNOWN_ENTITY', 'CHECKPOINT_NOT_FOUND'];

const nameOf = (thread: Thread, checkpoint: string): string => `${threadKey(thread)} ${checkpoint}`;

/**
 * All channels of a state. A channel that is not new has the value of the parent, or of another cached state with the same
 * version. Without a parent it is not stored.
 */
function inherit(state: EncodedState, from: Image | undefined, images: readonly Image[]): Channels {
  const channels: Channels = new Map(state.changed);
  for (const [channel, version] of Object.entries(state.versions.channel_versions)) {
    if (state.changed.has(channel) || state.isNew(channel)) continue;
    const same = (image: Image) => image.versions.channel_versions[channel] === version;
    const json =
      from && same(from)
        ? from.channels.get(channel)
        : (images.find((image) => same(image) && image.channels.has(channel))?.channels.get(channel) ??
          (from ? state.others.get(channel) : undefined));
    if (json !== undefined) channels.set(channel, json);
  }
  return channels;
}
