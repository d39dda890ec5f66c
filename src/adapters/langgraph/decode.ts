/** JSON becomes values again: plain data is copied, only what the serializer has marked goes through it. */
import type { Json, JsonObject } from '../../model/json.js';
import { type Codec, isMarked, isUndefined, setMember } from './codec.js';
import { isMessage, remember } from './compare.js';

export interface DecodeOptions {
  /** Remember what the values look like, so that the next state can be compared with this JSON. */
  readonly retain?: boolean;
}

/** Everything in it is new: the caller may change it. */
export async function decode(codec: Codec, json: Json, options: DecodeOptions = {}): Promise<unknown> {
  const decoding = new Decoding(codec, options.retain ?? false);
  // A container is there at once, and its parts when all is finished.
  const value = await decoding.read(json);
  await decoding.finish();
  return value;
}

class Decoding {
  readonly #codec: Codec;
  readonly #retain: boolean;
  readonly #waiting: Promise<void>[] = [];

  constructor(codec: Codec, retain: boolean) {
    this.#codec = codec;
    this.#retain = retain;
  }

  /** The value, or what becomes it; its parts may still be on their way until `finish` ends. */
  read(json: Json): unknown {
    if (this.#codec.transparent) return this.#walk(json);
    return Array.isArray(json) ? this.#list(json, (element) => this.#load(element)) : this.#load(json);
  }

  async finish(): Promise<void> {
    await Promise.all(this.#waiting);
  }

  #walk(json: Json): unknown {
    if (typeof json !== 'object' || json === null) return json;
    if (Array.isArray(json)) return this.#list(json, (element) => this.#walk(element));
    if (isMarked(json)) return isUndefined(json) ? undefined : this.#load(json);
    return this.#members(json);
  }

  #list(json: readonly Json[], read: (element: Json) => unknown): unknown[] {
    const list: unknown[] = new Array(json.length);
    for (let i = 0; i < json.length; i++)
      this.#place(read(json[i]!), (value) => {
        list[i] = value;
      });
    return list;
  }

  #members(json: JsonObject): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (const key of Object.keys(json)) {
      // Its place among the others is taken now, should its value come later.
      setMember(object, key, undefined);
      this.#place(this.#walk(json[key]!), (value) => setMember(object, key, value));
    }
    return object;
  }

  async #load(json: Json): Promise<unknown> {
    const value = await this.#codec.load(json);
    if (this.#retain && this.#isWorthRemembering(value)) remember(json, value);
    return value;
  }

  #place(value: unknown, set: (value: unknown) => void): void {
    if (value instanceof Promise) this.#waiting.push(value.then(set));
    else set(value);
  }

  #isWorthRemembering(value: unknown): boolean {
    return typeof value === 'object' && value !== null && (!this.#codec.transparent || isMessage(value));
  }
}
