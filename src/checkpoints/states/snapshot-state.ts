/** Snapshots as stored states: compared with the state before, validated where they differ, and assembled again. */
import { z } from 'zod';
import { anyId, type Json, type JsonObject, jsonFault } from '../../kernel/contract.js';
import {
  CairnError,
  describeIssues,
  invalid,
  isObject,
  runSteps,
  type Steps,
  toImmutable,
} from '../../kernel/index.js';
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
import { updateList, updateObject } from './node-updates.js';
import { type Edit, EditBuilder, identity, type ListNode, type ObjectNode, ROOTS, type Stamp } from './parts.js';
import { toolCallIds } from './tool-call-ids.js';

const LISTS = ['thoughts', 'tool_calls', 'messages', 'memory', 'pending'] as const;
type ListName = (typeof LISTS)[number];

export interface State extends Readonly<Record<ListName, ListNode>> {
  readonly variables: ObjectNode;
  /** Members outside of the lists. */
  readonly rest: Rest;
}

export interface Rest {
  readonly current_step_id?: string | undefined;
  readonly last_tool_call_id?: string | undefined;
  /** Whether the snapshot has a `memory` list. */
  readonly memory: boolean;
  /** Unknown members beside the lists. */
  readonly others?: Others | undefined;
}

/** By the part of the snapshot. */
type Others = Partial<Record<'snapshot' | 'thought_chain' | 'context' | 'tool_state', JsonObject>>;

/** With `retained`, a snapshot can be compared with the state. */
export function stateOf(parts: readonly StoredPart[], rest: Rest, retained: boolean): State {
  const { list, object } = assemble(parts, retained);
  const lists = Object.fromEntries(LISTS.map((name) => [name, list(ROOTS[name])])) as Record<ListName, ListNode>;
  return { ...lists, variables: object(ROOTS.variables), rest };
}

export const emptyState: State = stateOf([], { memory: false }, true);

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

/** Characters of JSON text. */
export const sizeOf = (state: State): number =>
  LISTS.reduce((sum, name) => sum + state[name].size, state.variables.size) +
  (state.rest.others === undefined ? 0 : canonical(state.rest.others as Json).length);

const someList = z.custom<unknown[]>(Array.isArray, 'Invalid input: expected array');
const parts = {
  thought_chain: open(z.strictObject({ current_step_id: anyId.optional(), steps: someList })),
  context: open(
    z.strictObject({
      messages: someList,
      variables: z.custom<JsonObject>(isObject, 'Invalid input: expected object'),
      memory: someList.optional(),
    }),
  ),
  tool_state: open(z.strictObject({ last_tool_call_id: anyId.optional(), pending: someList, completed: someList })),
};
const frame = open(z.strictObject(parts));

