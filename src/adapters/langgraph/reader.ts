/** Reads checkpoints for LangGraph: one, the latest, or a list. */
import { isDeepStrictEqual } from 'node:util';
import {
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  INTERRUPT,
  maxChannelVersion,
  TASKS,
} from '@langchain/langgraph-checkpoint';
import type { Api } from '../../api/index.js';
import type { Checkpoint as CairnCheckpoint, PendingWrite } from '../../checkpoints/contract.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { type Codec, setMember, sizeOf } from './codec.js';
import { decode, decodeAll } from './decode.js';
import { imageOf, isLabel } from './form.js';
import { codeOf, configOf, fromCheckpointId, type Thread, threadKey, toCheckpointId, unless } from './ids.js';
import type { ChannelVersion, Image, Images } from './images.js';
import type { Interrupts } from './interrupts.js';
import type { Threads } from './threads.js';

interface ListFilter {
  readonly thread_id: string | undefined;
  readonly namespace: string | undefined;
  readonly checkpoint_id: string | undefined;
  readonly before: string | undefined;
}

type ImageAndWrites = readonly [Image, readonly PendingWrite[]];

const PAGE = 100;
const AHEAD = 8;
const MAX_OWN_IDS = 10_000;
/** Up to version 3, sends were stored as writes of the parent. */
const SENDS_IN_CHANNEL = 4;

export interface SaverParts {
  readonly cairn: Api;
  readonly codec: Codec;
  readonly threads: Threads;
  readonly images: Images;
  readonly interrupts: Interrupts;
}

export class Reader {
  readonly #parts: SaverParts;
  readonly #firstVersion: () => ChannelVersion;
  /** Checkpoints that Cairn created (branches), which have no id of LangGraph. */
  readonly #ownIds = new Set<string>();

  constructor(parts: SaverParts, firstVersion: () => ChannelVersion) {
    this.#parts = parts;
    this.#firstVersion = firstVersion;
  }

  checkpointId(id: string, execution_id: string): string {
    return this.#ownIds.has(id) ? id : toCheckpointId(id, execution_id);
  }

