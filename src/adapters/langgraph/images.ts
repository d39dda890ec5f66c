/** The last states of each thread that were stored or loaded: as JSON, to compare with and to inherit from. */
import type { Json } from '../../kernel/contract.js';
import { sizeOf } from './codec.js';

/** A checkpoint of LangGraph as Cairn has it. */
export interface Image {
  /** Cairn's, as that of the parent. */
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
  readonly versions: Versions;
  readonly channels: ReadonlyMap<string, Json>;
  readonly metadata: Json;
}

interface Thread {
  /** The newest first. They share what they have in common. */
  readonly images: readonly Image[];
  /** More or less, and rather too much: it is counted anew before anything is given up for it. */
  bytes: number;
}

const MAX_THREADS = 100;
const MAX_IMAGES = 4;
const MAX_BYTES = 64 * 1024 * 1024;

export interface ImageLimits {
  readonly threads?: number;
  readonly bytes?: number;
}

export class Images {
  readonly #threads = new Map<string, Thread>();
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

  /** `more` is what this image has that the others do not have. */
  keep(thread: string, image: Image, more: number): void {
    const before = this.#threads.get(thread);
    const others = (before?.images ?? []).filter(({ checkpoint_id }) => checkpoint_id !== image.checkpoint_id);
    // Taken out and put back, a thread is the last to go.
    this.#threads.delete(thread);
    this.#threads.set(thread, {
      images: [image, ...others.slice(0, MAX_IMAGES - 1)],
      bytes: (before?.bytes ?? 0) + more,
    });
    this.#bytes += more;
    if (this.#bytes > this.#maxBytes) this.#count();
    // Below the limit by a good part, so that it is not counted again at once.
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

/** Of a channel and, in a list, of its elements: those are what images share. */
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

/** What a checkpoint has besides its channels. */
export interface Versions {
  readonly v: number;
  readonly ts: string;
  readonly channel_versions: Readonly<Record<string, ChannelVersion>>;
  readonly versions_seen: Readonly<Record<string, Readonly<Record<string, ChannelVersion>>>>;
}

export type ChannelVersion = number | string;
