/** Decodes JSON into values: copies plain data; only marked objects go through the serializer. */
import type { Json } from '../../kernel/contract.js';
import { type Codec, isMarked, isPacked, isUndefined, setMember } from './codec.js';
import { copyOf, isMessage, keepCopy } from './compare.js';

/** A new value, which the caller may change. */
export const decode = async (codec: Codec, json: Json, retain = false): Promise<unknown> =>
  (await decodeAll(codec, [['value', json]], retain)).value;

/** Decodes several values by name; `retain` keeps copies, so that the next state can be compared with this JSON. */
export async function decodeAll(
  codec: Codec,
  values: Iterable<readonly [string, Json]>,
  retain: boolean,
): Promise<Record<string, unknown>> {
  const decoding = new Decoding(codec, retain);
  const decoded: Record<string, unknown> = {};
  for (const [name, json] of values) decoding.read(json, decoded, name);
  await decoding.finish();
  return decoded;
}

type Container = unknown[] | Record<string, unknown>;

interface Pending {
  readonly json: Json;
  readonly into: Container;
  readonly key: number | string;
}

class Decoding {
  readonly #codec: Codec;
  readonly #retain: boolean;
  /** Loaded all at once: a call for each would take twice as long. */
  readonly #marked: Pending[] = [];
  readonly #packed: Pending[] = [];

  constructor(codec: Codec, retain: boolean) {
    this.#codec = codec;
    this.#retain = retain;
  }

  read(json: Json, into: Record<string, unknown>, key: string): void {
    if (this.#codec.transparent) put(into, key, this.#walk(json, into, key));
    else if (Array.isArray(json)) {
      const list: unknown[] = new Array(json.length);
      for (const [i, element] of json.entries()) this.#later(element, list, i);
      put(into, key, list);
    } else put(into, key, this.#later(json, into, key));
  }

  async finish(): Promise<void> {
    const [values] = await Promise.all([
      this.#codec.loadAll(this.#marked.map(({ json }) => json)),
      ...this.#packed.map(async (pending) => this.#place(pending, await this.#codec.load(pending.json))),
    ]);
    for (const [i, pending] of this.#marked.entries()) this.#place(pending, values[i]);
  }

  #walk(json: Json, into: Container, key: number | string): unknown {
    if (typeof json !== 'object' || json === null) return json;
    if (Array.isArray(json)) {
      const list: unknown[] = new Array(json.length);
      for (let i = 0; i < json.length; i++) list[i] = this.#walk(json[i]!, list, i);
      return list;
    }
    if (isMarked(json)) return isUndefined(json) ? undefined : this.#later(json, into, key);
    const object: Record<string, unknown> = {};
    for (const key of Object.keys(json)) setMember(object, key, this.#walk(json[key]!, object, key));
    return object;
  }

  /** Returns undefined, which stands in for the value until `finish`. */
  #later(json: Json, into: Container, key: number | string): undefined {
    (isPacked(json) || !this.#codec.transparent ? this.#packed : this.#marked).push({ json, into, key });
    return undefined;
  }

  #place({ json, into, key }: Pending, value: unknown): void {
    const isObject = typeof value === 'object' && value !== null;
    if (this.#retain && isObject && (!this.#codec.transparent || isMessage(value))) keepCopy(json, copyOf(value));
    put(into, key, value);
  }
}

function put(into: Container, key: number | string, value: unknown): void {
  if (typeof key === 'number') (into as unknown[])[key] = value;
  else setMember(into as Record<string, unknown>, key, value);
}
