/** Values become JSON at the cost of what changed: what is as it was keeps the JSON that it had, frozen and shared. */
import { type Json, type JsonObject, textFault } from '../../kernel/contract.js';
import { type Codec, isMarked, isRecord, MAX_VALUE_DEPTH, packedText, setMember, sizeOf, UNDEFINED } from './codec.js';
import { isMessage, isPlainObject, rememberCopy, same, sameAsRemembered, takeCopy } from './compare.js';
import type { Image } from './images.js';

/** Nothing for what JSON leaves out, such as a function. */
type Made = Json | undefined | Promise<Json | undefined>;

/**
 * One state on its way to JSON. Everything is read at once, when `encode` is called: what the caller changes later
 * does not get in. Only then it waits for the serializer.
 */
export class Encoding {
  readonly #codec: Codec;
  readonly #waiting: Promise<void>[] = [];
  /** Containers whose parts may still be on their way. */
  readonly #open: object[] = [];
  /** What was made anew, more or less. */
  bytes = 0;

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  /** Hands the JSON of a value to `set`, now or before `finish` ends. `known` is the JSON that it had before. */
  encode(value: unknown, known: Json | undefined, set: (json: Json | undefined) => void): void {
    this.#place(this.#codec.transparent ? this.#whole(value, known) : this.#opaque(value, known), set);
  }

  /** Everything is handed over, and frozen all the way. */
  async finish(): Promise<void> {
    await Promise.all(this.#waiting);
    for (const container of this.#open) Object.freeze(container);
  }

  #whole(value: unknown, known: Json | undefined): Made {
    try {
      return this.#walk(value, known, 0);
    } catch (error) {
      // It is too deep for Cairn, or contains itself: the serializer has an answer to both.
      if (error !== TOO_DEEP) throw error;
      return this.#serialise(value, 0);
    }
  }

  /** With a serializer that we cannot see through: a list by its elements, everything else in one piece. */
  #opaque(value: unknown, known: Json | undefined): Made {
    const piece = (part: unknown, before: Json | undefined): Made =>
      before !== undefined && sameAsRemembered(part, before) ? before : this.#serialise(part, 1);
    if (!Array.isArray(value)) return piece(value, known);
    const before = Array.isArray(known) ? known : [];
    const list: Json[] = new Array(value.length);
    this.#open.push(list);
    value.forEach((element, i) => {
      this.#element(list, i, piece(element, before[i]));
    });
    return list;
  }

  #walk(value: unknown, known: Json | undefined, depth: number): Made {
    if (typeof value !== 'object' || value === null) return this.#leaf(value, depth);
    if (depth >= MAX_VALUE_DEPTH) throw TOO_DEEP;
    if (Object.getPrototypeOf(value) === Array.prototype)
      return this.#list(value as unknown[], Array.isArray(known) ? known : undefined, depth);
    if (known !== undefined && same(value, known)) return known;
    if (isPlainObject(value) && !hasOwnForm(value) && Object.keys(value).every(isText))
      return this.#members(value, isRecord(known) && !isMarked(known) ? known : {}, depth);
    return this.#serialise(value, depth);
  }

  #leaf(value: unknown, depth: number): Made {
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
    return this.#serialise(value, depth);
  }

  /** The common start and the common end stay; what is between is compared with the element of the same name. */
  #list(value: readonly unknown[], before: readonly Json[] | undefined, depth: number): Made {
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

  #members(value: Readonly<Record<string, unknown>>, known: JsonObject, depth: number): Made {
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

  async #serialise(value: unknown, depth: number): Promise<Json | undefined> {
    const copy = this.#codec.transparent && !isComparable(value) ? undefined : takeCopy(value);
    const json = await this.#codec.dump(value, depth);
    if (copy !== undefined) rememberCopy(json, copy);
    if (json !== undefined) this.bytes += sizeOf(json);
    return json;
  }

  #element(list: Json[], i: number, made: Made): void {
    this.#place(made, (json) => {
      list[i] = json ?? null;
    });
  }

  #place(made: Made, set: (json: Json | undefined) => void): void {
    if (made instanceof Promise) this.#waiting.push(made.then(set));
    else set(made);
  }
}

const TOO_DEEP = Symbol('too deep');

const isText = (text: string): boolean => textFault(text) === undefined;

const isComparable = (value: unknown): boolean => typeof value === 'object' && value !== null && isMessage(value);

/** Plain objects that the serializer treats in a way of its own, or that would be taken for something else on return. */
const hasOwnForm = (value: object): boolean => 'lc' in value || 'lg_name' in value || 'toJSON' in value;

/** What an element of a list may be known by, so that it is found again when the list was cut or reordered. */
function nameOf(element: unknown): string | undefined {
  if (!isRecord(element)) return undefined;
  const { kwargs } = element;
  const { id, content } = element.lc === 1 && isRecord(kwargs) ? kwargs : element;
  if (typeof id === 'string') return `id ${id}`;
  return typeof content === 'string' ? `content ${content}` : undefined;
}

/** An image whose JSON can be shared with the next state. What was loaded is frozen when it is first needed. */
export function frozen(image: Image): Image {
  for (const json of image.channels.values()) freeze(json);
  return image;
}

function freeze(json: Json): void {
  if (typeof json !== 'object' || json === null || Object.isFrozen(json)) return;
  for (const part of Array.isArray(json) ? json : Object.values(json)) freeze(part);
  Object.freeze(json);
}
