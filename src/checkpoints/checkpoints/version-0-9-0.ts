/** Version 0.9.0 of the portable checkpoint, and its upgrade to 1.0.0. docs/checkpoint-format.md describes it. */
import { z } from 'zod';
import { anyId, instant, type JsonObject, jsonObject, jsonValue, text } from '../../kernel/contract.js';
import { invalid, toMs } from '../../kernel/index.js';
import {
  type Checkpoint,
  type CheckpointReason,
  checkpoint,
  message,
  open,
  presentMembers,
  type Thought,
  thought,
  toolCall,
  unknownMembers,
} from './model.js';

const moment = instant.refine((iso) => toMs(iso) >= 0, 'must not be before 1970');
const count = z.int().min(0);

const oldThought = open(
  z.strictObject({
    id: anyId,
    kind: thought.shape.type,
    text: thought.shape.content,
    why: thought.shape.reasoning,
    confidence: thought.shape.confidence,
    parent: anyId.optional(),
    notes: jsonObject.optional(),
    at: moment,
  }),
);

const oldTool = open(
  z.strictObject({
    id: anyId.optional(),
    tool: anyId,
    args: jsonObject.optional(),
    result: jsonValue.optional(),
    ok: z.boolean(),
    seconds: z.number().min(0),
    at: moment,
  }),
);

const reasons = {
  step: 'step_complete',
  manual: 'manual',
  doubt: 'low_confidence',
  error: 'tool_error',
  timer: 'auto',
} as const satisfies Record<string, CheckpointReason>;
type OldReason = keyof typeof reasons;

/** A flat document: state and metadata are not separated. */
export const checkpoint090 = open(
  z.strictObject({
    version: z.literal('0.9.0'),
    checkpoint_id: anyId,
    execution_id: anyId,
    agent: anyId,
    created_at: moment,
    reason: z.enum(Object.keys(reasons) as [OldReason, ...OldReason[]]),
    step: count,
    tokens: count.optional(),
    seconds: z.number().min(0).optional(),
    parent_id: anyId.nullish(),
    branch: text(2000).optional(),
    current_thought: anyId.optional(),
    thoughts: z.array(oldThought),
    messages: z.array(open(message)),
    variables: jsonObject,
    tools: z.array(oldTool),
    pending_tools: z.array(anyId).optional(),
    last_tool: toolCall.shape.id,
  }),
);
type Checkpoint090 = z.output<typeof checkpoint090>;

const toMilliseconds = (seconds: number): number => Math.round(seconds * 1000);

/** Absent members get their defaults: zero tokens and time, no arguments, a null result. Unknown members stay. */
export const from090 = (old: Checkpoint090): Checkpoint => ({
  ...othersOf(old, checkpoint090, checkpoint, ''),
  version: '1.0.0',
  id: old.checkpoint_id,
  timestamp: toMs(old.created_at),
  execution_id: old.execution_id,
  agent_id: old.agent,
  metadata: {
    step_number: old.step,
    tokens_used: old.tokens ?? 0,
    duration_ms: toMilliseconds(old.seconds ?? 0),
    checkpoint_reason: reasons[old.reason],
  },
  ...parentOf(old),
  snapshot: {
    thought_chain: { ...presentMembers({ current_step_id: old.current_thought }), steps: thoughtsOf(old) },
    context: { messages: old.messages, variables: old.variables },
    tool_state: {
      ...presentMembers({ last_tool_call_id: old.last_tool }),
      pending: old.pending_tools ?? [],
      completed: old.tools.map(({ id, tool, args, result, ok, seconds, at, ...others }, i) => ({
        ...othersOf(others, oldTool, toolCall, ` in tools[${i}]`),
        ...presentMembers({ id }),
        tool_id: tool,
        arguments: args ?? {},
        result: result ?? null,
        success: ok,
        duration_ms: toMilliseconds(seconds),
        timestamp: toMs(at),
      })),
    },
  },
});

/** Members unknown to 0.9.0. One that 1.0.0 knows is refused: it would be misread. */
function othersOf(value: object, old: z.ZodObject, next: z.ZodObject, place: string): JsonObject {
  const others = unknownMembers(old, value) ?? {};
  const taken = Object.keys(others).find((name) => Object.hasOwn(next.shape, name));
  if (taken === undefined) return others;
  throw invalid(`checkpoint of version 0.9.0: unknown field "${taken}"${place}: later versions use this name`);
}

/** In 0.9.0 a branch is a checkpoint with a reason. */
function parentOf({ parent_id, branch }: Checkpoint090): Pick<Checkpoint, 'parent'> {
  if (parent_id === undefined || parent_id === null) return {};
  const is_branch = branch !== undefined;
  return { parent: { checkpoint_id: parent_id, is_branch, ...presentMembers({ branch_reason: branch }) } };
}

/** Thoughts of 0.9.0 name only their parents. */
function thoughtsOf({ thoughts }: Checkpoint090): Thought[] {
  const children = new Map<string, string[]>(thoughts.map(({ id }) => [id, []]));
  for (const { id, parent } of thoughts) if (parent !== undefined) children.get(parent)?.push(id);
  return thoughts.map(({ id, kind, text, why, confidence, parent, notes, at, ...others }, i) => ({
    ...othersOf(others, oldThought, thought, ` in thoughts[${i}]`),
    id,
    type: kind,
    content: text,
    confidence,
    children: children.get(id)!,
    ...presentMembers({ reasoning: why, parent_id: parent, metadata: notes }),
    timestamp: toMs(at),
  }));
}
