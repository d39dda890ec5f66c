/** The context of a run: its messages, variables and memory. */
import {
  type MemoryEntry,
  type Message,
  memoryEntry,
  message,
  type Snapshot,
  snapshot,
} from '../checkpoints/contract.js';
import { type Json, textFault } from '../kernel/contract.js';
import { invalid, sameJson } from '../kernel/index.js';
import { type ContextEvents, type Emit, noListeners } from './events.js';
import { checked, checkedJson, checkedWhole, type Frozen, frozenCopy, sealed } from './frozen.js';
import { FrozenList } from './frozen-list.js';

export type ContextSnapshot = Frozen<Snapshot['context']>;

const messagePatch = message.partial();
/** Members that are left out stay. */
export type MessagePatch = Frozen<Partial<Message>>;

export class Context {
  readonly #messages: FrozenList<Message>;
  readonly #variables: Map<string, Frozen<Json>>;
  /** Absent until the first `remember`, as in a snapshot. */
  #memory: FrozenList<MemoryEntry> | undefined;
  readonly #emit: Emit<ContextEvents>;
  #variablesView: ContextSnapshot['variables'] | undefined;
  #view: ContextSnapshot | undefined;

  constructor(emit: Emit<ContextEvents> = noListeners, from: ContextSnapshot = { messages: [], variables: {} }) {
    this.#emit = emit;
    this.#messages = new FrozenList(from.messages);
    this.#variables = new Map(Object.entries(from.variables));
    this.#memory = from.memory && new FrozenList(from.memory);
  }

  static fromJSON(json: ContextSnapshot, emit?: Emit<ContextEvents>): Context {
    return new Context(emit, checkedWhole(snapshot.shape.context, json, 'context'));
  }

  /** Frozen; the whole and each part are the same objects until they change. */
  toJSON(): ContextSnapshot {
    this.#variablesView ??= sealed(Object.fromEntries(this.#variables));
    this.#view ??= frozenCopy({
      messages: this.#messages.view(),
      variables: this.#variablesView,
      memory: this.#memory?.view(),
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

  /** Removes `count` messages from `index` on. */
  removeAt(index: number, count = 1): readonly Frozen<Message>[] {
    if (!Number.isInteger(count) || count < 1)
      throw invalid(`context.removeAt: \`count\` must be an integer ≥ 1, not ${count}`);
    this.#needMessage(index, 'context.removeAt');
    return this.#cut(index, count);
  }

  /** Keeps the first `length` messages. To drop the oldest instead, use `removeAt(0, count)`. */
  truncate(length: number): readonly Frozen<Message>[] {
    if (!Number.isInteger(length) || length < 0)
      throw invalid(`context.truncate: \`length\` must be an integer ≥ 0, not ${length}`);
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

  /** Setting a variable to an equal value emits no event. */
  set(name: string, value: Frozen<Json>): void {
    this.#setAll([[name, checkVariable(name, value, 'context.set')]]);
  }

  /** Sets all variables, or none if one is refused. */
  setMany(values: Frozen<Record<string, Json>>): void {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    this.#setAll(given.map(([name, value]) => [name, checkVariable(name, value, 'context.setMany')]));
  }

  /** Returns whether the variable existed. */
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
    return this.#memory?.at(this.#memoryIndex(key));
  }

  /** Stores a value under a key and replaces an earlier one. */
  remember(key: string, value: Frozen<Json>, importance = 1): Frozen<MemoryEntry> {
    const after = checked(memoryEntry, { key, value, importance }, 'context.remember');
    const index = this.#memoryIndex(key);
    const memory = (this.#memory ??= new FrozenList());
    const before = memory.at(index);
    if (before) memory.set(index, after);
    else {
      memory.checkRoom('context.remember');
      memory.push(after);
    }
    this.#changed('memory.changed', before ? { key, before, after } : { key, after });
    return after;
  }

  /** Removes all entries of a key; returns whether there were any. */
  forget(key: string): boolean {
    const forgotten: Frozen<MemoryEntry>[] = [];
    for (let index = this.#memoryIndex(key); index >= 0; index = this.#memoryIndex(key))
      forgotten.push(...this.#memory!.remove(index, 1));
    for (const before of forgotten) this.#changed('memory.changed', { key, before });
    return forgotten.length > 0;
  }

  /** Emits events after all are set: a checkpoint that the first one causes has the others as well. */
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

  #memoryIndex(key: string): number {
    return this.#memory?.findIndex((entry) => entry.key === key) ?? -1;
  }

  #cut(index: number, count: number): readonly Frozen<Message>[] {
    const messages = this.#messages.remove(index, count);
    this.#changed('message.removed', { index, messages });
    return messages;
  }

  #needMessage(index: number, what: string): Frozen<Message> {
    const found = this.#messages.at(index);
    if (!found) throw invalid(`${what}: there is no message ${index}: the context has ${this.#messages.length}`);
    return found;
  }

  #changed: Emit<ContextEvents> = (...event) => {
    this.#view = undefined;
    this.#emit(...event);
  };
}

/** A variable is one level below the variables, whose depth is limited as a whole. */
function checkVariable(name: string, value: Frozen<Json>, what: string): Frozen<Json> {
  const fault = typeof name === 'string' ? textFault(name) : `a name must be a string, not ${typeof name}`;
  if (fault) throw invalid(`${what}: ${fault}`);
  return checkedJson(value, `${what}: "${name}"`, 1);
}
