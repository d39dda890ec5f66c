/** What a run knows: its messages, its variables, and what it was told to remember. */
import {
  type MemoryEntry,
  type Message,
  memoryEntry,
  message,
  type Snapshot,
  snapshot,
} from '../checkpoints/contract.js';
import { type Json, textFault } from '../kernel/contract.js';
import { sameJson } from '../kernel/index.js';
import { type ContextEvents, type Tell, tellNobody } from './events.js';
import { checked, checkedJson, checkedWhole, type Frozen, frozenCopy, refusal, sealed } from './frozen.js';
import { FrozenList } from './frozen-list.js';

export type ContextSnapshot = Frozen<Snapshot['context']>;

const messagePatch = message.partial();
/** What is not given stays. */
export type MessagePatch = Frozen<Partial<Message>>;

export class Context {
  readonly #messages: FrozenList<Message>;
  readonly #variables: Map<string, Frozen<Json>>;
  /** Absent until something is remembered, as in a snapshot. */
  #memory: FrozenList<MemoryEntry> | undefined;
  readonly #tell: Tell<ContextEvents>;
  #variablesView: ContextSnapshot['variables'] | undefined;
  #view: ContextSnapshot | undefined;

  constructor(tell: Tell<ContextEvents> = tellNobody, from: ContextSnapshot = { messages: [], variables: {} }) {
    this.#tell = tell;
    this.#messages = new FrozenList(from.messages);
    this.#variables = new Map(Object.entries(from.variables));
    this.#memory = from.memory && new FrozenList(from.memory);
  }

  static fromJSON(json: ContextSnapshot, tell?: Tell<ContextEvents>): Context {
    return new Context(tell, checkedWhole(snapshot.shape.context, json, 'context'));
  }

  /** Frozen; the same object until something changes, and so is each part of it. */
  toJSON(): ContextSnapshot {
    this.#variablesView ??= sealed(Object.fromEntries(this.#variables));
    this.#view ??= sealed({
      messages: this.#messages.view(),
      variables: this.#variablesView,
      ...(this.#memory ? { memory: this.#memory.view() } : {}),
    }) as ContextSnapshot;
    return this.#view;
  }

  get messages(): readonly Frozen<Message>[] {
    return this.#messages.view();
  }

  append(input: Frozen<Message>): Frozen<Message> {
    const added = checked(message, input, 'context.append');
    this.#messages.checkRoom('context.append');
    this.#messages.push(added);
    this.#changed('message.appended', { index: this.#messages.length - 1, message: added });
    return added;
  }

  updateAt(index: number, patch: MessagePatch): Frozen<Message> {
    const before = this.#needMessage(index, 'context.updateAt');
    const given = checked(messagePatch, patch, 'context.updateAt');
    const after = frozenCopy({ ...before, ...given }) as Frozen<Message>;
    this.#messages.set(index, after);
    this.#changed('message.changed', { index, before, after });
    return after;
  }

  /** Takes messages out from `index` on: one unless `count` says more. */
  removeAt(index: number, count = 1): readonly Frozen<Message>[] {
    if (!Number.isInteger(count) || count < 1)
      throw refusal(`context.removeAt: count is ${count}, and must be a whole number of at least 1`);
    this.#needMessage(index, 'context.removeAt');
    return this.#cut(index, count);
  }

  /** Keeps the first `length` messages. To drop the oldest instead, use `removeAt(0, count)`. */
  truncate(length: number): readonly Frozen<Message>[] {
    if (!Number.isInteger(length) || length < 0)
      throw refusal(`context.truncate: length is ${length}, and must be a whole number of at least 0`);
    return length >= this.#messages.length ? [] : this.#cut(length, this.#messages.length - length);
  }

  get variables(): ContextSnapshot['variables'] {
    return this.toJSON().variables;
  }

  get(name: string): Frozen<Json> | undefined {
    return this.#variables.get(name);
  }

  has(name: string): boolean {
    return this.#variables.has(name);
  }

  /** Setting a variable to what it is changes nothing, and tells nothing. */
  set(name: string, value: Frozen<Json>): void {
    this.#setAll([[name, checkVariable(name, value, 'context.set')]]);
  }

  /** All of them, or none if one is refused. */
  setMany(values: Frozen<Record<string, Json>>): void {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    this.#setAll(given.map(([name, value]) => [name, checkVariable(name, value, 'context.setMany')]));
  }

  /** Whether there was such a variable. */
  delete(name: string): boolean {
    const before = this.#variables.get(name);
    if (before === undefined) return false;
    this.#variables.delete(name);
    this.#variablesView = undefined;
    this.#changed('variable.changed', { name, before });
    return true;
  }

  get memory(): readonly Frozen<MemoryEntry>[] {
    return this.#memory?.view() ?? [];
  }

  recall(key: string): Frozen<MemoryEntry> | undefined {
    return this.#memory?.at(this.#placeOf(key));
  }

  /** Remembers a value under a key, in place of what was remembered under it. */
  remember(key: string, value: Frozen<Json>, importance = 1): Frozen<MemoryEntry> {
    const after = checked(memoryEntry, { key, value, importance }, 'context.remember');
    const place = this.#placeOf(key);
    const memory = (this.#memory ??= new FrozenList());
    const before = memory.at(place);
    if (before) {
      memory.set(place, after);
      this.#changed('memory.changed', { key, before, after });
    } else {
      memory.checkRoom('context.remember');
      memory.push(after);
      this.#changed('memory.changed', { key, after });
    }
    return after;
  }

  /** Forgets all that is remembered under a key; whether there was anything. */
  forget(key: string): boolean {
    const forgotten: Frozen<MemoryEntry>[] = [];
    for (let place = this.#placeOf(key); place >= 0; place = this.#placeOf(key))
      forgotten.push(...this.#memory!.remove(place, 1));
    for (const before of forgotten) this.#changed('memory.changed', { key, before });
    return forgotten.length > 0;
  }

  /** Tells of them when all are set: a checkpoint that the first asks for has the others as well. */
  #setAll(given: readonly (readonly [name: string, after: Frozen<Json>])[]): void {
    const changes: ContextEvents['variable.changed'][] = [];
    for (const [name, after] of given) {
      const before = this.#variables.get(name);
      if (sameJson(before as Json | undefined, after as Json)) continue;
      this.#variables.set(name, after);
      changes.push(before === undefined ? { name, after } : { name, before, after });
    }
    if (changes.length > 0) this.#variablesView = undefined;
    for (const change of changes) this.#changed('variable.changed', change);
  }

  #placeOf(key: string): number {
    return this.#memory?.findIndex((entry) => entry.key === key) ?? -1;
  }

  #cut(index: number, count: number): readonly Frozen<Message>[] {
    const messages = this.#messages.remove(index, count);
    this.#changed('message.removed', { index, messages });
    return messages;
  }

  #needMessage(index: number, what: string): Frozen<Message> {
    const found = this.#messages.at(index);
    if (!found) throw refusal(`${what}: there is no message ${index}, there are ${this.#messages.length}`);
    return found;
  }

  #changed: Tell<ContextEvents> = (...told) => {
    this.#view = undefined;
    this.#tell(...told);
  };
}

/** It stands one level deep in the variables, whose depth is limited together. */
function checkVariable(name: string, value: Frozen<Json>, what: string): Frozen<Json> {
  const fault = typeof name === 'string' ? textFault(name) : `a name is a string, not a ${typeof name}`;
  if (fault) throw refusal(`${what}: ${fault}`);
  return checkedJson(value, `${what}: "${name}"`, 1);
}