  async tuple(thread: Thread, id: string, retain: boolean): Promise<CheckpointTuple | undefined> {
    for (let attempt = 1; ; attempt++) {
      const execution_id = await this.#parts.threads.find(thread);
      if (execution_id === undefined) return undefined;
      try {
        const [image, writes] = await (id === '' ? this.#latest(execution_id) : this.#one(id, execution_id));
        return await this.#tupleOf(thread, execution_id, image, writes, retain);
      } catch (error) {
        if (codeOf(error) === 'CHECKPOINT_NOT_FOUND') return undefined;
        if (codeOf(error) !== 'EXECUTION_NOT_FOUND' || attempt > 1) throw error;
        // Another process deleted the thread; it may have been created again.
        this.#parts.threads.forget(thread);
        this.#parts.images.forget(threadKey(thread));
      }
    }
  }

  async *list(
    where: ListFilter,
    filter: Readonly<Record<string, unknown>>,
    limit: number,
  ): AsyncGenerator<CheckpointTuple> {
    const { labels, others } = await this.#labelsOf(filter);
    const before_id = where.before ?? (where.checkpoint_id && `${where.checkpoint_id}/`);
    let left = limit;
    let cursor: string | null | undefined;
    while (left > 0 && cursor !== null) {
      const page = await this.#parts.cairn.checkpoints.list({
        thread_id: where.thread_id,
        namespace: where.namespace,
        before_id,
        labels: Object.keys(labels).length === 0 ? undefined : labels,
        cursor,
        order: 'desc',
        limit: Math.min(PAGE, left),
      });
      const last = page.checkpoints.at(-1)?.id ?? '';
      cursor = where.checkpoint_id !== undefined && last < where.checkpoint_id ? null : page.next_cursor;
      for (let i = 0; i < page.checkpoints.length && left > 0; i += AHEAD) {
        const isListed = ({ id, execution_id }: { id: string; execution_id: string }) =>
          [undefined, fromCheckpointId(id, execution_id)].includes(where.checkpoint_id);
        const some = page.checkpoints.slice(i, i + AHEAD).filter(isListed);
        for (const tuple of await Promise.all(some.map((one) => this.#listed(one)))) {
          if (tuple === undefined || left <= 0 || !hasMembers(tuple.metadata, others)) continue;
          left--;
          yield tuple;
        }
      }
    }
  }

  /** The state of a checkpoint, to inherit from; undefined if it does not exist. */
  async image(id: string, execution_id: string): Promise<Image | undefined> {
    const checkpoint = await unless(['CHECKPOINT_NOT_FOUND'], this.#get(id, execution_id));
    return checkpoint && imageOf(checkpoint);
  }

  async #listed(summary: { id: string; execution_id: string }): Promise<CheckpointTuple | undefined> {
    const thread = await this.#parts.threads.threadOf(summary.execution_id);
    if (thread === undefined) return undefined;
    const tuple = async () =>
      this.#tupleOf(thread, summary.execution_id, ...(await this.#withWrites(summary.id)), false);
    // Undefined if it, or the parent with its sends, was pruned or deleted since the page was read.
    return unless(['CHECKPOINT_NOT_FOUND'], tuple());
  }

  async #one(id: string, execution_id: string): Promise<ImageAndWrites> {
    const read = await unless(['CHECKPOINT_NOT_FOUND'], this.#withWrites(this.checkpointId(id, execution_id)));
    if (read) return read;
    const checkpoint = await this.#get(id, execution_id);
    return [imageOf(checkpoint), await this.#writes(checkpoint.id)];
  }

  /** Reads both at once. If both fail, the error is that of the checkpoint. */
  async #withWrites(checkpoint_id: string): Promise<ImageAndWrites> {
    const writes = this.#writes(checkpoint_id);
    writes.catch(() => undefined);
    return [imageOf(await this.#parts.cairn.checkpoints.get({ checkpoint_id })), await writes];
  }

  async #latest(execution_id: string): Promise<ImageAndWrites> {
    const checkpoint = await this.#parts.cairn.checkpoints.latest({ execution_id });
    return [imageOf(checkpoint), await this.#writes(checkpoint.id)];
  }

  async #get(id: string, execution_id: string): Promise<CairnCheckpoint> {
    const checkpoint_id = this.checkpointId(id, execution_id);
    try {
      return await this.#parts.cairn.checkpoints.get({ checkpoint_id });
    } catch (error) {
      if (codeOf(error) !== 'CHECKPOINT_NOT_FOUND' || checkpoint_id === id) throw error;
      const checkpoint = await this.#parts.cairn.checkpoints.get({ checkpoint_id: id });
      if (checkpoint.execution_id !== execution_id) throw error;
      this.#nameOf(id, execution_id);
      return checkpoint;
    }
  }

  async #writes(checkpoint_id: string): Promise<PendingWrite[]> {
    return (await this.#parts.cairn.checkpoints.writes({ checkpoint_id })).writes;
  }

  async #tupleOf(
    thread: Thread,
    execution_id: string,
    image: Image,
    writes: readonly PendingWrite[],
    retain: boolean,
  ): Promise<CheckpointTuple> {
    if (retain) {
      this.#keep(thread, image);
      if (writes.some(({ channel }) => channel === INTERRUPT)) this.#parts.interrupts.note(thread);
    }
    const { v, ts, versions_seen } = image.versions;
    const channel_versions = { ...image.versions.channel_versions };
    const [channel_values, metadata, pendingWrites, sends] = await Promise.all([
      decodeAll(this.#parts.codec, image.channels, retain),
      decode(this.#parts.codec, image.metadata),
      this.#pendingWrites(writes),
      v < SENDS_IN_CHANNEL && image.parent_id !== null ? this.#pendingSends(image.parent_id) : undefined,
    ]);
    if (sends) {
      channel_values[TASKS] = sends;
      const others = Object.values(channel_versions);
      channel_versions[TASKS] = others.length > 0 ? maxChannelVersion(...others) : this.#firstVersion();
    }
    const id = this.#nameOf(image.checkpoint_id, execution_id);
    return {
      config: configOf(thread, id),
      checkpoint: {
        v,
        id,
        ts,
        channel_values,
        channel_versions,
        versions_seen: structuredClone(versions_seen) as Record<string, Record<string, ChannelVersion>>,
      },
      metadata: metadata as CheckpointMetadata,
      ...(image.parent_id && { parentConfig: configOf(thread, this.#nameOf(image.parent_id, execution_id)) }),
      pendingWrites,
    };
  }

  async #pendingWrites(writes: readonly PendingWrite[]): Promise<CheckpointPendingWrite[]> {
    const values = await Promise.all(writes.map(({ value }) => decode(this.#parts.codec, value)));
    return writes.map(({ task_id, channel }, i) => [task_id, channel, values[i]]);
  }

  async #pendingSends(parent_id: string): Promise<unknown[]> {
    const sends = (await this.#writes(parent_id)).filter(({ channel }) => channel === TASKS);
    return Promise.all(sends.map(({ value }) => decode(this.#parts.codec, value)));
  }

  #keep(thread: Thread, image: Image): void {
    const key = threadKey(thread);
    const isKnown = this.#parts.images.of(key).includes(image);
    let bytes = 0;
    if (!isKnown) for (const json of image.channels.values()) bytes += sizeOf(json);
    this.#parts.images.keep(key, image, bytes);
  }

  /** The id in LangGraph; remembers an id that Cairn created. */
  #nameOf(checkpoint_id: string, execution_id: string): string {
    const name = fromCheckpointId(checkpoint_id, execution_id);
    if (name === checkpoint_id) {
      if (this.#ownIds.size >= MAX_OWN_IDS) this.#ownIds.clear();
      this.#ownIds.add(name);
    }
    return name;
  }

  /** Splits a filter into labels, which the store filters by, and other members, which are checked here. */
  async #labelsOf(
    filter: Readonly<Record<string, unknown>>,
  ): Promise<{ labels: JsonObject; others: Readonly<Record<string, unknown>> }> {
    const { transparent } = this.#parts.codec;
    const labels: JsonObject = {};
    const others: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(filter)) {
      const json = transparent ? await this.#parts.codec.dump(value) : (value as Json);
      const known = value !== undefined && json !== undefined && isLabel(key, json, transparent);
      setMember(known ? labels : others, key, known ? json : value);
    }
    return { labels, others };
  }
}

function hasMembers(metadata: CheckpointMetadata | undefined, members: Readonly<Record<string, unknown>>): boolean {
  const own = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(members).every(([key, value]) => isDeepStrictEqual(own[key], value));
}
