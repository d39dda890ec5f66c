/** A checkpoint: the state of an execution at one step, in the portable form of files and the wire. */
import { z } from 'zod';
import { readsLike } from '../../engine/contract.js';
import {
  anyId,
  type JsonObject,
  jsonObject,
  jsonValue,
  pageOutput,
  smallMetadata,
  text,
} from '../../kernel/contract.js';
import { confidence, name } from '../../memory/contract.js';

export const CHECKPOINT_VERSION = '1.0.0';

/** Limit of a snapshot, as JSON text. */
export const MAX_STATE_BYTES = 32 * 1024 * 1024;
const MAX_TEXT = 8 * 1024 * 1024;
/** Limit of each list of a snapshot. */
export const MAX_ENTRIES = 100_000;

/** Epoch milliseconds, as all times inside a checkpoint. */
export const timestamp = z.number().min(0).max(253_402_300_799_999);

/** The schema for imported documents: unknown members are kept and exported again. */
export const open = <S extends z.ZodObject>(schema: S): S => z.object(schema.shape).catchall(jsonValue) as unknown as S;

/** Members that the schema does not know; undefined if there are none. */
export function unknownMembers(schema: z.ZodObject, value: object): JsonObject | undefined {
  const others = Object.entries(value).filter(
    ([name, member]) => !Object.hasOwn(schema.shape, name) && member !== undefined,
  );
  return others.length === 0 ? undefined : (Object.fromEntries(others) as JsonObject);
}

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> };
/** The members that are neither null nor undefined. */
export function presentMembers<T extends object>(members: T): Present<T> {
  const present: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(members)) if ((member ?? null) !== null) present[name] = member;
  return present as Present<T>;
}

export const thoughtType = z.enum([
  'planning',
  'reasoning',
  'tool_selection',
  'tool_execution',
  'reflection',
  'decision',
]);
export const thought = z.strictObject({
  id: anyId,
  type: thoughtType,
  content: text(MAX_TEXT),
  reasoning: text(MAX_TEXT).optional(),
  confidence,
  parent_id: anyId.optional(),
  children: z.array(anyId).max(MAX_ENTRIES),
  metadata: jsonObject.optional(),
  timestamp,
});
export type Thought = z.output<typeof thought>;

export const message = z.strictObject({
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  content: text(MAX_TEXT),
  tool_calls: jsonValue.optional(),
  tool_results: jsonValue.optional(),
});
export type Message = z.output<typeof message>;

export const memoryEntry = z.strictObject({ key: text(1000), value: jsonValue.optional(), importance: z.number() });
export type MemoryEntry = z.output<typeof memoryEntry>;

export const toolCall = z.strictObject({
  id: anyId.optional().describe('Default: derived from tool_id, timestamp and position'),
  tool_id: anyId,
  arguments: jsonObject,
  result: jsonValue.optional(),
  success: z.boolean(),
  duration_ms: z.number().min(0),
  timestamp,
});
export type ToolCall = z.output<typeof toolCall>;

const snapshotOf = (part: <S extends z.ZodObject>(schema: S) => S) =>
  part(
    z.strictObject({
      thought_chain: part(
        z.strictObject({
          current_step_id: anyId.optional(),
          steps: z.array(part(thought).meta({ id: 'Thought' })).max(MAX_ENTRIES),
        }),
      ),
      context: part(
        z.strictObject({
          messages: z.array(part(message).meta({ id: 'SnapshotMessage' })).max(MAX_ENTRIES),
          variables: jsonObject,
          memory: z.array(part(memoryEntry)).max(MAX_ENTRIES).optional(),
        }),
      ),
      tool_state: part(
        z.strictObject({
          last_tool_call_id: anyId.optional(),
          pending: z.array(anyId).max(MAX_ENTRIES),
          completed: z.array(part(toolCall).meta({ id: 'ToolCall' })).max(MAX_ENTRIES),
        }),
      ),
    }),
  );
export const snapshot = snapshotOf(open).meta({ id: 'Snapshot' });
export type Snapshot = z.output<typeof snapshot>;

