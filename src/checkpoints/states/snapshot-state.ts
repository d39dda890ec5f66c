/** A snapshot as a stored state: checked where it differs from the one retained, and put together again. */
import { z } from 'zod';
import { anyId, type Json, type JsonObject, jsonFault } from '../../kernel/contract.js';
import { atOnce, CairnError, describeIssues, invalid, keep, type Steps } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import {
  MAX_ENTRIES,
  MAX_STATE_BYTES,
  memoryEntry,
  message,
  open,
  type Snapshot,
  type ToolCall,
  thought,
  toolCall,
  unknownMembers,
} from '../checkpoints/model.js';
import { assemble, type StoredPart } from './assembly.js';
import { SentThoughts, wholeThoughts } from './implied-children.js';
import { type Edit, Editing, itself, type ListNode, type ObjectNode, ROOTS, type Stamp } from './parts.js';
import { toolCallIds } from './tool-call-ids.js';
import { updateList, updateObject } from './tree.js';

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
  /** Members around the lists that Cairn does not know. */
  readonly others?: Others | undefined;
}

/** By the part of the snapshot that they are in. */
type Others = Partial<Record<'snapshot' | 'thought_chain' | 'context' | 'tool_state', JsonObject>>;

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
  const { current_step_id, last_tool_call_id, memory, others } = state.rest;
  return {
    ...others?.snapshot,
    thought_chain: {
      ...others?.thought_chain,
      ...(current_step_id === undefined ? {} : { current_step_id }),
      steps: wholeThoughts(state.thoughts.value),
    },
    context: {
      ...others?.context,
      messages: state.messages.value as unknown as Snapshot['context']['messages'],
      variables: state.variables.value,
      ...(memory ? { memory: state.memory.value as unknown as NonNullable<Snapshot['context']['memory']> } : {}),
    },
    tool_state: {
      ...others?.tool_state,
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
  state.variables.size +
  (state.rest.others === undefined ? 0 : canonical(state.rest.others as Json).length);

const someList = z.custom<unknown[]>(Array.isArray, 'Invalid input: expected array');
const parts = {
  thought_chain: open(z.strictObject({ current_step_id: anyId.optional(), steps: someList })),
  context: open(
    z.strictObject({
      messages: someList,
      variables: z.custom<JsonObject>(
        (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
        'Invalid input: expected object',
      ),
      memory: someList.optional(),
    }),
  ),
  tool_state: open(z.strictObject({ last_tool_call_id: anyId.optional(), pending: someList, completed: someList })),
};
const frame = open(z.strictObject(parts));

export interface NextState extends Edit {
  readonly state: State;
  /** To be filled in before the edit is stored. */
  readonly stamp: Stamp;
  /** Members that Cairn does not know, of what differs from the state before: what they are, and a place of each. */
  readonly unknown: ReadonlyMap<string, string>;
}

const elementOf = { thoughts: thought, tool_calls: toolCall, messages: message, memory: memoryEntry };
const openElementOf = {
  thoughts: open(thought),
  tool_calls: open(toolCall),
  messages: open(message),
  memory: open(memoryEntry),
  pending: anyId,
};

/** Of everything in a snapshot the members that Cairn does not know, as `NextState` names them. */
export function unknownIn(state: State): Set<string> {
  const found = new Set<string>();
  for (const [part, others] of Object.entries(state.rest.others ?? {}))
    for (const name of Object.keys(others)) found.add(`${part} ${name}`);
  for (const [list, schema] of Object.entries(elementOf) as [keyof typeof elementOf, z.ZodObject][])
    for (const element of state[list].value)
      for (const name of Object.keys(unknownMembers(schema, element as object) ?? {})) found.add(`${list} ${name}`);
  return found;
}

/** Notes them, each with the first place that has it. */
class Unknown extends Map<string, string> {
  note(part: string, others: JsonObject | undefined, place: () => string): void {
    for (const name of Object.keys(others ?? {})) {
      const known = `${part} ${name}`;
      if (!this.has(known)) this.set(known, `unknown field "${name}" in ${place()}`);
    }
  }
}

function othersOf(framed: z.output<typeof frame>, unknown: Unknown): Others | undefined {
  const others: Others = {};
  const take = (part: keyof Others, schema: z.ZodObject, value: object) => {
    const found = unknownMembers(schema, value);
    if (!found) return;
    others[part] = keep(found) as JsonObject;
    unknown.note(part, found, () => (part === 'snapshot' ? part : `snapshot.${part}`));
  };
  take('snapshot', frame, framed);
  for (const part of ['thought_chain', 'context', 'tool_state'] as const) take(part, parts[part], framed[part]);
  return Object.keys(others).length === 0 ? undefined : others;
}

/** What a snapshot that was sent makes of the state before it. Refuses what is no snapshot, naming the field. */
export const nextState = (before: State, sent: unknown): NextState => atOnce(nextSteps(before, sent));

/** The same in steps, an element each: nobody may alter the snapshot between them. */
export function* nextSteps(before: State, sent: unknown): Steps<NextState> {
  const framed = frame.safeParse(sent);
  if (!framed.success) throw refusal(framed.error, 'snapshot');
  const { thought_chain, context, tool_state } = framed.data;
  const editing = new Editing();
  const unknown = new Unknown();
  const nextOf = (name: ListName, path: string, elements: readonly unknown[]) =>
    nextList({ editing, before, unknown }, name, path, elements);
  const state: State = {
    thoughts: yield* nextOf('thoughts', 'snapshot.thought_chain.steps', thought_chain.steps),
    tool_calls: yield* nextOf('tool_calls', 'snapshot.tool_state.completed', tool_state.completed),
    messages: yield* nextOf('messages', 'snapshot.context.messages', context.messages),
    memory: yield* nextOf('memory', 'snapshot.context.memory', context.memory ?? []),
    pending: yield* nextOf('pending', 'snapshot.tool_state.pending', tool_state.pending),
    variables: yield* nextVariables(editing, before.variables, context.variables),
    rest: {
      current_step_id: thought_chain.current_step_id,
      last_tool_call_id: tool_state.last_tool_call_id,
      memory: context.memory !== undefined,
      others: othersOf(framed.data, unknown),
    },
  };
  const size = sizeOf(state);
  if (size > MAX_STATE_BYTES) {
    throw new CairnError('TOO_LARGE', `the snapshot is ${size} characters of JSON, the limit is ${MAX_STATE_BYTES}`);
  }
  return { state, stamp: editing.stamp, added: editing.added, ended: editing.ended, unknown };
}

function* nextList(
  { editing, before, unknown }: { readonly editing: Editing; readonly before: State; readonly unknown: Unknown },
  name: ListName,
  path: string,
  elements: readonly unknown[],
): Steps<ListNode> {
  if (elements.length > MAX_ENTRIES) {
    throw invalid(`${path} has ${elements.length} entries, the limit is ${MAX_ENTRIES}`);
  }
  editing.check = (element) => {
    const place = () => `${path}[${elements.findIndex((each) => Object.is(each, element))}]`;
    const parsed = openElementOf[name].safeParse(element);
    if (!parsed.success) throw refusal(parsed.error, place());
    if (name !== 'pending') unknown.note(name, unknownMembers(elementOf[name], element as object), place);
  };
  const node =
    name === 'thoughts'
      ? yield* nextThoughts(editing, before.thoughts, elements)
      : yield* updateList(editing, before[name], elements);
  if (node !== before[name]) refuseTwice(name, path, node);
  return node;
}

function* nextThoughts(editing: Editing, before: ListNode, elements: readonly unknown[]): Steps<ListNode> {
  const sent = new SentThoughts(elements);
  editing.stored = (kept) => sent.stored(kept);
  const node = yield* updateList(editing, before, elements, (stored, each) => sent.same(stored, each));
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
  const seen = new Set<string>();
  const twice = ids.find((id) => seen.size === seen.add(id).size);
  if (twice === undefined) return;
  throw invalid(`${path} has two entries with the id ${twice}: each needs its own`);
}

function* nextVariables(editing: Editing, before: ObjectNode, variables: JsonObject): Steps<ObjectNode> {
  editing.check = (value, depth) => {
    // Two levels above every variable, and those that the comparison went down.
    const fault = jsonFault(value, depth + 2);
    if (fault) throw invalid(`snapshot.context.variables: ${fault}`);
  };
  return yield* updateObject(editing, before, variables);
}

/** As other refusals of input, with the place in the snapshot before the field. */
function refusal(error: z.ZodError, path: string): CairnError {
  const errors = describeIssues(error, path);
  return invalid(errors[0]!, { errors });
}
