/** A snapshot as a stored state: checked where it differs from the one retained, and put together again. */
import { z } from 'zod';
import {
  MAX_ENTRIES,
  MAX_STATE_BYTES,
  memoryEntry,
  message,
  type Snapshot,
  type ToolCall,
  thought,
  toolCall,
} from '../model/checkpoint.js';
import { CairnError } from '../model/errors.js';
import { anyId } from '../model/ids.js';
import { describeIssues } from '../model/issues.js';
import { type JsonObject, jsonFault } from '../model/json.js';
import { SentThoughts, wholeThoughts } from './implied-children.js';
import { assemble, type StoredPart } from './state-assembly.js';
import { updateList } from './state-lists.js';
import {
  type Edit,
  Editing,
  itself,
  type ListNode,
  type ObjectNode,
  ROOTS,
  type Stamp,
} from './state-parts.js';
import { updateObject } from './state-tree.js';
import { toolCallIds } from './tool-call-ids.js';

type ListName = 'thoughts' | 'tool_calls' | 'messages' | 'memory' | 'pending';

/** The state of a checkpoint, as it is retained. */
export interface State extends Readonly<Record<ListName, ListNode>> {
  readonly variables: ObjectNode;
  /** What is in no list. */
  readonly rest: Rest;
}

export interface Rest {
  readonly current_step_id?: string | undefined;
  readonly last_tool_call_id?: string | undefined;
  /** Whether there is a list of memory at all. */
  readonly memory: boolean;
}

const noList = (id: number): ListNode => ({ kind: 'list', id, value: [], runs: [], ref: null, size: 0 });

export const emptyState: State = {
  thoughts: noList(ROOTS.thoughts),
  tool_calls: noList(ROOTS.tool_calls),
  messages: noList(ROOTS.messages),
  memory: noList(ROOTS.memory),
  pending: noList(ROOTS.pending),
  variables: { kind: 'object', id: ROOTS.variables, value: {}, members: new Map(), ref: null, size: 0 },
  rest: { memory: false },
};

/** From stored parts. With `retained`, so that a snapshot can be compared with it. */
export function stateOf(parts: readonly StoredPart[], rest: Rest, retained: boolean): State {
  const { list, object } = assemble(parts, retained);
  return {
    thoughts: list(ROOTS.thoughts),
    tool_calls: list(ROOTS.tool_calls),
    messages: list(ROOTS.messages),
    memory: list(ROOTS.memory),
    pending: list(ROOTS.pending),
    variables: object(ROOTS.variables),
    rest,
  };
}

export function snapshotOf(state: State): Snapshot {
  const { current_step_id, last_tool_call_id, memory } = state.rest;
  return {
    thought_chain: {
      ...(current_step_id === undefined ? {} : { current_step_id }),
      steps: wholeThoughts(state.thoughts.value),
    },
    context: {
      messages: state.messages.value as unknown as Snapshot['context']['messages'],
      variables: state.variables.value,
      ...(memory
        ? { memory: state.memory.value as unknown as NonNullable<Snapshot['context']['memory']> }
        : {}),
    },
    tool_state: {
      ...(last_tool_call_id === undefined ? {} : { last_tool_call_id }),
      pending: [...state.pending.value] as string[],
      completed: state.tool_calls.value as unknown as Snapshot['tool_state']['completed'],
    },
  };
}

/** Characters of JSON text in it. */
export const sizeOf = (state: State): number =>
  state.thoughts.size +
  state.tool_calls.size +
  state.messages.size +
  state.memory.size +
  state.pending.size +
  state.variables.size;

const someList = z.custom<unknown[]>(Array.isArray, 'Invalid input: expected array');
const frame = z.strictObject({
  thought_chain: z.strictObject({ current_step_id: anyId.optional(), steps: someList }),
  context: z.strictObject({
    messages: someList,
    variables: z.custom<JsonObject>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
      'Invalid input: expected object',
    ),
    memory: someList.optional(),
  }),
  tool_state: z.strictObject({
    last_tool_call_id: anyId.optional(),
    pending: someList,
    completed: someList,
  }),
});

