/** Operations on checkpoints: the states of a run. */
import { z } from 'zod';
import { makes, operation, reads, writes } from '../../engine/contract.js';
import { anyId, instant, jsonObject, pageInput, pageOutput, text } from '../../kernel/contract.js';
import { agentFilter, confidence, name } from '../../memory/contract.js';
import { semanticDiff } from '../executions/model.js';
import {
  checkpoint,
  checkpointMetadata,
  checkpointReason,
  checkpointSummary,
  description,
  foundThought,
  foundToolCall,
  labels,
  pendingWrite,
  sentSnapshot,
  summaryPage,
  thoughtType,
  timestamp,
} from './model.js';

const A_CHECKPOINT = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a60';
const byId = { checkpoint_id: anyId };

const emptySnapshot = {
  thought_chain: { steps: [] },
  context: { messages: [{ role: 'user', content: 'Fix the login' }], variables: { attempts: 1 } },
  tool_state: { pending: [], completed: [] },
};

/** Which thoughts and tool calls are meant; several conditions hold for the same one. */
const toolFilters = {
  tool_id: anyId.optional().describe('Calls of this tool'),
  tool_success: z.boolean().optional().describe('Calls that went well, or failed'),
  tool_slower_than_ms: z.number().min(0).optional().describe('Calls that took longer'),
};
const thoughtFilters = {
  thought_type: thoughtType.optional(),
  confidence_below: confidence.optional().describe('Thoughts of less confidence'),
  thought_text: text(1000, 1)
    .optional()
    .describe('Thoughts with this in their content or reasoning; letters from A to Z in any case'),
};
const where = { execution_id: anyId.optional(), agent_id: agentFilter };