export interface NextState extends Edit {
  readonly state: State;
  /** Filled in before the edit is stored. */
  readonly stamp: Stamp;
  /** Unknown members in changed values: part and name, and an error that names a place. */
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

/** All unknown members of a state, named as in `NextState`. */
export function unknownIn(state: State): Set<string> {
  const found = new Set<string>();
  for (const [part, others] of Object.entries(state.rest.others ?? {}))
    for (const name of Object.keys(others)) found.add(`${part} ${name}`);
  for (const [list, schema] of Object.entries(elementOf) as [keyof typeof elementOf, z.ZodObject][])
    for (const element of state[list].value)
      for (const name of Object.keys(unknownMembers(schema, element as object) ?? {})) found.add(`${list} ${name}`);
  return found;
}

/** Unknown members, each with the first place that has it. */
class UnknownMembers extends Map<string, string> {
  note(part: string, others: JsonObject | undefined, place: () => string): void {
    for (const name of Object.keys(others ?? {})) {
      const known = `${part} ${name}`;
      if (!this.has(known)) this.set(known, `unknown field "${name}" in ${place()}`);
    }
  }
}

function othersOf(framed: z.output<typeof frame>, unknown: UnknownMembers): Others | undefined {
  const others: Others = {};
  const take = (part: keyof Others, schema: z.ZodObject, value: object) => {
    const found = unknownMembers(schema, value);
    if (!found) return;
    others[part] = toImmutable(found) as JsonObject;
    unknown.note(part, found, () => (part === 'snapshot' ? part : `snapshot.${part}`));
  };
  take('snapshot', frame, framed);
  for (const part of ['thought_chain', 'context', 'tool_state'] as const) take(part, parts[part], framed[part]);
  return Object.keys(others).length === 0 ? undefined : others;
}

/** Compares a sent snapshot with the state before it. Refuses an invalid snapshot, naming the field. */
export const nextState = (before: State, sent: unknown): NextState => runSteps(nextSteps(before, sent));

/** The same in steps of one element: the snapshot must not be altered between them. */
export function* nextSteps(before: State, sent: unknown): Steps<NextState> {
  const framed = frame.safeParse(sent);
  if (!framed.success) throw refusal(framed.error, 'snapshot');
  const { thought_chain, context, tool_state } = framed.data;
  const edit = new EditBuilder();
  const unknown = new UnknownMembers();
  const nextOf = (name: ListName, path: string, elements: readonly unknown[]) =>
    nextList({ edit, before, unknown }, name, path, elements);
  const state: State = {
    thoughts: yield* nextOf('thoughts', 'snapshot.thought_chain.steps', thought_chain.steps),
    tool_calls: yield* nextOf('tool_calls', 'snapshot.tool_state.completed', tool_state.completed),
    messages: yield* nextOf('messages', 'snapshot.context.messages', context.messages),
    memory: yield* nextOf('memory', 'snapshot.context.memory', context.memory ?? []),
    pending: yield* nextOf('pending', 'snapshot.tool_state.pending', tool_state.pending),
    variables: yield* nextVariables(edit, before.variables, context.variables),
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
  return { state, stamp: edit.stamp, added: edit.added, ended: edit.ended, unknown };
}

interface Comparison {
  readonly edit: EditBuilder;
  readonly before: State;
  readonly unknown: UnknownMembers;
}

function* nextList(
  { edit, before, unknown }: Comparison,
  name: ListName,
  path: string,
  elements: readonly unknown[],
): Steps<ListNode> {
  if (elements.length > MAX_ENTRIES) {
    throw invalid(`${path} has ${elements.length} entries, the limit is ${MAX_ENTRIES}`);
  }
  edit.check = (element) => {
    const place = () => `${path}[${elements.findIndex((each) => Object.is(each, element))}]`;
    const parsed = openElementOf[name].safeParse(element);
    if (!parsed.success) throw refusal(parsed.error, place());
    if (name !== 'pending') unknown.note(name, unknownMembers(elementOf[name], element as object), place);
  };
  const node =
    name === 'thoughts'
      ? yield* nextThoughts(edit, before.thoughts, elements)
      : yield* updateList(edit, before[name], elements);
  if (node !== before[name]) refuseDuplicates(name, path, node);
  return node;
}

function* nextThoughts(edit: EditBuilder, before: ListNode, elements: readonly unknown[]): Steps<ListNode> {
  const sent = new SentThoughts(elements);
  edit.stored = (kept) => sent.stored(kept);
  const node = yield* updateList(edit, before, elements, (stored, each) => sent.same(stored, each));
  edit.stored = identity;
  return node;
}

/** Ids of thoughts and of tool calls must be unique: the tables are keyed by them. */
function refuseDuplicates(name: ListName, path: string, node: ListNode): void {
  if (name !== 'thoughts' && name !== 'tool_calls') return;
  const ids =
    name === 'thoughts'
      ? node.value.map((each) => (each as { id: string }).id)
      : toolCallIds(node.value as unknown as ToolCall[]);
  const seen = new Set<string>();
  const duplicate = ids.find((id) => seen.size === seen.add(id).size);
  if (duplicate !== undefined) throw invalid(`${path} has two entries with the id ${duplicate}: ids must be unique`);
}

function* nextVariables(edit: EditBuilder, before: ObjectNode, variables: JsonObject): Steps<ObjectNode> {
  edit.check = (value, depth) => {
    // Nesting depth: two levels above the variables, and those below at which the comparison is.
    const fault = jsonFault(value, depth + 2);
    if (fault) throw invalid(`snapshot.context.variables: ${fault}`);
  };
  return yield* updateObject(edit, before, variables);
}

function refusal(error: z.ZodError, path: string): CairnError {
  const errors = describeIssues(error, path);
  return invalid(errors[0]!, { errors });
}
