/** Stores LangGraph's checkpoints, and the writes of steps under way. */
import {
  type Checkpoint,
  type CheckpointMetadata,
  type PendingWrite,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint';
import type { Api } from '../../api/index.js';
import type { PendingWrite as CairnWrite } from '../../checkpoints/contract.js';
import type { Json } from '../../kernel/contract.js';
import type { Codec } from './codec.js';
import { Encoding, frozen } from './encode.js';
import { type Labelled, labelled, measuresOf, timestampOf, toSnapshot, versionsOf } from './form.js';
import { codeOf, isNamed, type Place, placeKey, toCheckpointId } from './ids.js';
import type { ChannelVersion, Image, Images, Versions } from './images.js';
import type { Reader } from './reader.js';
import type { Threads } from './threads.js';

const MAX_WRITES = 1000;

type Channels = Map<string, Json>;

/** A state that was read and is on its way to the store. */
interface Given {
  readonly versions: Versions;
  /** Channels that take their value from it. */
  readonly changed: Channels;
  readonly isNew: (channel: string) => boolean;
  /** Channels that should go on from where they were, and what to store if that is not known. */
  readonly others: Channels;
  readonly bytes: () => number;
  readonly ready: Promise<Labelled>;
}

export class Writer {
  readonly #cairn: Api;
  readonly #codec: Codec;
  readonly #threads: Threads;
  readonly #images: Images;
  readonly #reader: Reader;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(cairn: Api, codec: Codec, threads: Threads, images: Images, reader: Reader) {
    this.#cairn = cairn;
    this.#codec = codec;
    this.#threads = threads;
    this.#images = images;
    this.#reader = reader;
  }

  async put(
    place: Place,
    parent: string | undefined,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: Readonly<Record<string, ChannelVersion>> | undefined,
  ): Promise<void> {
    const name = nameOf(place, checkpoint.id);
    const given = this.#read(place, parent, checkpoint, metadata, newVersions);
    const work = this.#store(place, parent, checkpoint.id, measuresOf(metadata), given);
    this.#underWay.set(name, work);
    try {
      await work;
    } finally {
      if (this.#underWay.get(name) === work) this.#underWay.delete(name);
    }
  }

  async putWrites(place: Place, checkpoint: string, pending: readonly PendingWrite[], task_id: string): Promise<void> {
    if (pending.length === 0) return;
    const writes: CairnWrite[] = [];
    const encoding = new Encoding(this.#codec);
    pending.forEach(([channel, value], i) => {
      const write = { task_id, index: WRITES_IDX_MAP[channel] ?? i, channel, value: null as Json };
      writes.push(write);
      encoding.encode(value, undefined, (json) => (write.value = json ?? null));
    });
    await encoding.finish();
    // LangGraph does not wait for a checkpoint before it starts the next step: its writes may come first.
    await this.#underWay.get(nameOf(place, checkpoint))?.catch(() => undefined);
    const execution_id = await this.#threads.make(place);
    const checkpoint_id = this.#reader.checkpointId(checkpoint, execution_id);
    for (let i = 0; i < writes.length; i += MAX_WRITES) {
      const some = writes.slice(i, i + MAX_WRITES);
      try {
        await this.#cairn.checkpoints.write({ checkpoint_id, execution_id, writes: some });
      } catch (error) {
        // Pruned or deleted meanwhile: nobody resumes from it.
        if (!GONE.includes(codeOf(error))) throw error;
      }
    }
  }

  /** Reads a state at once: LangGraph goes on while it is stored. */
  #read(
    place: Place,
    parent: string | undefined,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: Readonly<Record<string, ChannelVersion>> | undefined,
  ): Given {
    const { channel_values, channel_versions } = checkpoint;
    const images = this.#images.of(placeKey(place)).map(frozen);
    const like = images.find(({ checkpoint_id }) => isNamed(checkpoint_id, parent)) ?? images[0];
    const encoding = new Encoding(this.#codec);
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
    const { transparent } = this.#codec;
    const told = { ...metadata };
    const ready = Promise.all([this.#codec.dump(metadata), encoding.finish()]).then(([json]) =>
      labelled(told, json, transparent),
    );
    // Whoever stores it waits for something else first.
    ready.catch(() => undefined);
    return { versions: versionsOf(checkpoint), changed, isNew, others, bytes: () => encoding.bytes, ready };
  }

  async #store(
    place: Place,
    parent: string | undefined,
    id: string,
    measures: ReturnType<typeof measuresOf>,
    given: Given,
  ): Promise<void> {
    if (parent !== undefined) await this.#underWay.get(nameOf(place, parent))?.catch(() => undefined);
    const key = placeKey(place);
    let execution_id = await this.#threads.make(place);
    const from = parent === undefined ? undefined : await this.#parentOf(place, parent, execution_id);
    const told = await given.ready;
    const channels = inherit(given, from, this.#images.of(key));
    const create = async (checkpoint_id: string, parent_checkpoint_id: string | null) => {
      const timestamp = timestampOf(given.versions);
      await this.#cairn.checkpoints.create({
        checkpoint_id,
        execution_id,
        snapshot: toSnapshot(given.versions, channels, told),
        metadata: measures,
        labels: told.labels,
        ...(timestamp === undefined ? {} : { timestamp }),
        ...(parent_checkpoint_id === null ? { root: true } : { parent_checkpoint_id }),
      });
    };
    let checkpoint_id = toCheckpointId(id, execution_id);
    let parent_id = from?.checkpoint_id ?? null;
    try {
      await create(checkpoint_id, parent_id);
    } catch (error) {
      if (codeOf(error) === 'EXECUTION_NOT_FOUND') {
        // The thread was deleted elsewhere: it begins anew with this state.
        this.#threads.forget(place);
        execution_id = await this.#threads.make(place);
        checkpoint_id = toCheckpointId(id, execution_id);
      } else if (from === undefined || !PARENT_GONE.includes(codeOf(error))) throw error;
      // Or its parent was pruned: the state is whole without it.
      this.#images.forget(key);
      parent_id = null;
      await create(checkpoint_id, parent_id);
    }
    const { labels, metadata = labels } = told;
    const image = { checkpoint_id, parent_id, versions: given.versions, channels, metadata };
    this.#images.keep(key, image, given.bytes());
  }

  async #parentOf(place: Place, parent: string, execution_id: string): Promise<Image | undefined> {
    const checkpoint_id = this.#reader.checkpointId(parent, execution_id);
    const known = this.#images.of(placeKey(place)).find((image) => image.checkpoint_id === checkpoint_id);
    const image = known ?? (await this.#reader.image(parent, execution_id));
    return image && frozen(image);
  }
}

const GONE: readonly unknown[] = ['CHECKPOINT_NOT_FOUND', 'EXECUTION_NOT_FOUND'];
const PARENT_GONE: readonly unknown[] = ['UNKNOWN_ENTITY', 'CHECKPOINT_NOT_FOUND'];

const nameOf = (place: Place, checkpoint: string): string => `${placeKey(place)} ${checkpoint}`;

/**
 * All channels of a state. One that is not new has the value of the parent, or of another state that is at hand, if
 * that has the same version of it. Without a parent, what is not new is not stored.
 */
function inherit(given: Given, from: Image | undefined, images: readonly Image[]): Channels {
  const channels: Channels = new Map(given.changed);
  for (const [channel, version] of Object.entries(given.versions.channel_versions)) {
    if (given.changed.has(channel) || given.isNew(channel)) continue;
    const same = (image: Image) => image.versions.channel_versions[channel] === version;
    const json =
      from && same(from)
        ? from.channels.get(channel)
        : (images.find((image) => same(image) && image.channels.has(channel))?.channels.get(channel) ??
          (from ? given.others.get(channel) : undefined));
    if (json !== undefined) channels.set(channel, json);
  }
  return channels;
}
