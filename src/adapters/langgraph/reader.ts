/** Reads LangGraph's checkpoints back: one, the latest, or many. */
import { isDeepStrictEqual } from 'node:util';
import {
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  maxChannelVersion,
  TASKS,
} from '@langchain/langgraph-checkpoint';
import type { Api } from '../../api/index.js';
import type { Checkpoint as CairnCheckpoint, PendingWrite } from '../../checkpoints/contract.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { type Codec, setMember, sizeOf } from './codec.js';
import { decode, decodeAll } from './decode.js';
import { imageOf, isLabel } from './form.js';
import { codeOf, configOf, fromCheckpointId, type Place, placeKey, toCheckpointId } from './ids.js';
import type { ChannelVersion, Image, Images } from './images.js';
import type { Threads } from './threads.js';

export interface ListWhere {
  readonly thread_id: string | undefined;
  readonly namespace: string | undefined;
  readonly checkpoint_id: string | undefined;
  readonly before: string | undefined;
}

type Read = readonly [Image, readonly PendingWrite[]];

const PAGE = 100;
/** How many checkpoints of a list are read at a time. */
const AHEAD = 8;
const MAX_OWN_IDS = 10_000;
/** Up to version 3, sends were kept as writes of the parent. */
const SENDS_IN_CHANNEL = 4;

export class Reader {
  readonly #cairn: Api;
  readonly #codec: Codec;
  readonly #threads: Threads;
  readonly #images: Images;
  readonly #firstVersion: () => ChannelVersion;
  /** Checkpoints that Cairn made itself (branches), which have no id of LangGraph's. */
  readonly #ownIds = new Set<string>();

  constructor(cairn: Api, codec: Codec, threads: Threads, images: Images, firstVersion: () => ChannelVersion) {
    this.#cairn = cairn;
    this.#codec = codec;
    this.#threads = threads;
    this.#images = images;
    this.#firstVersion = firstVersion;
  }

  checkpointId(id: string, execution_id: string): string {
    return this.#ownIds.has(id) ? id : toCheckpointId(id, execution_id);
  }

  async tuple(place: Place, id: string, options: { readonly retain: boolean }): Promise<CheckpointTuple | undefined> {
    for (let attempt = 1; ; attempt++) {
      const execution_id = await this.#threads.find(place);
      if (execution_id === undefined) return undefined;
      try {
        const [image, writes] = await (id === '' ? this.#latest(execution_id) : this.#one(id, execution_id));
        return await this.#tupleOf(place, execution_id, image, writes, options);
      } catch (error) {
        if (codeOf(error) === 'CHECKPOINT_NOT_FOUND') return undefined;
        if (codeOf(error) !== 'EXECUTION_NOT_FOUND' || attempt > 1) throw error;
        // The thread was deleted elsewhere since, and may have begun anew.
        this.#threads.forget(place);
        this.#images.forget(placeKey(place));
      }
    }
  }

  async *list(
    where: ListWhere,
    filter: Readonly<Record<string, unknown>>,
    limit: number,
  ): AsyncGenerator<CheckpointTuple> {
    const { labels, others } = await this.#labelsOf(filter);
    const before_id = where.before ?? (where.checkpoint_id && `${where.checkpoint_id}/`);
    let left = limit;
    let cursor: string | null | undefined;
    while (left > 0 && cursor !== null) {
      const page = await this.#cairn.checkpoints.list({
        ...(where.thread_id === undefined ? {} : { thread_id: where.thread_id }),
        ...(where.namespace === undefined ? {} : { namespace: where.namespace }),
        ...(before_id === undefined ? {} : { before_id }),
        ...(Object.keys(labels).length === 0 ? {} : { labels }),
        ...(cursor ? { cursor } : {}),
        order: 'desc',
        limit: Math.min(PAGE, left),
      });
      const last = page.checkpoints.at(-1)?.id ?? '';
      cursor = where.checkpoint_id !== undefined && last < where.checkpoint_id ? null : page.next_cursor;
      for (let i = 0; i < page.checkpoints.length && left > 0; i += AHEAD) {
        const some = page.checkpoints
          .slice(i, i + AHEAD)
          .filter(({ id, execution_id }) =>
            [undefined, fromCheckpointId(id, execution_id)].includes(where.checkpoint_id),
          );
        for (const tuple of await Promise.all(some.map((one) => this.#listed(one)))) {
          if (tuple === undefined || left <= 0 || !hasMembers(tuple.metadata, others)) continue;
          left--;
          yield tuple;
        }
      }
    }
  }

  /** The state of a checkpoint, to inherit from; undefined if there is no such checkpoint. */
  async image(id: string, execution_id: string): Promise<Image | undefined> {
    try {
      return imageOf(await this.#get(id, execution_id));
    } catch (error) {
      if (codeOf(error) === 'CHECKPOINT_NOT_FOUND') return undefined;
      throw error;
    }
  }

  async #listed(summary: { id: string; execution_id: string }): Promise<CheckpointTuple | undefined> {
    const place = await this.#threads.placeOf(summary.execution_id);
    if (place === undefined) return undefined;
    try {
      const [checkpoint, writes] = await both(
        this.#cairn.checkpoints.get({ checkpoint_id: summary.id }),
        this.#writes(summary.id),
      );
      return await this.#tupleOf(place, summary.execution_id, imageOf(checkpoint), writes, { retain: false });
    } catch (error) {
      // Pruned or deleted since the page was read.
      if (codeOf(error) === 'CHECKPOINT_NOT_FOUND') return undefined;
      throw error;
    }
  }

  async #one(id: string, execution_id: string): Promise<Read> {
    const checkpoint_id = this.checkpointId(id, execution_id);
    try {
      const [checkpoint, writes] = await both(
        this.#cairn.checkpoints.get({ checkpoint_id }),
        this.#writes(checkpoint_id),
      );
      return [imageOf(checkpoint), writes];
    } catch (error) {
      if (codeOf(error) !== 'CHECKPOINT_NOT_FOUND') throw error;
    }
    const checkpoint = await this.#get(id, execution_id);
    return [imageOf(checkpoint), await this.#writes(checkpoint.id)];
  }

  async #latest(execution_id: string): Promise<Read> {
    const checkpoint = await this.#cairn.checkpoints.latest({ execution_id });
    return [imageOf(checkpoint), await this.#writes(checkpoint.id)];
  }

  async #get(id: string, execution_id: string): Promise<CairnCheckpoint> {
    const checkpoint_id = this.checkpointId(id, execution_id);
    try {
      return await this.#cairn.checkpoints.get({ checkpoint_id });
    } catch (error) {
      if (codeOf(error) !== 'CHECKPOINT_NOT_FOUND' || checkpoint_id === id) throw error;
      const checkpoint = await this.#cairn.checkpoints.get({ checkpoint_id: id });
      if (checkpoint.execution_id !== execution_id) throw error;
      this.#nameOf(id, execution_id);
      return checkpoint;
    }
  }