/** A snapshot as sent: validated later, and only where it differs from its parent's state. */
export const sentSnapshot = readsLike(
  z
    .unknown()
    .superRefine((value, ctx) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        ctx.addIssue({ code: 'custom', message: 'Invalid input: expected object' });
    })
    .meta({
      ...(z.toJSONSchema(
        snapshotOf((schema) => schema),
        { io: 'input' },
      ) as object),
      id: undefined,
    }) as unknown as z.ZodType<Snapshot, z.input<typeof snapshot>>,
  snapshot,
);

export const checkpointReason = z.enum(['step_complete', 'manual', 'low_confidence', 'tool_error', 'auto']);
export type CheckpointReason = z.output<typeof checkpointReason>;

const count = z.int().min(0);

export const checkpointMetadata = z
  .strictObject({
    step_number: count,
    total_steps_estimate: z.number().optional(),
    tokens_used: count,
    duration_ms: z.number().min(0),
    checkpoint_reason: checkpointReason,
  })
  .meta({ id: 'CheckpointMetadata' });
export type CheckpointMetadata = z.output<typeof checkpointMetadata>;

export const changes = z
  .record(z.string(), z.strictObject({ before: jsonValue.optional(), after: jsonValue.optional() }))
  .describe('By path; an added member has no before, a removed one no after');
export type Changes = z.output<typeof changes>;

/** The diff that a document came with; another system may have its own kinds of change. */
const checkpointDiff = open(
  z.strictObject({
    from_checkpoint_id: anyId,
    changes: z.record(z.string(), open(changes.valueType)).describe(changes.description!),
    summary: text(MAX_TEXT),
  }),
);

export const parentLink = z
  .strictObject({ checkpoint_id: anyId, is_branch: z.boolean().default(false), branch_reason: text(2000).optional() })
  .meta({ id: 'ParentLink' });

export const description = text(20_000);
export const labels = smallMetadata.describe('Labels to filter by: a filter compares members for equality');

/** The members of a checkpoint besides its snapshot. */
const summaryMembers = {
  version: z.literal(CHECKPOINT_VERSION),
  id: anyId,
  timestamp,
  execution_id: anyId,
  agent_id: anyId,
  name: name.optional(),
  description: description.optional(),
  labels: labels.optional(),
  metadata: checkpointMetadata,
  parent: parentLink.optional(),
};

/** One checkpoint per file. Files have their members in the order of this schema: short ones first. */
export const checkpoint = open(
  z.strictObject({
    ...summaryMembers,
    metadata: open(checkpointMetadata),
    parent: open(parentLink).optional(),
    diff: checkpointDiff.optional(),
    snapshot,
  }),
).meta({ id: 'Checkpoint' });
export type Checkpoint = z.output<typeof checkpoint>;

export const checkpointSummary = z.strictObject(summaryMembers).meta({ id: 'CheckpointSummary' });
export type CheckpointSummary = z.output<typeof checkpointSummary>;

/** The result of a task that a run had finished since a checkpoint: a resumed run need not repeat it. */
export const pendingWrite = z
  .strictObject({
    task_id: anyId,
    index: z.int().min(-1000).max(1_000_000).describe('Position among the writes of its task'),
    channel: text(1000, 1),
    value: jsonValue,
  })
  .meta({ id: 'PendingWrite' });
export type PendingWrite = z.output<typeof pendingWrite>;

const listed = {
  execution_id: z.string(),
  checkpoint_id: z
    .string()
    .describe(
      'The checkpoint that introduced it, or the first remaining one that has it; the one in the filter, if any',
    ),
};
/** Without `children`: they follow from `parent_id`, and may come later. */
export const listedThought = z
  .object({ ...listed, ...thought.omit({ children: true }).shape })
  .meta({ id: 'FoundThought' });
export const listedToolCall = z.object({ ...listed, ...toolCall.shape, id: z.string() }).meta({ id: 'FoundToolCall' });

export const summaryPage = z.object({ checkpoints: z.array(checkpointSummary), ...pageOutput });
