/** Operations that hand context to other agents (seed paths: /projects/{project_id}/pmo). */
import { z } from 'zod';
import { makes, operation, reads, writes } from '../../engine/contract.js';
import { anyId, profileName, text, uuid } from '../../kernel/contract.js';
import { batch, dispatchAnswer, waitMs } from '../agent-turns/model.js';
import { handoverChoice } from '../handovers/model.js';
import { packArguments, packed } from './model.js';

const instruction = text(1_000_000, 1);
const strategy = z
  .enum(['new', 'reuse', 'clone'])
  .describe(
    'new: an agent from the profile target_ref; reuse: the agent target_ref; clone: an agent like it, that goes on from its output if the delegator may read that',
  );
const inputBoxes = z.array(anyId).max(100).describe('Boxes whose cards are inherited, in this order');

/** What is packed is new cards, made of cards that the packing agent may read. */
const PACKING = [makes('Card'), reads('Card', 'named')] as const;
/** The task gets a child of the trajectory that is named. */
const DISPATCHING = ['parties', ...PACKING, writes('Trajectory', 'trajectory_id')] as const;

/** What all of them take: on whose behalf, and where the answer goes. */
const onBehalf = {
  source_agent_id: anyId.optional().describe('Who delegates: the agent of the key or of the agent_turn unless given'),
  trajectory_id: uuid.optional().describe('What the task is a part of: the trajectory of the agent_turn unless given'),
  handover: handoverChoice.optional().describe('A recipe, or the name of one; "instruction" unless given'),
  channel_id: anyId.optional().describe('Travels along, for routing'),
};

const target = {
  target_strategy: strategy,
  target_ref: anyId
    .optional()
    .describe('A profile for new, an agent for reuse and clone; a clone without it is one of the delegator'),
  instruction,
  context_box_id: anyId.optional().describe('A box whose cards are inherited first'),
  input_box_ids: inputBoxes.optional(),
  arguments: packArguments.optional().describe('Further arguments that the recipe packs'),
};

export const task = z.strictObject(target);

export const pmo = {
  pack_context: operation({
    method: 'POST',
    path: '/projects/{project_id}/pmo/pack_context',
    input: z.strictObject({
      tool_suffix: anyId.describe('The author of the cards that are made'),
      source_agent_id: anyId.describe('Who packs, and whom the parent pointer names'),
      arguments: packArguments,
      handover: handoverChoice,
    }),
    output: packed,
    access: 'write',
    touches: ['parties', ...PACKING],
    event: 'cairn.context.packed',
    status: 201,
    summary: 'Pack a context: cards of arguments, the cards of boxes, a pointer to the parent. The box is sealed.',
    example: {
      tool_suffix: 'delegate',
      source_agent_id: 'planner-1',
      arguments: { profile_name: 'researcher', instruction: 'Look it up.' },
      handover: 'instruction',
    },
  }),
  delegate_async: operation({
    method: 'POST',
    path: '/projects/{project_id}/pmo/delegate_async',
    input: z.strictObject({
      ...target,
      ...onBehalf,
      deadline_seconds: z.int().min(1).max(604_800).optional().describe('After which it is timed_out'),
    }),
    output: dispatchAnswer,
    access: 'write',
    touches: DISPATCHING,
    event: 'cairn.agent_turn.dispatched',
    summary: 'Have an agent do something: packs its context and dispatches an agent_turn.',
    example: { target_strategy: 'new', target_ref: 'researcher', instruction: 'Look it up.' },
  }),
  fork_join: operation({
    method: 'POST',
    path: '/projects/{project_id}/pmo/fork_join',
    input: z.strictObject({
      tasks: z.array(task).min(1).max(8),
      fail_fast: z.boolean().optional().describe('Stop the others when one fails'),
      deadline_seconds: z.int().min(1).max(604_800).optional().describe('900 unless given'),
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
    access: 'write',
    touches: DISPATCHING,
    event: 'cairn.batch.dispatched',
    summary: 'Have several agents work at once. All tasks are checked before any is dispatched.',
    example: { tasks: [{ target_strategy: 'new', target_ref: 'researcher', instruction: 'Look it up.' }] },
  }),
  batch: operation({
    method: 'GET',
    path: '/projects/{project_id}/pmo/batches/{batch_id}',
    input: z.strictObject({ batch_id: uuid, wait_ms: waitMs.optional() }),
    output: batch,
    access: 'read',
    touches: 'parties',
    event: null,
    waits: true,
    summary: 'Read how the tasks of a fork_join stand; waits for their end if asked to.',
    example: { batch_id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' },
  }),
  launch_principal: operation({
    method: 'POST',
    path: '/projects/{project_id}/pmo/launch_principal',
    input: z.strictObject({ profile_name: profileName, instruction, ...onBehalf }),
    output: dispatchAnswer,
    access: 'write',
    touches: DISPATCHING,
    event: 'cairn.agent_turn.dispatched',
    summary: 'Start the agent that leads a task: a new one, from a profile.',
    example: { profile_name: 'researcher', instruction: 'Look it up.' },
  }),
  ask_expert: operation({
    method: 'POST',
    path: '/projects/{project_id}/pmo/ask_expert',
    input: z.strictObject({
      profile_name: profileName,
      question: instruction,
      include_history: z.boolean().optional().describe('Give the expert what the asking agent has put out so far'),
      ...onBehalf,
    }),
    output: dispatchAnswer,
    access: 'write',
    touches: DISPATCHING,
    event: 'cairn.agent_turn.dispatched',
    summary: 'Ask a new agent made from a profile, with or without the history of who asks.',
    example: { profile_name: 'researcher', question: 'What is it?' },
  }),
};
