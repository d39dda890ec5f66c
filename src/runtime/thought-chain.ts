/** The thoughts of a run: a tree with a current step. Parents and children always agree. */
import type { z } from 'zod';
import { type Snapshot, snapshot, type Thought, thought } from '../checkpoints/contract.js';
import { anyId, newId } from '../kernel/contract.js';
import { invalid } from '../kernel/index.js';
import { type Emit, noListeners, type ThoughtEvents } from './events.js';
import { checked, checkedWhole, type Frozen, frozenCopy } from './frozen.js';
import { FrozenList } from './frozen-list.js';
import { checkTree } from './thought-tree.js';

export type ThoughtChainSnapshot = Frozen<Snapshot['thought_chain']>;

const newThought = thought
  .omit({ children: true })
  .extend({ parent_id: anyId.nullish() })
  .partial({ id: true, timestamp: true });
export type NewThought = Frozen<z.output<typeof newThought>>;

const thoughtPatch = thought
  .omit({ id: true, parent_id: true, children: true })
  .extend({ reasoning: thought.shape.reasoning.nullable(), metadata: thought.shape.metadata.nullable() })
  .partial();
/** Members that are left out stay; null removes `reasoning` or `metadata`. */
export type ThoughtPatch = Frozen<z.output<typeof thoughtPatch>>;

export class ThoughtChain {
  readonly #steps: FrozenList<Thought>;
  readonly #indexes = new Map<string, number>();
  readonly #emit: Emit<ThoughtEvents>;
  #current: string | undefined;
  #view: ThoughtChainSnapshot | undefined;

  constructor(emit: Emit<ThoughtEvents> = noListeners, from: ThoughtChainSnapshot = { steps: [] }) {
    this.#emit = emit;
    this.#steps = new FrozenList(from.steps);
    this.#current = from.current_step_id;
    for (const [index, { id }] of from.steps.entries()) this.#indexes.set(id, index);
  }

  /** Refuses malformed steps, duplicate ids, parents and children that disagree, and cycles. */
  static fromJSON(json: ThoughtChainSnapshot, emit?: Emit<ThoughtEvents>): ThoughtChain {
    const from = checkedWhole(snapshot.shape.thought_chain, json, 'thought_chain');
    checkTree(from);
    return new ThoughtChain(emit, from);
  }

  /** Frozen; the same object until something changes. */
  toJSON(): ThoughtChainSnapshot {
    this.#view ??= frozenCopy({ current_step_id: this.#current, steps: this.#steps.view() }) as ThoughtChainSnapshot;
    return this.#view;
  }

  get length(): number {
    return this.#steps.length;
  }

  get current(): Frozen<Thought> | undefined {
    return this.#current === undefined ? undefined : this.get(this.#current);
  }

  get(id: string): Frozen<Thought> | undefined {
    return this.#steps.at(this.#indexes.get(id) ?? -1);
  }

  /** All steps, in the order in which they were added. */
  list(): readonly Frozen<Thought>[] {
    return this.#steps.view();
  }

  /** The steps from the root to `id`; default: the current step. */
  path(id: string | undefined = this.#current): readonly Frozen<Thought>[] {
    const steps: Frozen<Thought>[] = [];
    for (let at = id; at !== undefined; ) {
      const step = this.#need(at, 'thoughts.path');
      steps.push(step);
      at = step.parent_id;
    }
    return steps.reverse();
  }

