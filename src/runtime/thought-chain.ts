/** The thoughts of a run as a tree that has a current step. Parents and children always agree. */
import type { z } from 'zod';
import { type Snapshot, snapshot, type Thought, thought } from '../checkpoints/contract.js';
import { anyId, newId } from '../kernel/contract.js';
import { type Tell, type ThoughtEvents, tellNobody } from './events.js';
import { checked, checkedWhole, type Frozen, frozenCopy, refusal, sealed } from './frozen.js';
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
/** What is not given stays; null takes `reasoning` or `metadata` away. */
export type ThoughtPatch = Frozen<z.output<typeof thoughtPatch>>;

export class ThoughtChain {
  readonly #steps: FrozenList<Thought>;
  readonly #places = new Map<string, number>();
  readonly #tell: Tell<ThoughtEvents>;
  #current: string | undefined;
  #view: ThoughtChainSnapshot | undefined;

  constructor(tell: Tell<ThoughtEvents> = tellNobody, from: ThoughtChainSnapshot = { steps: [] }) {
    this.#tell = tell;
    this.#steps = new FrozenList(from.steps);
    this.#current = from.current_step_id;
    from.steps.forEach((step, place) => {
      this.#places.set(step.id, place);
    });
  }

  /** Refuses by name: steps that do not fit, ids used twice, parents and children that disagree, cycles. */
  static fromJSON(json: ThoughtChainSnapshot, tell?: Tell<ThoughtEvents>): ThoughtChain {
    const from = checkedWhole(snapshot.shape.thought_chain, json, 'thought_chain');
    checkTree(from);
    return new ThoughtChain(tell, from);
  }

  /** Frozen; the same object until something changes. */
  toJSON(): ThoughtChainSnapshot {
    this.#view ??= sealed({
      ...(this.#current === undefined ? {} : { current_step_id: this.#current }),
      steps: this.#steps.view(),
    }) as ThoughtChainSnapshot;
    return this.#view;
  }

  get length(): number {
    return this.#steps.length;
  }

  get current(): Frozen<Thought> | undefined {
    return this.#current === undefined ? undefined : this.get(this.#current);
  }

  get(id: string): Frozen<Thought> | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#steps.at(place);
  }

  /** In the order in which they were added. */
  list(): readonly Frozen<Thought>[] {
    return this.#steps.view();
  }

  /** From the root to a step: the current one unless given. */
  path(id: string | undefined = this.#current): readonly Frozen<Thought>[] {
    const steps: Frozen<Thought>[] = [];
    for (let at = id; at !== undefined; ) {
      const step = this.#need(at, 'thoughts.path');
      steps.push(step);
      at = step.parent_id;
    }
    return steps.reverse();
  }

  /** Adds a step below the current one, or below `parent_id`, or as a root if that is null. It becomes the current one. */
  add(input: NewThought): Frozen<Thought> {
    const {
      id = newId(),
      parent_id = this.#current,
      timestamp = Date.now(),
      ...rest
    } = checked(newThought, input, 'thoughts.add');
    if (this.#places.has(id)) throw refusal(`thoughts.add: the id "${id}" is taken`, { id });
    const parent = parent_id === null || parent_id === undefined ? undefined : this.#need(parent_id, 'thoughts.add');
    this.#steps.checkRoom('thoughts.add');
    const added = frozenCopy({
      id,
      ...rest,
      ...(parent ? { parent_id: parent.id } : {}),
      children: [] as readonly string[],
      timestamp,
    }) as Frozen<Thought>;
    this.#places.set(id, this.#steps.length);
    this.#steps.push(added);
    if (parent) this.#setChildren(parent, [...parent.children, id]);
    this.#current = id;
    this.#view = undefined;
    this.#tell('thought.added', { thought: added });
    return added;
  }

  /** Changes what the patch names; where the step stands is changed by `attach`. */
  update(id: string, patch: ThoughtPatch): Frozen<Thought> {
    const before = this.#need(id, 'thoughts.update');
    const given = checked(thoughtPatch, patch, 'thoughts.update');
    const { reasoning = before.reasoning, metadata = before.metadata, ...rest } = given;
    const after = frozenCopy({
      ...before,
      ...rest,
      reasoning: reasoning ?? undefined,
      metadata: metadata ?? undefined,
    }) as Frozen<Thought>;
    this.#replace(after);
    this.#tell('thought.changed', { before, after });
    return after;
  }

  /** Puts a step, with all below it, as the last child under another one; makes it a root if that is null. */
  attach(id: string, parent_id: string | null): Frozen<Thought> {
    const before = this.#need(id, 'thoughts.attach');
    const parent = parent_id === null ? undefined : this.#need(parent_id, 'thoughts.attach');
    if (parent && this.path(parent.id).includes(before))
      throw refusal(`thoughts.attach: "${id}" cannot stand below itself, and "${parent.id}" is below it`, { id });
    if (before.parent_id === parent?.id) return before;
    const { parent_id: _, ...rest } = before;
    const after = frozenCopy({ ...rest, ...(parent ? { parent_id: parent.id } : {}) }) as Frozen<Thought>;
    this.#leaveParent(before, []);
    this.#replace(after);
    if (parent) this.#setChildren(this.get(parent.id)!, [...parent.children, id]);
    this.#tell('thought.changed', { before, after });
    return after;
  }

  /**
   * Takes a step out. What followed from it stays: its children go to its parent, in its place, or become roots.
   * The chain stands at the parent if it stood here.
   */
  remove(id: string): Frozen<Thought> {
    const removed = this.#need(id, 'thoughts.remove');
    const { parent_id, children } = removed;
    for (const child of children) {
      const { parent_id: _, ...rest } = this.get(child)!;
      this.#replace(frozenCopy({ ...rest, ...(parent_id === undefined ? {} : { parent_id }) }) as Frozen<Thought>);
    }
    this.#leaveParent(removed, children);
    const place = this.#places.get(id)!;
    this.#steps.remove(place, 1);
    this.#places.delete(id);
    for (let i = place; i < this.#steps.length; i++) this.#places.set(this.#steps.at(i)!.id, i);
    if (this.#current === id) this.#current = parent_id;
    this.#view = undefined;
    this.#tell('thought.removed', { thought: removed });
    return removed;
  }

  /** Makes a step the current one, so that the next is added below it; null: the next is a root. */
  moveTo(id: string | null): void {
    const after = id === null ? undefined : this.#need(id, 'thoughts.moveTo').id;
    const before = this.#current;
    if (before === after) return;
    this.#current = after;
    this.#view = undefined;
    this.#tell('thought.current', { before, after });
  }

  #need(id: string, what: string): Frozen<Thought> {
    const step = this.get(id);
    if (!step) throw refusal(`${what}: there is no step "${id}"`, { id });
    return step;
  }

  #replace(step: Frozen<Thought>): void {
    this.#steps.set(this.#places.get(step.id)!, step);
    this.#view = undefined;
  }

  #setChildren(parent: Frozen<Thought>, children: readonly string[]): void {
    this.#replace(frozenCopy({ ...parent, children }) as Frozen<Thought>);
  }

  #leaveParent({ id, parent_id }: Frozen<Thought>, instead: readonly string[]): void {
    const parent = parent_id === undefined ? undefined : this.get(parent_id)!;
    if (parent)
      this.#setChildren(
        parent,
        parent.children.flatMap((child) => (child === id ? instead : child)),
      );
  }
}
