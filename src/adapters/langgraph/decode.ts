/** JSON becomes values again: plain data is copied, only what the serializer has marked goes through it. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { type Codec, isMarked, isPacked, isUndefined, setMember } from './codec.js';
import { isMessage, remember } from './compare.js';

export interface DecodeOptions {
  /** Remember what the values look like, so that the next state can be compared with this JSON. */
  readonly retain?: boolean;
}

/** Everything in it is new: the caller may change it. */
export async function decode(codec: Codec, json: Json, options: DecodeOptions = {}): Promise<unknown> {
  return (await decodeAll(codec, [['value', json]], options)).value;
}

/** Several at once, by name. */
export async function decodeAll(
  codec: Codec,
  values: Iterable<readonly [string, Json]>,
  options: DecodeOptions = {},
): Promise<Record<string, unknown>> {
  const decoding = new Decoding(codec, options.retain ?? false);
  const decoded: Record<string, unknown> = {};
  for (const [name, json] of values) decoding.read(json, decoded, name);
  await decoding.finish();
  return decoded;
}

/** Where a value goes that is not there yet. */
interface Waiting {
  readonly json: Json;
  readonly into: unknown[] | Record<string, unknown>;
  readonly key: number | string;
}

class Decoding {
  readonly #codec: Codec;
  readonly #retain: boolean;
  /** What is read by the serializer as JSON, all at once: a call for each would take twice as long. */
  readonly #marked: Waiting[] = [];
  readonly #packed: Waiting[] = [];

  constructor(codec: Codec, retain: boolean) {
    this.#codec = codec;
    this.#retain = retain;
  }

  read(json: Json, into: Record<string, unknown>, key: string): void {
    if (this.#codec.transparent) put(into, key, this.#walk(json, into, key));
    else if (Array.isArray(json)) {
      const list: unknown[] = new Array(json.length);
      json.forEach((element, i) => {
        this.#later(element, list, i);
      });
      put(into, key, list);
    } else put(into, key, this.#later(json, into, key));
  }

  async finish(): Promise<void> {
    const [values] = await Promise.all([
      this.#codec.loadAll(this.#marked.map(({ json }) => json)),
      ...this.#packed.map(async (waiting) => this.#arrived(waiting, await this.#codec.load(waiting.json))),
    ]);
    this.#marked.forEach((waiting, i) => {
      this.#arrived(waiting, values[i]);
    });
  }

  #walk(json: Json, into: unknown[] | Record<string, unknown>, key: number | string): unknown {
    if (typeof json !== 'object' || json === null) return json;
    if (Array.isArray(json)) {
      const list: unknown[] = new Array(json.length);
      for (let i = 0; i < json.length; i++) list[i] = this.#walk(json[i]!, list, i);
      return list;
    }
    if (isMarked(json)) return isUndefined(json) ? undefined : this.#later(json, into, key);
    return this.#members(json);
  }

  #members(json: JsonObject): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (const key of Object.keys(json)) setMember(object, key, this.#walk(json[key]!, object, key));
    return object;
  }

  /** Holds its place until it arrives. */
  #later(json: Json, into: unknown[] | Record<string, unknown>, key: number | string): undefined {
    (isPacked(json) || !this.#codec.transparent ? this.#packed : this.#marked).push({ json, into, key });
    return undefined;
  }

  #arrived({ json, into, key }: Waiting, value: unknown): void {
    if (this.#retain && this.#isWorthRemembering(value)) remember(json, value);
    put(into, key, value);
  }

  #isWorthRemembering(value: unknown): boolean {
    return typeof value === 'object' && value !== null && (!this.#codec.transparent || isMessage(value));
  }
}

function put(into: unknown[] | Record<string, unknown>, key: number | string, value: unknown): void {
  if (typeof key === 'number') (into as unknown[])[key] = value;
  else setMember(into as Record<string, unknown>, key, value);
}
