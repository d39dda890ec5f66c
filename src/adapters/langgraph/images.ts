/** A cache of the last states of each thread as JSON: the next state is compared with them and inherits from them. */
import type { Json } from '../../kernel/contract.js';
import { sizeOf } from './codec.js';

/** A checkpoint of LangGraph as it is stored. */
export interface Image {
  /** An id of Cairn, like `parent_id`. */
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
  readonly versions: Versions;
  readonly channels: ReadonlyMap<string, Json>;
  readonly metadata: Json;
}

interface ThreadImages {
  /** Newest first. They share unchanged parts. */
  readonly images: readonly Image[];
  /** An upper estimate: counted again before anything is evicted. */
  bytes: number;
}

const MAX_THREADS = 100;
const MAX_IMAGES = 4;
const MAX_BYTES = 64 * 1024 * 1024;

interface ImageLimits {
  readonly threads?: number;
  readonly bytes?: number;
}

export class Images {
  readonly #threads = new Map<string, ThreadImages>();
  readonly #maxThreads: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(limits: ImageLimits = {}) {
    this.#maxThreads = limits.threads ?? MAX_THREADS;
    this.#maxBytes = limits.bytes ?? MAX_BYTES;
  }

  of(thread: string): readonly Image[] {
    return this.#threads.get(thread)?.images ?? [];
  }

  /** `bytes` is the size of the parts that the other images do not have. */
  keep(thread: string, image: Image, bytes: number): void {
    const before = this.#threads.get(thread);
    const others = (before?.images ?? []).filter(({ checkpoint_id }) => checkpoint_id !== image.checkpoint_id);
    // Moves the thread to the end: the first one is evicted first.
    this.#threads.delete(thread);
    this.#threads.set(thread, {
      images: [image, ...others.slice(0, MAX_IMAGES - 1)],
      bytes: (before?.bytes ?? 0) + bytes,
    });
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#count();
    // Well below the limit, so that the next state does not count everything again.
    const enough = this.#bytes > this.#maxBytes ? this.#maxBytes * 0.75 : this.#maxBytes;
    for (const oldest of this.#threads.keys()) {
      if (this.#threads.size <= this.#maxThreads && this.#bytes <= enough) break;
      this.forget(oldest);
    }
  }

  forget(thread: string): void {
    this.#bytes -= this.#threads.get(thread)?.bytes ?? 0;
    this.#threads.delete(thread);
  }

  #count(): void {
    this.#bytes = 0;
    for (const thread of this.#threads.values()) {
      const seen = new Set<Json>();
      thread.bytes = 0;
      for (const { channels } of thread.images)
        for (const json of channels.values()) thread.bytes += sizeOfNew(json, seen);
      this.#bytes += thread.bytes;
    }
  }
}

/** The size of a channel without parts that were seen: images share channels and elements of lists. */
function sizeOfNew(json: Json, seen: Set<Json>): number {
  if (typeof json !== 'object' || json === null) return sizeOf(json);
  if (seen.has(json)) return 0;
  seen.add(json);
  if (!Array.isArray(json)) return sizeOf(json);
  let size = 8 * json.length;
  for (const element of json)
    if (typeof element !== 'object' || element === null || !seen.has(element)) {
      seen.add(element);
      size += sizeOf(element);
    }
  return size;
}

/** The members of a checkpoint besides its channels. */
export interface Versions {
  readonly v: number;
  readonly ts: string;
  readonly channel_versions: Readonly<Record<string, ChannelVersion>>;
  readonly versions_seen: Readonly<Record<string, Readonly<Record<string, ChannelVersion>>>>;
}

export type ChannelVersion = number | string;