  async #writes(checkpoint_id: string): Promise<PendingWrite[]> {
    return (await this.#cairn.checkpoints.writes({ checkpoint_id })).writes;
  }

  async #tupleOf(
    place: Place,
    execution_id: string,
    image: Image,
    writes: readonly PendingWrite[],
    { retain }: { readonly retain: boolean },
  ): Promise<CheckpointTuple> {
    if (retain) this.#keep(place, image);
    const { v, ts, versions_seen } = image.versions;
    const channel_versions = { ...image.versions.channel_versions };
    const [channel_values, metadata, pendingWrites, sends] = await Promise.all([
      decodeAll(this.#codec, image.channels, { retain }),
      decode(this.#codec, image.metadata),
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
      config: configOf(place, id),
      checkpoint: {
        v,
        id,
        ts,
        channel_values,
        channel_versions,
        versions_seen: structuredClone(versions_seen) as Record<string, Record<string, ChannelVersion>>,
      },
      metadata: metadata as CheckpointMetadata,
      ...(image.parent_id === null
        ? {}
        : { parentConfig: configOf(place, this.#nameOf(image.parent_id, execution_id)) }),
      pendingWrites,
    };
  }

  async #pendingWrites(writes: readonly PendingWrite[]): Promise<CheckpointPendingWrite[]> {
    return Promise.all(
      writes.map(
        async ({ task_id, channel, value }): Promise<CheckpointPendingWrite> => [
          task_id,
          channel,
          await decode(this.#codec, value),
        ],
      ),
    );
  }

  async #pendingSends(parent_id: string): Promise<unknown[]> {
    const writes = await this.#writes(parent_id);
    return Promise.all(
      writes.filter(({ channel }) => channel === TASKS).map(({ value }) => decode(this.#codec, value)),
    );
  }

  #keep(place: Place, image: Image): void {
    const key = placeKey(place);
    const isKnown = this.#images.of(key).includes(image);
    let bytes = 0;
    if (!isKnown) for (const json of image.channels.values()) bytes += sizeOf(json);
    this.#images.keep(key, image, bytes);
  }

  /** Also learns it, if it is one of Cairn's own. */
  #nameOf(checkpoint_id: string, execution_id: string): string {
    const name = fromCheckpointId(checkpoint_id, execution_id);
    if (name === checkpoint_id) {
      if (this.#ownIds.size >= MAX_OWN_IDS) this.#ownIds.clear();
      this.#ownIds.add(name);
    }
    return name;
  }

  /** What of a filter can be asked for, and what has to be looked at in the metadata itself. */
  async #labelsOf(
    filter: Readonly<Record<string, unknown>>,
  ): Promise<{ labels: JsonObject; others: Readonly<Record<string, unknown>> }> {
    const { transparent } = this.#codec;
    const labels: JsonObject = {};
    const others: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(filter)) {
      const json = transparent ? await this.#codec.dump(value) : (value as Json);
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

/** Both at once. If both fail, the first says why. */
async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  second.catch(() => undefined);
  return [await first, await second];
}
