/** Values as JSON that Cairn can hold: what a serializer gives, checked and frozen; bytes where JSON does not do. */
import { MemorySaver, type SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { type Json, type JsonObject, textFault } from '../../kernel/contract.js';

/** A channel stands a few levels inside of a snapshot, which is 64 deep at most. */
export const MAX_VALUE_DEPTH = 56;

const BYTES = 'cairn_bytes';
const decoder = new TextDecoder();
const encoder = new TextEncoder();

const OfficialSerializer = new MemorySaver().serde.constructor;

export const UNDEFINED: JsonObject = Object.freeze({ lc: 2, type: 'undefined' });

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a serializer has to bring back, other than plain data. */
export const isMarked = (json: JsonObject): boolean => json.lc === 1 || json.lc === 2;

export const isUndefined = (json: JsonObject): boolean => json.lc === 2 && json.type === 'undefined';

export const isPacked = (json: Json): json is JsonObject => isRecord(json) && json.lc === 2 && json.type === BYTES;

/** A member named __proto__ would otherwise change what the object is. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}

/**
 * Freezes a value all the way. Gives its size as text, more or less, or -1 if Cairn could not give it back
 * unaltered.
 */
export function settle(json: Json, depth = 0): number {
  switch (typeof json) {
    case 'string':
      return textFault(json) === undefined ? json.length + 2 : -1;
    case 'number':
      return Number.isFinite(json) ? 8 : -1;
    case 'object':
      break;
    default:
      return 5;
  }
  if (json === null) return 4;
  if (depth >= MAX_VALUE_DEPTH) return -1;
  let size = 2;
  const members = Array.isArray(json) ? json : Object.values(json);
  for (const member of members) {
    const more = settle(member, depth + 1);
    if (more < 0) return -1;
    size += more + 1;
  }
  if (!Array.isArray(json)) {
    for (const key of Object.keys(json)) {
      if (textFault(key) !== undefined) return -1;
      size += key.length + 3;
    }
    // Plain data that looks like ours would be taken for it.
    if (isPacked(json)) return -1;
  }
  Object.freeze(json);
  return size;
}

/** The size of what is settled, more or less. */
export function sizeOf(json: Json): number {
  if (typeof json === 'string') return json.length + 2;
  if (typeof json !== 'object' || json === null) return 8;
  let size = 2;
  if (Array.isArray(json)) for (const element of json) size += sizeOf(element) + 1;
  else for (const key of Object.keys(json)) size += key.length + 4 + sizeOf(json[key]!);
  return size;
}

function packed(encoding: string, data: Uint8Array): Json {
  const base64 = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
  return Object.freeze({ lc: 2, type: BYTES, encoding, base64 });
}

/** Text with a NUL or half of a surrogate pair, which no database here takes. */
export const packedText = (text: string): Json => packed('json', encoder.encode(JSON.stringify(text)));

export class Codec {
  readonly #serde: SerializerProtocol;
  /** The serializer that LangGraph brings maps plain data to itself: such values can be compared with their JSON. */
  readonly transparent: boolean;

  constructor(serde: SerializerProtocol) {
    this.#serde = serde;
    this.transparent = serde.constructor === OfficialSerializer;
  }

  /** Serialised when it is called, whatever becomes of the value after. Nothing for a function, which JSON leaves out. */
  async dump(value: unknown, depth = 0): Promise<Json | undefined> {
    const [type, data] = await this.#serde.dumpsTyped(value);
    if (type !== 'json') return packed(type, data);
    if (data.length === 0) return undefined;
    let json: Json;
    try {
      json = JSON.parse(decoder.decode(data)) as Json;
    } catch {
      return packed(type, data);
    }
    // A list stands for a list, whose elements are read one by one: another value must not look like one.
    const misread = !this.transparent && Array.isArray(json);
    return misread || settle(json, depth) < 0 ? packed(type, data) : json;
  }

  async load(json: Json): Promise<unknown> {
    if (isPacked(json))
      return this.#serde.loadsTyped(
        json.encoding as string,
        new Uint8Array(Buffer.from(json.base64 as string, 'base64')),
      );
    return this.#serde.loadsTyped('json', JSON.stringify(json));
  }

  /** What a transparent serializer has made, many at once. */
  async loadAll(jsons: readonly Json[]): Promise<readonly unknown[]> {
    if (jsons.length === 0) return [];
    return (await this.#serde.loadsTyped('json', JSON.stringify(jsons))) as unknown[];
  }
}
