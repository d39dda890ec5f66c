/** Operations that pack contexts and dispatch tasks to other agents (seed paths: /projects/{project_id}/pmo). */
import { z } from 'zod';
import { makes, operation, reads, writes } from '../../engine/contract.js';
import { anyId, profileName, uuid } from '../../kernel/contract.js';
import { batch, dispatchAnswer, waitMs } from '../agent-turns/model.js';
import { handoverChoice } from '../handovers/model.js';
import { EXAMPLE_ID, READ } from '../party-operations.js';
import { instruction, packArguments, packed, task } from './model.js';

/** Packing creates cards from cards that the packing agent may read. */
const PACKING = [makes('Card'), reads('Card', 'named')] as const;
/** The task gets a child of the named trajectory. */
const DISPATCHING = ['parties', ...PACKING, writes('Trajectory', 'trajectory_id')] as const;

const onBehalf = {
  source_agent_id: anyId.optional().describe('The delegator. Default: the agent of the key or of the agent_turn'),
  trajectory_id: uuid.optional().describe('The parent of the task. Default: the trajectory of the agent_turn'),
  handover: handoverChoice.optional().describe('A recipe or its name. Default: "instruction"'),
  channel_id: anyId.optional().describe('Copied to the agent_turn and its events, for routing'),
};

const DISPATCH = { method: 'POST', access: 'write', touches: DISPATCHING } as const;

export const pmo = {
  pack_context: operation({
    method: 'POST',
    path: '/projects/{project_id}/pmo/pack_context',
    input: z.strictObject({
      tool_suffix: anyId.describe('The author of the new cards'),
      source_agent_id: anyId.describe('The packing agent, named by the parent pointer'),
      arguments: packArguments,
      handover: handoverChoice,
    }),
    output: packed,
    access: 'write',
    touches: ['parties', ...PACKING],
    event: 'cairn.context.packed',
    status: 201,
    summary: 'Pack a context into a sealed box: cards of arguments, cards of boxes, a pointer to the parent.',
    example: {
      tool_suffix: 'delegate',
      source_agent_id: 'planner-1',
      arguments: { profile_name: 'researcher', instruction: 'Look it up.' },
      handover: 'instruction',
    },
  }),
  delegate_async: operation({
    ...DISPATCH,
    path: '/projects/{project_id}/pmo/delegate_async',
    input: z.strictObject({
      ...task.shape,
      ...onBehalf,
      deadline_seconds: z.int().min(1).max(604_800).optional().describe('After this the agent_turn is timed_out'),
    }),
    output: dispatchAnswer,
    event: 'cairn.agent_turn.dispatched',
    summary: 'Delegate a task to an agent: pack its context and dispatch an agent_turn.',
    example: { target_strategy: 'new', target_ref: 'researcher', instruction: 'Look it up.' },
  }),
  fork_join: operation({
    ...DISPATCH,
    path: '/projects/{project_id}/pmo/fork_join',
    input: z.strictObject({
      tasks: z.array(task).min(1).max(8),
      fail_fast: z.boolean().optional().describe('Stop the other tasks when one fails'),
      deadline_seconds: z.int().min(1).max(604_800).optional().describe('Default: 900'),
      ...onBehalf,
    }),
    output: z.union([
      z.object({
        status: z.literal('accepted'),
        batch_id: z.string(),
        task_count: z.int(),
        agent_turn_ids: z.array(z.string()),
        deadline_at: z.string(),
      }),
      z.object({
        status: z.enum(['busy', 'rejected']),
        error_code: z.string(),
        message: z.string(),
        task_index: z.int(),
      }),
    ]),
    event: 'cairn.batch.dispatched',
    summary: 'Dispatch several tasks in parallel. All are checked before any is dispatched.',
    example: { tasks: [{ target_strategy: 'new', target_ref: 'researcher', instruction: 'Look it up.' }] },
  }),
  batch: operation({
    ...READ,
    path: '/projects/{project_id}/pmo/batches/{batch_id}',
    input: z.strictObject({ batch_id: uuid, wait_ms: waitMs.optional() }),
    output: batch,
    waits: true,
    summary: 'Read the status and results of a fork_join batch; can wait for its end.',
    example: { batch_id: EXAMPLE_ID },
  }),
  launch_principal: operation({
    ...DISPATCH,
    path: '/projects/{project_id}/pmo/launch_principal',
    input: z.strictObject({ profile_name: profileName, instruction, ...onBehalf }),
    output: dispatchAnswer,
    event: 'cairn.agent_turn.dispatched',
    summary: 'Start the leading agent of a task: a new agent from a profile.',
    example: { profile_name: 'researcher', instruction: 'Look it up.' },
  }),
  ask_expert: operation({
    ...DISPATCH,
    path: '/projects/{project_id}/pmo/ask_expert',
    input: z.strictObject({
      profile_name: profileName,
      question: instruction,
      include_history: z.boolean().optional().describe('Include the output of the asking agent so far'),
      ...onBehalf,
    }),
    output: dispatchAnswer,
    event: 'cairn.agent_turn.dispatched',
    summary: 'Ask a new agent created from a profile, with or without the history of the asking agent.',
    example: { profile_name: 'researcher', question: 'What is it?' },
  }),
};
