/**
 * The children of a thought mostly follow from the others: they are those that name it as their parent, in the order of
 * the list. Such a thought is stored without them, so that it stays the same when it gets one more.
 */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isObject, sameJson, sameMembers } from '../../kernel/index.js';
import type { Thought } from '../checkpoints/model.js';

/** Of children: mostly there is one, or none. */
type Ids = readonly unknown[] | string | undefined;
type ByParent = ReadonlyMap<unknown, Ids>;

/** Of thoughts that are frozen to their last member: the same without children, and with those it had last. */
const withoutChildren = new WeakMap<object, Json>();
const withChildren = new WeakMap<object, JsonObject>();

/** Of a list that was sent nothing is known yet. */
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

/** Thoughts that were sent, beside those that are stored. */
export class SentThoughts {
  readonly #children: ByParent;

  constructor(sent: readonly unknown[]) {
    this.#children = childrenIn(sent);
  }

  #follow({ id, children }: Record<string, unknown>): boolean {
    return Array.isArray(children) && areSame(children, this.#children.get(id));
  }

  same(stored: Json, sent: unknown): boolean {
    if (!isObject(sent)) return false;
    const before = stored as JsonObject;
    if (before.children !== undefined) return sameJson(before, sent as JsonObject);
    if (!this.#follow(sent)) return false;
    return withoutChildren.get(sent) === before || sameMembers(before, sent as JsonObject, 'children');
  }

  /** What is stored of one that is checked, and frozen to its last member. */
  stored(kept: Json): Json {
    const thought = kept as JsonObject;
    if (!this.#follow(thought)) return thought;
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

/** Stored thoughts as they were sent. */
export function wholeThoughts(stored: readonly Json[]): Thought[] {
  const children = childrenIn(stored);
  return (stored as readonly JsonObject[]).map((thought) =>
    thought.children === undefined ? whole(thought, children.get(thought.id)) : thought,
  ) as unknown as Thought[];
}

function whole(stored: JsonObject, children: Ids): JsonObject {
  const before = withChildren.get(stored);
  if (before && areSame(before.children as Json[], children)) return before;
  // In front, where members stand by their names.
  const made = { children: [children ?? []].flat() as Json[], ...stored };
  if (!Object.isFrozen(stored)) return made;
  Object.freeze(made.children);
  remember(stored, Object.freeze(made));
  return made;
}
