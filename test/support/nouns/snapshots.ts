/** Arbitrary snapshots and checkpoints, for properties about what carries them. */
import fc from 'fast-check';
import type {
  Checkpoint,
  CheckpointMetadata,
  MemoryEntry,
  Message,
  Snapshot,
  Thought,
  ToolCall,
} from '#cairn/checkpoints/contract.js';
import { checkpointReason, thoughtType } from '#cairn/checkpoints/contract.js';
import type { Json, JsonObject } from '#cairn/kernel/contract.js';

const wellFormed = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\u0000'));
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e/f', 'g~h', 'Ünï');
const time = fc.integer({ min: 0, max: 2_000_000_000_000 });
const share = fc.integer({ min: 0, max: 100 }).map((n) => n / 100);
const name = fc.oneof(fc.constantFrom('__proto__', '', '10', '9', 'a/b', '~', 'plan', 'x'), wellFormed);

/** As it comes from a file: no -0, no undefined. */
export const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      wellFormed,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

export const jsonObject: fc.Arbitrary<JsonObject> = fc
  .array(fc.tuple(name, json), { maxLength: 4 })
  .map((entries) => Object.fromEntries(entries));

/** Members that may be absent are left out, not undefined. */
const some = <T, K extends keyof T>(members: { [M in keyof T]: fc.Arbitrary<T[M]> }, required: K[]) =>
  fc.record(members, { requiredKeys: required, noNullPrototype: true }) as unknown as fc.Arbitrary<T>;

const thought = some<Required<Thought>, keyof Thought>(
  {
    id,
    type: fc.constantFrom(...thoughtType.options),
    content: wellFormed,
    reasoning: wellFormed,
    confidence: share,
    parent_id: id,
    children: fc.array(id, { maxLength: 2 }),
    metadata: jsonObject,
    timestamp: time,
  },
  ['id', 'type', 'content', 'confidence', 'children', 'timestamp'],
) as fc.Arbitrary<Thought>;

const message = some<Required<Message>, keyof Message>(
  {
    role: fc.constantFrom('user', 'assistant', 'system', 'tool'),
    content: wellFormed,
    tool_calls: json,
    tool_results: json,
  },
  ['role', 'content'],
) as fc.Arbitrary<Message>;

const memoryEntry: fc.Arbitrary<MemoryEntry> = fc.record(
  { key: wellFormed, value: json, importance: share },
  { noNullPrototype: true },
);

const toolCall = some<Required<ToolCall>, keyof ToolCall>(
  {
    id,
    tool_id: fc.constantFrom('shell', 'grep'),
    arguments: jsonObject,
    result: json,
    success: fc.boolean(),
    duration_ms: fc.nat(),
    timestamp: time,
  },
  ['tool_id', 'arguments', 'result', 'success', 'duration_ms', 'timestamp'],
) as fc.Arbitrary<ToolCall>;

const list = <T>(element: fc.Arbitrary<T>) => fc.array(element, { maxLength: 5 });

export const snapshot: fc.Arbitrary<Snapshot> = fc.record(
  {
    thought_chain: some<Required<Snapshot['thought_chain']>, 'steps'>({ current_step_id: id, steps: list(thought) }, [
      'steps',
    ]),
    context: some<Required<Snapshot['context']>, 'messages' | 'variables'>(
      { messages: list(message), variables: jsonObject, memory: list(memoryEntry) },
      ['messages', 'variables'],
    ),
    tool_state: some<Required<Snapshot['tool_state']>, 'pending' | 'completed'>(
      { last_tool_call_id: id, pending: list(id), completed: list(toolCall) },
      ['pending', 'completed'],
    ),
  },
  { noNullPrototype: true },
);

export const metadata = some<Required<CheckpointMetadata>, keyof CheckpointMetadata>(
  {
    step_number: fc.nat(),
    total_steps_estimate: fc.nat(),
    tokens_used: fc.nat(),
    duration_ms: fc.nat(),
    checkpoint_reason: fc.constantFrom(...checkpointReason.options),
  },
  ['step_number', 'tokens_used', 'duration_ms', 'checkpoint_reason'],
) as fc.Arbitrary<CheckpointMetadata>;

export const checkpoint = some<Omit<Required<Checkpoint>, 'diff'>, 'id'>(
  {
    version: fc.constant('1.0.0'),
    id,
    timestamp: time,
    execution_id: id,
    agent_id: id,
    name: id,
    description: wellFormed,
    labels: jsonObject,
    metadata,
    parent: fc.record({ checkpoint_id: id, is_branch: fc.boolean() }, { noNullPrototype: true }),
    snapshot,
  },
  ['version', 'id', 'timestamp', 'execution_id', 'agent_id', 'metadata', 'snapshot'] as unknown as ['id'],
) as unknown as fc.Arbitrary<Checkpoint>;

/** The same value with its members in another order. */
export function turned<T>(value: T): T {
  if (Array.isArray(value)) return value.map(turned) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, turned(member)]),
  ) as T;
}
