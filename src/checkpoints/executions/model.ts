/** An execution: one run of an agent, whose states are a tree of checkpoints. */
import { z } from 'zod';
import { anyId, instant, jsonObject, jsonValue, smallMetadata, subjectsShown, text } from '../../kernel/contract.js';
import { name } from '../../memory/contract.js';
import {
  changes,
  checkpoint,
  checkpointSummary,
  open,
  pendingWrite,
  snapshot,
  timestamp,
} from '../checkpoints/model.js';

export const executionStatus = z.enum(['pending', 'running', 'paused', 'completed', 'failed', 'cancelled']);
export type ExecutionStatus = z.output<typeof executionStatus>;

export const execution = z
  .object({
    execution_id: z.string(),
    agent_id: z.string(),
    name: z.string().nullable(),
    status: executionStatus,
    trajectory_id: z.string().nullable(),
    thread_id: z.string().nullable().describe('The conversation that it belongs to'),
    namespace: z.string().describe('Part of the conversation; empty for the main one'),
    subject_ids: subjectsShown,
    metadata: jsonObject,
    checkpoints: z.int(),
    latest_checkpoint_id: z.string().nullable().describe('The current checkpoint: the newest, or the one restored'),
    created_at: instant,
    updated_at: instant,
    finished_at: instant.nullable(),
  })
  .meta({ id: 'Execution' });
export type Execution = z.output<typeof execution>;

export const executionTreeNode = z
  .object({
    checkpoint_id: z.string(),
    parent_checkpoint_id: z.string().nullable().describe('As named by the checkpoint; it may not exist in this store'),
    is_branch: z.boolean(),
    branch_reason: z.string().nullable(),
    name: z.string().nullable(),
    step_number: z.int(),
    checkpoint_reason: z.string(),
    tokens_used: z.int(),
    timestamp: z.number(),
    children: z.array(z.string()),
  })
  .meta({ id: 'CheckpointNode' });
export type ExecutionTreeNode = z.output<typeof executionTreeNode>;

/** Limits of the statistics: newest steps, and tools called most. */
export const MAX_STEPS = 1000;
export const MAX_TOOLS = 1000;

const share = z.number();
export const executionStats = z
  .object({
    execution_id: z.string(),
    checkpoints: z.int(),
    branches: z.int().describe('Checkpoints that started a branch'),
    stored_bytes: z.int().describe('Size of its states; shared parts count once'),
    tokens_used: z.int().describe('Of the current checkpoint'),
    duration_ms: z.number().describe('Of the current checkpoint'),
    tools: z
      .array(
        z.object({
          tool_id: z.string(),
          calls: z.int(),
          failures: z.int(),
          p50_ms: z.number().describe('Median duration, by nearest rank'),
          p95_ms: z.number().describe('95th percentile of the duration'),
        }),
      )
      .describe(
        'All calls on all branches, each id once, edited calls in their last form. The 1,000 tools called most',
      ),
    thoughts: z
      .object({
        count: z.int(),
        by_type: z.record(z.string(), z.int()),
        mean_confidence: share.nullable(),
        lowest_confidence: share.nullable(),
      })
      .describe('All thoughts on all branches, counted in the same way'),
    steps: z
      .array(
        z.object({
          checkpoint_id: z.string(),
          step_number: z.int(),
          tokens_used: z.int(),
          mean_confidence: share.nullable().describe('Of the thoughts that this checkpoint introduced'),
        }),
      )
      .describe('From the first checkpoint to the current one, the last 1,000'),
  })
  .meta({ id: 'ExecutionStats' });
export type ExecutionStats = z.output<typeof executionStats>;

export const semanticDiff = z
  .object({
    from_checkpoint_id: z.string(),
    to_checkpoint_id: z.string(),
    summary: z.string(),
    changes,
    thoughts: z.object({ added: z.array(z.string()), changed: z.array(z.string()), removed: z.array(z.string()) }),
    messages: z.object({ appended: z.int(), changed: z.boolean().describe('Other than by appending') }),
    variables: z.object({
      added: z.array(z.string()),
      changed: z.array(z.object({ name: z.string(), before: jsonValue, after: jsonValue })),
      removed: z.array(z.string()),
    }),
    tools: z.object({ run: z.array(z.object({ id: z.string(), tool_id: z.string(), success: z.boolean() })) }),
  })
  .meta({ id: 'CheckpointDiff' });
export type SemanticDiff = z.output<typeof semanticDiff>;

export const pruned = z
  .object({
    execution_id: z.string(),
    kept: z.int(),
    removed: z.int(),
    removed_checkpoint_ids: z.array(z.string()).describe('The first 1,000'),
    freed_bytes: z.int().describe('Content that no remaining checkpoint shares'),
    freed_rows: z.int(),
  })
  .meta({ id: 'Pruned' });
export type Pruned = z.output<typeof pruned>;

/** An item of a live view: the whole state once, then the changes of each checkpoint. */
export const liveItem = z
  .object({
    token: z.string().describe('Resume token: identifies the state that the reader has'),
    checkpoint: checkpointSummary.nullable().describe('null for a heartbeat, or while there is no checkpoint'),
    snapshot: snapshot.nullable().describe('The whole state, in the first item that has a checkpoint'),
    from_checkpoint_id: z.string().nullable().describe('The checkpoint of the item before'),
    changes: changes
      .nullable()
      .describe('In every later item: applied to the state of the item before, they give this state'),
  })
  .meta({ id: 'LiveItem' });
export type LiveItem = z.output<typeof liveItem>;

export const BUNDLE_FORMAT = 'cairn.execution';
export const BUNDLE_VERSION = '1.0.0';

/** A whole execution in one file: the first state of each line in full, the others as changes from their parents. */
export const bundle = open(
  z.strictObject({
    format: z.literal(BUNDLE_FORMAT),
    version: z.literal(BUNDLE_VERSION),
    execution: open(
      z.strictObject({
        execution_id: anyId,
        agent_id: anyId,
        name: name.optional(),
        status: executionStatus,
        thread_id: text(1000, 1).optional(),
        namespace: text(2000).optional(),
        metadata: smallMetadata.optional(),
        created_at: timestamp,
        latest_checkpoint_id: anyId.optional().describe('The current checkpoint; default: the last one'),
      }),
    ),
    checkpoints: z.array(
      open(
        z.strictObject({
          ...checkpoint.shape,
          snapshot: snapshot.optional(),
          changes: changes.optional(),
          pending_writes: z.array(pendingWrite).optional(),
          others: jsonObject
            .optional()
            .describe('Unknown members of the document that have the name of one of the three before, or of this one'),
        }),
      ),
    ),
  }),
).meta({ id: 'ExecutionBundle' });
export type Bundle = z.output<typeof bundle>;
