/** Values as JSON that Cairn can store: the output of a serializer, checked and frozen, or as bytes. */
import { MemorySaver, type SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { type Json, type JsonObject, textFault } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';

/** A channel is a few levels below the snapshot, whose depth is limited to 64. */
export const MAX_VALUE_DEPTH = 56;

const BYTES = 'cairn_bytes';
const decoder = new TextDecoder();
const encoder = new TextEncoder();

const OfficialSerializer = new MemorySaver().serde.constructor;

export const UNDEFINED: JsonObject = Object.freeze({ lc: 2, type: 'undefined' });

/** Whether the serializer must load this object; plain data is copied. */
export const isMarked = (json: JsonObject): boolean => json.lc === 1 || json.lc === 2;

export const isUndefined = (json: JsonObject): boolean => json.lc === 2 && json.type === 'undefined';

export const isPacked = (json: Json): json is JsonObject => isObject(json) && json.lc === 2 && json.type === BYTES;

/** Plain assignment of a member named __proto__ would change the prototype. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}

/** Freezes a value deeply. Returns its approximate size as text, or -1 if Cairn could not return it unchanged. */
function freezeAndMeasure(json: Json, depth = 0): number {
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
    const more = freezeAndMeasure(member, depth + 1);
    if (more < 0) return -1;
    size += more + 1;
  }
  if (!Array.isArray(json)) {
    for (const key of Object.keys(json)) {
      if (textFault(key) !== undefined) return -1;
      size += key.length + 3;
    }
    // Plain data that looks like packed bytes would be read as such.
    if (isPacked(json)) return -1;
  }
  Object.freeze(json);
  return size;
}

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

/** Text with a NUL or half of a surrogate pair, which databases refuse. */
export const packedText = (text: string): Json => packed('json', encoder.encode(JSON.stringify(text)));

export class Codec {
  readonly #serde: SerializerProtocol;
  /** LangGraph's own serializer maps plain data to itself, so such values can be compared with their JSON. */
  readonly transparent: boolean;

  constructor(serde: SerializerProtocol) {
    this.#serde = serde;
    this.transparent = serde.constructor === OfficialSerializer;
  }

  /** Serializes the value as it is at the call; undefined for a function, which JSON omits. */
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
    // Opaque lists are read element by element, so the JSON of a single value must not be a list.
    const misread = !this.transparent && Array.isArray(json);
    return misread || freezeAndMeasure(json, depth) < 0 ? packed(type, data) : json;
  }

  async load(json: Json): Promise<unknown> {
    if (!isPacked(json)) return this.#serde.loadsTyped('json', JSON.stringify(json));
    const data = new Uint8Array(Buffer.from(json.base64 as string, 'base64'));
    return this.#serde.loadsTyped(json.encoding as string, data);
  }

  /** Loads many values of a transparent serializer at once. */
  async loadAll(jsons: readonly Json[]): Promise<readonly unknown[]> {
    if (jsons.length === 0) return [];
    return (await this.#serde.loadsTyped('json', JSON.stringify(jsons))) as unknown[];
  }
}