export const checkpoints = {
  create: operation({
    method: 'POST',
    path: '/api/v1/checkpoints',
    input: z.strictObject({
      checkpoint_id: anyId.optional().describe('Made by the server when absent'),
      execution_id: anyId,
      snapshot: sentSnapshot,
      metadata: checkpointMetadata.partial().optional().describe('Zero, and manual, where not given'),
      name: name.optional(),
      description: description.optional(),
      labels: labels.optional(),
      timestamp: timestamp.optional().describe('Epoch milliseconds; now unless given'),
      parent_checkpoint_id: anyId
        .optional()
        .describe('The state that it came from; default: where the execution stands'),
      root: z.boolean().optional().describe('It came from no state: the first of a new line'),
    }),
    output: checkpointSummary,
    access: 'write',
    touches: [writes('Checkpoint', 'execution_id')],
    event: 'cairn.checkpoint.created',
    status: 201,
    large: true,
    summary: 'Keep the state of a run. What it shares with its parent is stored once.',
    example: { execution_id: 'run-1', snapshot: emptySnapshot, metadata: { step_number: 1 } },
  }),
  get: operation({
    method: 'GET',
    path: '/api/v1/checkpoints/{checkpoint_id}',
    input: z.strictObject({
      ...byId,
      diff: z
        .boolean()
        .optional()
        .describe('With what changed since its parent; default: only the diff that a document came with'),
    }),
    output: checkpoint,
    access: 'read',
    touches: [reads('Checkpoint', 'checkpoint_id')],
    event: null,
    summary: 'Read a checkpoint whole, in the portable form.',
    example: { checkpoint_id: A_CHECKPOINT },
  }),
  latest: operation({
    method: 'GET',
    path: '/api/v1/executions/{execution_id}/latest',
    input: z.strictObject({ execution_id: anyId }),
    output: checkpoint,
    access: 'read',
    touches: [reads('Checkpoint', 'execution_id')],
    event: null,
    summary: 'Read the checkpoint that an execution stands at.',
    example: { execution_id: 'run-1' },
  }),
  list: operation({
    method: 'GET',
    path: '/api/v1/checkpoints',
    input: z.strictObject({
      ...where,
      thread_id: text(1000, 1).optional().describe('Those of the executions of this conversation'),
      namespace: text(2000).optional(),
      checkpoint_reason: checkpointReason.optional(),
      name: name.optional(),
      labels: jsonObject.optional().describe('Those whose labels have all these members'),
      taken_after: instant.optional().describe('Taken at this moment or later'),
      taken_before: instant.optional().describe('Taken before this moment'),
      before_id: anyId.optional().describe('Only those whose id is less than this'),
      ...toolFilters,
      ...thoughtFilters,
      inherited: z
        .boolean()
        .optional()
        .describe('Also those that have such a thought or tool call from a checkpoint before; else that brought it'),
      ...pageInput,
    }),
    output: summaryPage,
    access: 'read',
    touches: [reads('Checkpoint', 'listed')],
    event: null,
    summary: 'Find checkpoints: by execution, reason, time, agent, labels, and by the thoughts and tool calls in them.',
    example: { execution_id: 'run-1', tool_id: 'shell', tool_success: false },
  }),
  thoughts: operation({
    method: 'GET',
    path: '/api/v1/thoughts',
    input: z.strictObject({ ...where, checkpoint_id: anyId.optional(), ...thoughtFilters, ...pageInput }),
    output: z.object({ thoughts: z.array(foundThought), ...pageOutput }),
    access: 'read',
    touches: [reads('Checkpoint', 'checkpoint_id'), reads('Checkpoint', 'listed')],
    event: null,
    summary: 'Find thoughts, each with the checkpoint that brought it; of one checkpoint, all that it has.',
    example: { confidence_below: 0.5 },
  }),
  tool_calls: operation({
    method: 'GET',
    path: '/api/v1/tool_calls',
    input: z.strictObject({ ...where, checkpoint_id: anyId.optional(), ...toolFilters, ...pageInput }),
    output: z.object({ tool_calls: z.array(foundToolCall), ...pageOutput }),
    access: 'read',
    touches: [reads('Checkpoint', 'checkpoint_id'), reads('Checkpoint', 'listed')],
    event: null,
    summary: 'Find tool calls, each with the checkpoint that brought it; of one checkpoint, all that it has.',
    example: { tool_success: false },
  }),
  diff: operation({
    method: 'GET',
    path: '/api/v1/checkpoints/{checkpoint_id}/diff',
    input: z.strictObject({ ...byId, to: anyId.describe('The checkpoint to compare with') }),
    output: semanticDiff,
    access: 'read',
    touches: [reads('Checkpoint', 'checkpoint_id'), reads('Checkpoint', 'checkpoint_id', 'to')],
    event: null,
    summary: 'Say what it takes to get from one checkpoint to another.',
    example: { checkpoint_id: A_CHECKPOINT, to: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a61' },
  }),
  restore: operation({
    method: 'POST',
    path: '/api/v1/checkpoints/{checkpoint_id}/restore',
    input: z.strictObject(byId),
    output: checkpoint,
    access: 'write',
    touches: [reads('Checkpoint', 'checkpoint_id'), writes('Checkpoint', 'checkpoint_id')],
    event: 'cairn.execution.restored',
    summary: 'Put an execution back to a checkpoint: what it does next goes on from there.',
    example: { checkpoint_id: A_CHECKPOINT },
  }),
  branch: operation({
    method: 'POST',
    path: '/api/v1/checkpoints/{checkpoint_id}/branch',
    input: z.strictObject({
      ...byId,
      reason: text(2000, 1).describe('Why another way is tried from here'),
      name: name.optional(),
      branch_checkpoint_id: anyId.optional().describe('The id of the new one; made by the server when absent'),
    }),
    output: checkpointSummary,
    access: 'write',
    touches: [writes('Checkpoint', 'checkpoint_id')],
    event: 'cairn.checkpoint.branched',
    status: 201,
    summary: 'Begin a branch: a checkpoint with the same state, from which the execution goes on.',
    example: { checkpoint_id: A_CHECKPOINT, reason: 'try without the cache' },
  }),
  import: operation({
    method: 'POST',
    path: '/api/v1/checkpoints/import',
    input: z.strictObject({ checkpoint: jsonObject.describe('The portable form, of this version or an older one') }),
    output: checkpointSummary,
    access: 'write',
    touches: [makes('Checkpoint')],
    event: 'cairn.checkpoint.imported',
    status: 201,
    large: true,
    summary: 'Bring in a checkpoint file; its execution is made if there is none.',
    example: {
      checkpoint: {
        version: '1.0.0',
        id: 'cp-1',
        timestamp: 0,
        execution_id: 'run-1',
        agent_id: 'coder',
        snapshot: emptySnapshot,
        metadata: { step_number: 1, tokens_used: 0, duration_ms: 0, checkpoint_reason: 'manual' },
      },
    },
  }),
  write: operation({
    method: 'POST',
    path: '/api/v1/checkpoints/{checkpoint_id}/writes',
    input: z.strictObject({
      ...byId,
      execution_id: anyId.optional().describe('Its execution: then the checkpoint may be still to come'),
      writes: z.array(pendingWrite).min(1).max(1000),
    }),
    output: z.object({ checkpoint_id: z.string(), stored: z.int() }),
    access: 'write',
    touches: [writes('Checkpoint', 'checkpoint_id'), writes('Checkpoint', 'execution_id')],
    event: 'cairn.checkpoint.written',
    status: 201,
    summary: 'Keep what steps under way have done since a checkpoint, so that a resumed run need not do it again.',
    example: { checkpoint_id: A_CHECKPOINT, writes: [{ task_id: 'search', index: 0, channel: 'hits', value: [] }] },
  }),
  writes: operation({
    method: 'GET',
    path: '/api/v1/checkpoints/{checkpoint_id}/writes',
    input: z.strictObject(byId),
    output: z.object({ writes: z.array(pendingWrite) }),
    access: 'read',
    touches: [reads('Checkpoint', 'checkpoint_id')],
    event: null,
    summary: 'Read what steps under way had done since a checkpoint.',
    example: { checkpoint_id: A_CHECKPOINT },
  }),
};
