/** Validates the states of a run one after another, each value once, however many states share it. */
import type { JsonObject } from '../../kernel/contract.js';
import { invalid, isObject, parseAs } from '../../kernel/index.js';
import { MAX_ENTRIES, type Snapshot, snapshot } from '../checkpoints/model.js';

/**
 * A check with a memory: list elements and variables that are objects of an earlier state are left out of validation,
 * so the work follows the changes. States must not be altered between two checks. The memory is kept by kind: a valid
 * thought may be a variable, but is no message.
 */
export function snapshotCheck(): (state: unknown, what: string) => Snapshot {
  const [steps, messages, memory, completed] = [newElements(), newElements(), newElements(), newElements()];
  const variables = new WeakSet<object>();

  return (state, what) => {
    const { thought_chain, context, tool_state } = (state ?? {}) as Partial<Snapshot>;
    const rest = {
      ...(state as Snapshot),
      thought_chain: withNew(thought_chain, 'steps', steps),
      context: withNew(withNew(context, 'messages', messages), 'memory', memory),
      tool_state: withNew(tool_state, 'completed', completed),
    };
    if (isObject(rest.context) && isObject(rest.context.variables)) {
      const members = Object.entries(rest.context.variables).filter(([, value]) => isNew(value, variables));
      rest.context = { ...rest.context, variables: Object.fromEntries(members) as JsonObject };
    }
    // On failure the whole state is parsed, so that the error names the right path.
    if (!isObject(state) || !snapshot.safeParse(rest).success) parseAs(snapshot, state, what);
    checkLengths(state as Snapshot, what);
    return state as Snapshot;
  };
}

type NewElements = (list: readonly unknown[]) => unknown[];

function newElements(): NewElements {
  const lists = new WeakSet<object>();
  const elements = new WeakSet<object>();
  return (list) => (isNew(list, lists) ? list.filter((element) => isNew(element, elements)) : []);
}

/** An invalid value is remembered too, which does no harm: its error ends the whole check. */
function isNew(value: unknown, seen: WeakSet<object>): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (seen.has(value)) return false;
  seen.add(value);
  return true;
}

function withNew<T>(part: T, name: string, pick: NewElements): T {
  const list = isObject(part) ? part[name] : undefined;
  return Array.isArray(list) ? ({ ...part, [name]: pick(list) } as T) : part;
}

/** The schema saw shortened lists. */
function checkLengths({ thought_chain, context, tool_state }: Snapshot, what: string): void {
  const lists = [thought_chain.steps, context.messages, context.memory ?? [], tool_state.completed];
  const longest = Math.max(...lists.map(({ length }) => length));
  if (longest > MAX_ENTRIES) throw invalid(`${what}: a list has ${longest} entries, the limit is ${MAX_ENTRIES}`);
}
