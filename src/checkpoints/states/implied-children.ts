/**
 * The children of a thought are mostly implied: the thoughts that name it as parent, in list order. Such a thought is
 * stored without `children`, so that it stays unchanged when it gets one more.
 */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isObject, sameJson, sameMembers } from '../../kernel/index.js';
import type { Thought } from '../checkpoints/model.js';

/** Children: mostly one or none, so a single id needs no array. */
type Ids = readonly unknown[] | string | undefined;
type ByParent = ReadonlyMap<unknown, Ids>;

/** Of deeply frozen thoughts: the form without children, and the last form with them. */
const withoutChildren = new WeakMap<object, Json>();
const withChildren = new WeakMap<object, JsonObject>();

/** Accepts unvalidated thoughts. */
function childrenIn(thoughts: readonly unknown[]): ByParent {
  const children = new Map<unknown, unknown[] | string>();
  for (const each of thoughts) {
    if (!isObject(each) || typeof each.parent_id !== 'string' || typeof each.id !== 'string') continue;
    const others = children.get(each.parent_id);
    if (others === undefined) children.set(each.parent_id, each.id);
    else if (typeof others === 'string') children.set(each.parent_id, [others, each.id]);
    else others.push(each.id);
  }
  return children;
}

function areSame(listed: readonly unknown[], ids: Ids): boolean {
  if (ids === undefined) return listed.length === 0;
  if (typeof ids === 'string') return listed.length === 1 && listed[0] === ids;
  return listed.length === ids.length && ids.every((id, i) => id === listed[i]);
}

/** Compares sent thoughts with stored ones. */
export class SentThoughts {
  readonly #children: ByParent;

  constructor(sent: readonly unknown[]) {
    this.#children = childrenIn(sent);
  }

  #isImplied({ id, children }: Record<string, unknown>): boolean {
    return Array.isArray(children) && areSame(children, this.#children.get(id));
  }

  same(stored: Json, sent: unknown): boolean {
    if (!isObject(sent)) return false;
    const before = stored as JsonObject;
    if (before.children !== undefined) return sameJson(before, sent as JsonObject);
    if (!this.#isImplied(sent)) return false;
    return withoutChildren.get(sent) === before || sameMembers(before, sent as JsonObject, 'children');
  }

  /** The stored form of a checked, deeply frozen thought. */
  stored(kept: Json): Json {
    const thought = kept as JsonObject;
    if (!this.#isImplied(thought)) return thought;
    const known = withoutChildren.get(thought);
    if (known !== undefined) return known;
    const { children: _, ...rest } = thought;
    return remember(Object.freeze(rest), thought);
  }
}

function remember(stored: JsonObject, whole: JsonObject): JsonObject {
  withoutChildren.set(whole, stored);
  withChildren.set(stored, whole);
  return stored;
}

/** Stored thoughts with their children. */
export function wholeThoughts(stored: readonly Json[]): Thought[] {
  const children = childrenIn(stored);
  return (stored as readonly JsonObject[]).map((thought) =>
    thought.children === undefined ? whole(thought, children.get(thought.id)) : thought,
  ) as unknown as Thought[];
}

function whole(stored: JsonObject, children: Ids): JsonObject {
  const before = withChildren.get(stored);
  if (before && areSame(before.children as Json[], children)) return before;
  // First, since members are sorted by name.
  const made = { children: [children ?? []].flat() as Json[], ...stored };
  if (!Object.isFrozen(stored)) return made;
  Object.freeze(made.children);
  remember(stored, Object.freeze(made));
  return made;
}