export interface NextState extends Edit {
  readonly state: State;
  /** To be filled in before the edit is stored. */
  readonly stamp: Stamp;
}

const elementOf = {
  thoughts: thought,
  tool_calls: toolCall,
  messages: message,
  memory: memoryEntry,
  pending: anyId,
};

/** What a snapshot that was sent makes of the state before it. Refuses what is no snapshot, naming the field. */
export function nextState(before: State, sent: unknown): NextState {
  const framed = frame.safeParse(sent);
  if (!framed.success) throw refusal(framed.error, 'snapshot');
  const { thought_chain, context, tool_state } = framed.data;
  const editing = new Editing();
  const state: State = {
    thoughts: nextList(editing, before, 'thoughts', 'snapshot.thought_chain.steps', thought_chain.steps),
    tool_calls: nextList(
      editing,
      before,
      'tool_calls',
      'snapshot.tool_state.completed',
      tool_state.completed,
    ),
    messages: nextList(editing, before, 'messages', 'snapshot.context.messages', context.messages),
    memory: nextList(editing, before, 'memory', 'snapshot.context.memory', context.memory ?? []),
    pending: nextList(editing, before, 'pending', 'snapshot.tool_state.pending', tool_state.pending),
    variables: nextVariables(editing, before.variables, context.variables),
    rest: {
      current_step_id: thought_chain.current_step_id,
      last_tool_call_id: tool_state.last_tool_call_id,
      memory: context.memory !== undefined,
    },
  };
  const size = sizeOf(state);
  if (size > MAX_STATE_BYTES) {
    throw new CairnError(
      'TOO_LARGE',
      `the snapshot is ${size} characters of JSON, the limit is ${MAX_STATE_BYTES}`,
    );
  }
  return { state, stamp: editing.stamp, added: editing.added, ended: editing.ended };
}

function nextList(
  editing: Editing,
  before: State,
  name: ListName,
  path: string,
  elements: readonly unknown[],
): ListNode {
  if (elements.length > MAX_ENTRIES) {
    throw new CairnError(
      'INVALID_INPUT',
      `${path} has ${elements.length} entries, the limit is ${MAX_ENTRIES}`,
    );
  }
  editing.check = (element) => {
    const parsed = elementOf[name].safeParse(element);
    if (!parsed.success)
      throw refusal(parsed.error, `${path}[${elements.findIndex((each) => Object.is(each, element))}]`);
  };
  const node =
    name === 'thoughts'
      ? nextThoughts(editing, before.thoughts, elements)
      : updateList(editing, before[name], elements);
  if (node !== before[name]) refuseTwice(name, path, node);
  return node;
}

function nextThoughts(editing: Editing, before: ListNode, elements: readonly unknown[]): ListNode {
  const sent = new SentThoughts(elements);
  editing.stored = (kept) => sent.stored(kept);
  const node = updateList(editing, before, elements, (stored, each) => sent.same(stored, each));
  editing.stored = itself;
  return node;
}

/** Thoughts and tool calls are found by their ids. */
function refuseTwice(name: ListName, path: string, node: ListNode): void {
  if (name !== 'thoughts' && name !== 'tool_calls') return;
  const ids =
    name === 'thoughts'
      ? node.value.map((each) => (each as { id: string }).id)
      : toolCallIds(node.value as unknown as ToolCall[]);
  if (new Set(ids).size === ids.length) return;
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  throw new CairnError('INVALID_INPUT', `${path} has two entries with the id ${twice}: each needs its own`);
}

function nextVariables(editing: Editing, before: ObjectNode, variables: JsonObject): ObjectNode {
  editing.check = (value, depth) => {
    // Two levels above every variable, and those that the comparison went down.
    const fault = jsonFault(value, depth + 2);
    if (fault) throw new CairnError('INVALID_INPUT', `snapshot.context.variables: ${fault}`);
  };
  return updateObject(editing, before, variables);
}

/** As other refusals of input, with the place in the snapshot before the field. */
function refusal(error: z.ZodError, path: string): CairnError {
  const errors = describeIssues(error, path);
  return new CairnError('INVALID_INPUT', errors[0]!, { errors });
}