  /** Adds a step below `parent_id` (default: the current step; null: as a root) and makes it the current step. */
  add(input: NewThought): Frozen<Thought> {
    const {
      id = newId(),
      parent_id = this.#current,
      timestamp = Date.now(),
      ...rest
    } = checked(newThought, input, 'thoughts.add');
    if (this.#indexes.has(id)) throw invalid(`thoughts.add: the id "${id}" already exists`, { id });
    const parent = parent_id === null || parent_id === undefined ? undefined : this.#need(parent_id, 'thoughts.add');
    this.#steps.checkRoom('thoughts.add');
    const added = frozenCopy({ id, ...rest, parent_id: parent?.id, children: [], timestamp }) as Frozen<Thought>;
    this.#indexes.set(id, this.#steps.length);
    this.#steps.push(added);
    if (parent) this.#setChildren(parent, [...parent.children, id]);
    this.#current = id;
    this.#view = undefined;
    this.#emit('thought.added', { thought: added });
    return added;
  }

  /** Changes the members that the patch names; `attach` changes the parent. */
  update(id: string, patch: ThoughtPatch): Frozen<Thought> {
    const before = this.#need(id, 'thoughts.update');
    const merged = { ...before, ...checked(thoughtPatch, patch, 'thoughts.update') };
    const { reasoning, metadata } = merged;
    const after = frozenCopy({
      ...merged,
      reasoning: reasoning ?? undefined,
      metadata: metadata ?? undefined,
    }) as Frozen<Thought>;
    this.#replace(after);
    this.#emit('thought.changed', { before, after });
    return after;
  }

  /** Moves a step with its descendants below another one, as the last child; null makes it a root. */
  attach(id: string, parent_id: string | null): Frozen<Thought> {
    const before = this.#need(id, 'thoughts.attach');
    const parent = parent_id === null ? undefined : this.#need(parent_id, 'thoughts.attach');
    if (parent && this.path(parent.id).includes(before))
      throw invalid(`thoughts.attach: "${id}" cannot move below its own descendant "${parent.id}"`, { id });
    if (before.parent_id === parent?.id) return before;
    const after = frozenCopy({ ...before, parent_id: parent?.id }) as Frozen<Thought>;
    this.#leaveParent(before, []);
    this.#replace(after);
    if (parent) this.#setChildren(this.get(parent.id)!, [...parent.children, id]);
    this.#emit('thought.changed', { before, after });
    return after;
  }

  /**
   * Removes a step. Its children take its place below its parent, or become roots. If it was the current step, its parent
   * becomes the current step.
   */
  remove(id: string): Frozen<Thought> {
    const removed = this.#need(id, 'thoughts.remove');
    const { parent_id, children } = removed;
    for (const child of children) this.#replace(frozenCopy({ ...this.get(child)!, parent_id }) as Frozen<Thought>);
    this.#leaveParent(removed, children);
    const index = this.#indexes.get(id)!;
    this.#steps.remove(index, 1);
    this.#indexes.delete(id);
    for (let i = index; i < this.#steps.length; i++) this.#indexes.set(this.#steps.at(i)!.id, i);
    if (this.#current === id) this.#current = parent_id;
    this.#view = undefined;
    this.#emit('thought.removed', { thought: removed });
    return removed;
  }

  /** Makes a step the current one: the next is added below it; null: the next is a root. */
  moveTo(id: string | null): void {
    const after = id === null ? undefined : this.#need(id, 'thoughts.moveTo').id;
    const before = this.#current;
    if (before === after) return;
    this.#current = after;
    this.#view = undefined;
    this.#emit('thought.current', { before, after });
  }

  #need(id: string, what: string): Frozen<Thought> {
    const step = this.get(id);
    if (!step) throw invalid(`${what}: there is no step "${id}"`, { id });
    return step;
  }

  #replace(step: Frozen<Thought>): void {
    this.#steps.set(this.#indexes.get(step.id)!, step);
    this.#view = undefined;
  }

  #setChildren(parent: Frozen<Thought>, children: readonly string[]): void {
    this.#replace(frozenCopy({ ...parent, children }) as Frozen<Thought>);
  }

  #leaveParent({ id, parent_id }: Frozen<Thought>, instead: readonly string[]): void {
    if (parent_id === undefined) return;
    const parent = this.get(parent_id)!;
    const children = parent.children.flatMap((child) => (child === id ? instead : child));
    this.#setChildren(parent, children);
  }
}
