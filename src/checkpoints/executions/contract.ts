/** Operations on executions: runs of agents, and what is asked of a run as a whole. */
import { z } from 'zod';
import { clearable, makes, operation, reads, writes } from '../../engine/contract.js';
import {
  anyId,
  computed,
  jsonObject,
  pageInput,
  pageOutput,
  smallMetadata,
  text,
  uuid,
} from '../../kernel/contract.js';
import { agentFilter, name, timeFilters } from '../../memory/contract.js';
import { MAX_ENTRIES } from '../checkpoints/model.js';
import {
  bundle,
  execution,
  executionStats,
  executionStatus,
  executionTreeNode,
  type LiveItem,
  liveItem,
  pruned,
} from './model.js';

const AN_EXECUTION = 'run-1';
const byId = { execution_id: anyId };
const threadId = text(1000, 1);

const changeable = { name: name.nullish(), status: executionStatus.optional(), metadata: clearable(smallMetadata, {}) };

export const executions = {
  create: operation({
    method: 'POST',
    path: '/api/v1/executions',
    input: z.strictObject({
      ...changeable,
      execution_id: anyId.optional().describe('Made by the server when absent'),
      agent_id: anyId.optional().describe('The agent that runs; that of the key, or "agent", unless given'),
      status: executionStatus.optional().describe('running unless given'),
      trajectory_id: uuid.nullish().describe('The task that it is part of'),
      thread_id: threadId.nullish().describe('The conversation that it belongs to'),
      namespace: text(2000).optional().describe('Its part of the conversation; empty unless given'),
      checkpoints: computed,
      latest_checkpoint_id: computed,
      created_at: computed,
      updated_at: computed,
      finished_at: computed,
    }),
    output: execution,
    access: 'write',
    touches: [makes('Checkpoint', 'trajectory_id')],
    event: 'cairn.execution.created',
    status: 201,
    summary: 'Begin a run whose states are to be kept.',
    example: { agent_id: 'coder', name: 'Fix the login' },
  }),
  get: operation({
    method: 'GET',
    path: '/api/v1/executions/{execution_id}',
    input: z.strictObject(byId),
    output: execution,
    access: 'read',
    touches: [reads('Checkpoint', 'execution_id')],
    event: null,
    summary: 'Read one execution.',
    example: { execution_id: AN_EXECUTION },
  }),
  list: operation({
    method: 'GET',
    path: '/api/v1/executions',
    input: z.strictObject({
      status: executionStatus.optional(),
      agent_id: agentFilter,
      trajectory_id: uuid.optional(),
      thread_id: threadId.optional(),
      namespace: text(2000).optional(),
      ...timeFilters,
      ...pageInput,
    }),
    output: z.object({ executions: z.array(execution), ...pageOutput }),
    access: 'read',
    touches: [reads('Checkpoint', 'listed')],
    event: null,
    summary: 'List executions, in the order of their ids.',
    example: { status: 'running' },
  }),
  update: operation({
    method: 'PATCH',
    path: '/api/v1/executions/{execution_id}',
    input: z.strictObject({ ...byId, ...changeable }),
    output: execution,
    access: 'write',
    touches: [writes('Checkpoint', 'execution_id')],
    event: 'cairn.execution.updated',
    summary: 'Change an execution: pause it, end it, take it up again.',
    example: { execution_id: AN_EXECUTION, status: 'completed' },
  }),
  delete: operation({
    method: 'DELETE',
    path: '/api/v1/executions/{execution_id}',
    input: z.strictObject({ ...byId, wait: z.boolean().optional().describe('Wait until the content is erased') }),
    output: z.void(),
    access: 'write',
    touches: [writes('Checkpoint', 'execution_id')],
    event: 'cairn.execution.deleted',
    status: 204,
    summary: 'Delete an execution with all its checkpoints, for good.',
    example: { execution_id: AN_EXECUTION },
  }),
  tree: operation({
    method: 'GET',
    path: '/api/v1/executions/{execution_id}/tree',
    input: z.strictObject(byId),
    output: z.object({
      execution_id: z.string(),
      latest_checkpoint_id: z.string().nullable(),
      roots: z.array(z.string()),
      nodes: z
        .array(executionTreeNode)
        .max(MAX_ENTRIES)
        .describe('From the first to the newest; a parent stands before its children'),
    }),
    access: 'read',
    touches: [reads('Checkpoint', 'execution_id')],
    event: null,
    summary: 'Read how the checkpoints of an execution descend from each other.',
    example: { execution_id: AN_EXECUTION },
  }),
  stats: operation({
    method: 'GET',
    path: '/api/v1/executions/{execution_id}/stats',
    input: z.strictObject(byId),
    output: executionStats,
    access: 'read',
    touches: [reads('Checkpoint', 'execution_id')],
    event: null,
    summary: 'Say what a run used: tools with their times and failures, tokens, confidence over its steps.',
    example: { execution_id: AN_EXECUTION },
  }),
  prune: operation({
    method: 'POST',
    path: '/api/v1/executions/{execution_id}/prune',
    input: z.strictObject({
      ...byId,
      keep_newest: z.int().min(1).max(MAX_ENTRIES).optional().describe('The newest so many; 1 unless given'),
      keep_daily: z.boolean().optional().describe('The last of every day, in UTC'),
      keep_branch_points: z.boolean().optional().describe('Those that have several children; true unless given'),
      keep_named: z.boolean().optional().describe('Those with a name; true unless given'),
      dry_run: z.boolean().optional().describe('Only say what it would remove'),
    }),
    output: pruned,
    access: 'write',
    touches: [writes('Checkpoint', 'execution_id')],
    event: 'cairn.execution.pruned',
    summary: 'Remove checkpoints that nothing asks to keep; what stays descends from what stays.',
    example: { execution_id: AN_EXECUTION, keep_newest: 10 },
  }),
  live: operation({
    method: 'GET',
    path: '/api/v1/executions/{execution_id}/live',
    input: z.strictObject({
      ...byId,
      after: z
        .string()
        .max(100)
        .optional()
        .describe(
          'Resume token of the last item seen: if the run stands where it stood then, only what is new follows; else its whole state comes first again',
        ),
    }),
    output: liveItem,
    access: 'read',
    touches: [reads('Checkpoint', 'execution_id')],
    event: null,
    stream: true,
    frames: {
      toFrame: (item) => {
        const { checkpoint, snapshot, from_checkpoint_id, changes } = item as LiveItem;
        if (snapshot) return { event: 'snapshot', data: { checkpoint, snapshot } };
        return changes && { event: 'changes', data: { checkpoint, from_checkpoint_id, changes } };
      },
      toItem: (token, frame) => ({
        token,
        checkpoint: null,
        snapshot: null,
        from_checkpoint_id: null,
        changes: null,
        ...(frame?.data as object | undefined),
      }),
    },
    summary: 'Watch a run: its state once, then what each checkpoint changed.',
    example: { execution_id: AN_EXECUTION },
  }),
  export: operation({
    method: 'GET',
    path: '/api/v1/executions/{execution_id}/bundle',
    input: z.strictObject(byId),
    output: bundle,
    access: 'read',
    touches: [reads('Checkpoint', 'execution_id')],
    event: null,
    summary: 'Read a whole execution with all its branches, to carry it to another store.',
    example: { execution_id: AN_EXECUTION },
  }),
  import: operation({
    method: 'POST',
    path: '/api/v1/executions/import',
    input: z.strictObject({ bundle: jsonObject.describe('What executions.export gave') }),
    output: execution,
    access: 'write',
    touches: [makes('Checkpoint')],
    event: 'cairn.execution.imported',
    status: 201,
    large: true,
    summary: 'Bring in an execution that was exported elsewhere.',
    example: {
      bundle: {
        format: 'cairn.execution',
        version: '1.0.0',
        execution: { execution_id: AN_EXECUTION, agent_id: 'coder', status: 'paused', created_at: 0 },
        checkpoints: [],
      },
    },
  }),
};
