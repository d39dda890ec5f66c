/** Encodes values as JSON with structural sharing: unchanged parts keep the frozen JSON of the last state. */
import { type Json, type JsonObject, textFault } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';
import { type Codec, isMarked, MAX_VALUE_DEPTH, packedText, setMember, sizeOf, UNDEFINED } from './codec.js';
import { copyOf, isMessage, isPlainObject, keepCopy, same, sameAsKept } from './compare.js';
import type { Image } from './images.js';

/** Undefined for values that JSON omits, such as a function. */
type Encoded = Json | undefined | Promise<Json | undefined>;

/** The encoding of one state. `encode` reads values at once, so that later changes have no effect; only `finish` waits. */
export class Encoding {
  readonly #codec: Codec;
  readonly #waiting: Promise<void>[] = [];
  /** Containers whose parts may still be pending. */
  readonly #open: object[] = [];
  bytes = 0;

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  /** Passes the JSON of a value to `set`, now or before `finish` ends. `known` is its last JSON. */
  encode(value: unknown, known: Json | undefined, set: (json: Json | undefined) => void): void {
    this.#place(this.#codec.transparent ? this.#whole(value, known) : this.#opaque(value, known), set);
  }

  /** Waits until all JSON is passed on, and freezes it. */
  async finish(): Promise<void> {
    await Promise.all(this.#waiting);
    for (const container of this.#open) Object.freeze(container);
  }

  #whole(value: unknown, known: Json | undefined): Encoded {
    try {
      return this.#walk(value, known, 0);
    } catch (error) {
      // Too deep for Cairn, or cyclic: the serializer handles both.
      if (error !== TOO_DEEP) throw error;
      return this.#serialize(value, 0);
    }
  }

  /** With an opaque serializer: a list element by element, any other value as a whole. */
  #opaque(value: unknown, known: Json | undefined): Encoded {
    const piece = (part: unknown, before: Json | undefined): Encoded =>
      before !== undefined && sameAsKept(part, before) ? before : this.#serialize(part, 1);
    if (!Array.isArray(value)) return piece(value, known);
    const before = Array.isArray(known) ? known : [];
    const list: Json[] = new Array(value.length);
    this.#open.push(list);
    for (const [i, element] of value.entries()) this.#element(list, i, piece(element, before[i]));
    return list;
  }

  #walk(value: unknown, known: Json | undefined, depth: number): Encoded {
    if (typeof value !== 'object' || value === null) return this.#leaf(value, depth);
    if (depth >= MAX_VALUE_DEPTH) throw TOO_DEEP;
    if (Object.getPrototypeOf(value) === Array.prototype)
      return this.#list(value as unknown[], Array.isArray(known) ? known : undefined, depth);
    if (known !== undefined && same(value, known)) return known;
    if (isPlainObject(value) && !hasOwnForm(value) && Object.keys(value).every(isText))
      return this.#members(value, isObject(known) && !isMarked(known) ? known : {}, depth);
    return this.#serialize(value, depth);
  }

  #leaf(value: unknown, depth: number): Encoded {
    switch (typeof value) {
      case 'string':
        this.bytes += value.length + 2;
        return isText(value) ? value : packedText(value);
      case 'boolean':
        return value;
      case 'undefined':
        return UNDEFINED;
      case 'number':
        if (Number.isFinite(value)) return Object.is(value, -0) ? 0 : value;
        break;
      default:
        if (value === null) return null;
    }
    return this.#serialize(value, depth);
  }

  /** Keeps the common prefix and suffix; compares each element between with the known element of the same name. */
  #list(value: readonly unknown[], before: readonly Json[] | undefined, depth: number): Encoded {
    const known = before ?? [];
    const shorter = Math.min(value.length, known.length);
    let start = 0;
    while (start < shorter && same(value[start], known[start])) start++;
    if (before && start === value.length && start === known.length) return before as Json[];
    let end = 0;
    while (end < shorter - start && same(value[value.length - 1 - end], known[known.length - 1 - end])) end++;
    const list = known.slice(0, start);
    list.length = value.length;
    const until = value.length - end;
    for (let i = until; i < value.length; i++) list[i] = known[known.length - value.length + i]!;
    this.#open.push(list);
    const between = known.slice(start, known.length - end);
    const named = new Map(between.map((element) => [nameOf(element), element]));
    for (let i = start; i < until; i++) {
      const name = nameOf(value[i]);
      const like = name === undefined ? between[i - start] : named.get(name);
      this.#element(list, i, this.#walk(value[i], like, depth + 1));
    }
    return list;
  }

  #members(value: Readonly<Record<string, unknown>>, known: JsonObject, depth: number): Encoded {
    const object: JsonObject = {};
    this.#open.push(object);
    for (const key of Object.keys(value)) {
      this.bytes += key.length + 4;
      const before = Object.hasOwn(known, key) ? known[key] : undefined;
      this.#place(this.#walk(value[key], before, depth + 1), (json) => {
        if (json !== undefined) setMember(object, key, json);
      });
    }
    return object;
  }

  async #serialize(value: unknown, depth: number): Promise<Json | undefined> {
    const copy = this.#codec.transparent && !isComparable(value) ? undefined : copyOf(value);
    const json = await this.#codec.dump(value, depth);
    if (copy !== undefined) keepCopy(json, copy);
    if (json !== undefined) this.bytes += sizeOf(json);
    return json;
  }

  #element(list: Json[], i: number, encoded: Encoded): void {
    this.#place(encoded, (json) => {
      list[i] = json ?? null;
    });
  }

  #place(encoded: Encoded, set: (json: Json | undefined) => void): void {
    if (encoded instanceof Promise) this.#waiting.push(encoded.then(set));
    else set(encoded);
  }
}

const TOO_DEEP = Symbol('too deep');

const isText = (text: string): boolean => textFault(text) === undefined;

const isComparable = (value: unknown): boolean => typeof value === 'object' && value !== null && isMessage(value);

/** Plain objects with a special meaning for the serializer, when dumped or loaded. */
const hasOwnForm = (value: object): boolean => 'lc' in value || 'lg_name' in value || 'toJSON' in value;

/** A name by which an element is found again after its list was cut or reordered. */
function nameOf(element: unknown): string | undefined {
  if (!isObject(element)) return undefined;
  const { kwargs } = element;
  const { id, content } = element.lc === 1 && isObject(kwargs) ? kwargs : element;
  if (typeof id === 'string') return `id ${id}`;
  return typeof content === 'string' ? `content ${content}` : undefined;
}

/** An image whose JSON the next state can share. Loaded JSON is frozen when it is first needed. */
export function frozen(image: Image): Image {
  for (const json of image.channels.values()) freeze(json);
  return image;
}

function freeze(json: Json): void {
  if (typeof json !== 'object' || json === null || Object.isFrozen(json)) return;
  for (const part of Array.isArray(json) ? json : Object.values(json)) freeze(part);
  Object.freeze(json);
}
