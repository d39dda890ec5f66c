/** An agent_turn: one run of an agent on a sealed context, claimed by a worker under a lease. */
import { z } from 'zod';
import { anyId, instant, jsonObject, jsonValue, text, uuid } from '../../kernel/contract.js';

export const MAX_DEPTH_OF_DELEGATION = 20;
export const DEFAULT_TURN_LEASE_MS = 30_000;
export const DEFAULT_MAX_ATTEMPTS = 5;

export const agentTurnStatus = z.enum([
  'dispatched',
  'running',
  'suspended',
  'completed',
  'failed',
  'stopped',
  'timed_out',
]);
export type AgentTurnStatus = z.output<typeof agentTurnStatus>;

export const turnLease = z
  .int()
  .min(100)
  .max(24 * 3_600_000)
  .describe('Lease: the worker must renew it within this time. Default: 30,000');

export const waitMs = z.int().min(0).max(60_000).describe('How long to wait. Default: 0');

export const turnError = z
  .strictObject({ code: text(200, 1), message: text(20_000), details: jsonObject.optional() })
  .meta({ id: 'AgentTurnError' });
export type TurnError = z.output<typeof turnError>;

export const deliverable = z
  .union([text(1_000_000), jsonObject])
  .describe('Text, or an object with the fields that the task requires');

export const resultStatus = z.enum(['success', 'partial']);

export const agentTurn = z
  .object({
    agent_turn_id: z.string(),
    project_id: z.string(),
    agent_id: z.string(),
    source_agent_id: z.string().nullable().describe('The agent that delegated it'),
    parent_agent_turn_id: z.string().nullable(),
    depth: z.int().describe('0 if no agent_turn delegated it'),
    profile_name: z.string().nullable(),
    profile_box_id: z.string().nullable(),
    trajectory_id: z.string().describe('The task: a child of the delegator’s trajectory'),
    scope_id: z.string().nullable(),
    delegation_id: z.string().nullable(),
    batch_id: z.string().nullable(),
    task_index: z.int().nullable(),
    channel_id: z.string().nullable(),
    status: agentTurnStatus,
    turn_epoch: z.int().describe('Rises when the holder changes; every step names it'),
    attempts: z.int(),
    max_attempts: z.int(),
    worker_id: z.string().nullable(),
    lease_expires_at: instant.nullable(),
    context_box_id: z.string(),
    output_box_id: z.string(),
    record_box_id: z.string().nullable().describe('Prompts and tools as rendered'),
    instruction_card_id: z.string().nullable(),
    deliverable_card_id: z.string().nullable(),
    result_status: resultStatus.nullable(),
    summary: z.string().nullable(),
    error: turnError.nullable(),
    forked_from: z.string().nullable(),
    dispatched_at: instant,
    claimed_at: instant.nullable(),
    created_at: instant,
    updated_at: instant,
    ended_at: instant.nullable(),
  })
  .meta({ id: 'AgentTurn' });
export type AgentTurn = z.output<typeof agentTurn>;

/** Members of every step of a worker. */
export const heldTurn = {
  agent_turn_id: uuid,
  turn_epoch: z.int().min(0).describe('The epoch that claim or renew answered; any other is refused'),
};

export const workerId = anyId.describe('Any name of the worker process');

export const dispatchAnswer = z
  .union([
    z.object({
      status: z.literal('accepted'),
      agent_id: z.string(),
      agent_turn_id: z.string(),
      turn_epoch: z.int(),
      context_box_id: z.string(),
      output_box_id: z.string(),
      trajectory_id: z.string(),
      delegation_id: z.string(),
      channel_id: z.string().nullable(),
    }),
    z.object({ status: z.enum(['busy', 'rejected']), error_code: z.string(), message: z.string() }),
  ])
  .meta({ id: 'DispatchAnswer' });
export type DispatchAnswer = z.output<typeof dispatchAnswer>;

export const batchStatus = z.enum(['running', 'success', 'partial', 'failed', 'timeout']);
export type BatchStatus = z.output<typeof batchStatus>;

const batchTask = z.object({
  task_index: z.int(),
  agent_id: z.string(),
  agent_turn_id: z.string(),
  status: batchStatus,
  summary: z.string().optional(),
  output_box_id: z.string().optional(),
  deliverable: jsonValue.optional(),
  error: turnError.optional(),
});

export const batch = z
  .object({
    batch_id: z.string(),
    status: batchStatus,
    task_count: z.int(),
    fail_fast: z.boolean(),
    deadline_at: instant,
    channel_id: z.string().nullable(),
    created_at: instant,
    ended_at: instant.nullable(),
    results: z.array(batchTask).describe('In the order of the tasks'),
  })
  .meta({ id: 'Batch' });
export type Batch = z.output<typeof batch>;
