/** Checks the states of a run one after another, each value once however many states share it. */
import type { JsonObject } from '../../kernel/contract.js';
import { invalid, parseAs } from '../../kernel/index.js';
import { MAX_ENTRIES, type Snapshot, snapshot } from '../checkpoints/model.js';

/**
 * A check that remembers what it saw. Elements of lists and values of variables that are the very objects of a state
 * checked before are left out of what the schema looks at, so that the work follows what changed. Nobody may alter a
 * state between two checks. What is remembered is kept apart by kind: a thought is a good variable, but no message.
 */
export function snapshotCheck(): (state: unknown, what: string) => Snapshot {
  const steps = unseen();
  const messages = unseen();
  const memory = unseen();
  const completed = unseen();
  const values = new WeakSet<object>();

  return (state, what) => {
    const { thought_chain, context, tool_state } = (state ?? {}) as Partial<Snapshot>;
    const rest = {
      ...(state as Snapshot),
      thought_chain: lighter(thought_chain, 'steps', steps),
      context: lighter(lighter(context, 'messages', messages), 'memory', memory),
      tool_state: lighter(tool_state, 'completed', completed),
    };
    if (isRecord(rest.context) && isRecord(rest.context.variables)) {
      rest.context = { ...rest.context, variables: newMembers(rest.context.variables, values) };
    }
    // Only what is wrong is worth a look at all of it, to name its place.
    if (!isRecord(state) || !snapshot.safeParse(rest).success) parseAs(snapshot, state, what);
    checkLengths(state as Snapshot, what);
    return state as Snapshot;
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Unseen = (list: readonly unknown[]) => unknown[];

function unseen(): Unseen {
  const lists = new WeakSet<object>();
  const seen = new WeakSet<object>();
  return (list) => {
    if (lists.has(list)) return [];
    lists.add(list);
    return list.filter((element) => isNew(element, seen));
  };
}

/** An error ends the whole check, so it does no harm that something wrong is remembered as well. */
function isNew(value: unknown, seen: WeakSet<object>): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (seen.has(value)) return false;
  seen.add(value);
  return true;
}

function lighter<T>(part: T, name: string, pick: Unseen): T {
  const list = isRecord(part) ? part[name] : undefined;
  return Array.isArray(list) ? ({ ...part, [name]: pick(list) } as T) : part;
}

function newMembers(variables: Record<string, unknown>, seen: WeakSet<object>): JsonObject {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => isNew(value, seen))) as JsonObject;
}

/** The schema saw shorter lists. */
function checkLengths({ thought_chain, context, tool_state }: Snapshot, what: string): void {
  const longest = Math.max(
    thought_chain.steps.length,
    context.messages.length,
    context.memory?.length ?? 0,
    tool_state.completed.length,
  );
  if (longest > MAX_ENTRIES) throw invalid(`${what}: a list has ${longest} entries, the limit is ${MAX_ENTRIES}`);
}
