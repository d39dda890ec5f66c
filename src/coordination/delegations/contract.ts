/** Operations on delegations (seed path: /delegations). */
import { z } from 'zod';
import { operation, reads, writes } from '../../engine/contract.js';
import { anyId, instant, jsonObject, pageInput, pageOutput, text, uuid } from '../../kernel/contract.js';
import { handoverChoice } from '../handovers/model.js';
import { actingAgent, agentOfKey, EXAMPLE_ID, newEntityId, READ, reason, WRITE } from '../party-operations.js';
import { delegation, delegationResult, delegationStatus } from './model.js';

const byId = { delegation_id: uuid };

/** A step of a delegation by one of its parties. */
const STEP = { ...WRITE, output: delegation, example: { delegation_id: EXAMPLE_ID } } as const;

export const delegations = {
  create: operation({
    method: 'POST',
    path: '/api/v1/delegations',
    input: z.strictObject({
      delegation_id: uuid.optional().describe(newEntityId),
      from_agent_id: anyId.optional().describe(agentOfKey),
      to_agent_id: anyId,
      trajectory_id: uuid.describe('The delegator’s trajectory: the parent of the task'),
      scope_id: uuid.optional().describe('A scope of the delegator whose turns are packed for the receiver'),
      task_description: text(1_000_000, 1),
      expected_completion: instant.optional().describe('After this it fails. Default: in an hour'),
      context: jsonObject.optional().describe('Further context for the receiver: becomes a card'),
      input_box_ids: z.array(anyId).max(100).optional().describe('Boxes to pack as well'),
      handover: handoverChoice.optional().describe('A recipe or its name. Default: "instruction"'),
      channel_id: anyId.optional(),
    }),
    output: delegation,
    access: 'write',
    touches: ['parties', reads('Turn', 'scope_id'), reads('Card', 'named'), writes('Trajectory', 'trajectory_id')],
    // Creating a delegation gives the turns of a scope away.
    event: 'cairn.delegation.created',
    status: 201,
    summary: 'Offer a task to another agent, which accepts or rejects it.',
    example: {
      from_agent_id: 'planner-1',
      to_agent_id: 'reviewer-1',
      trajectory_id: EXAMPLE_ID,
      task_description: 'Review the patch.',
    },
  }),
  get: operation({
    ...READ,
    path: '/api/v1/delegations/{delegation_id}',
    input: z.strictObject({
      ...byId,
      wait_ms: z.int().min(0).max(60_000).optional().describe('How long to wait for its end. Default: 0'),
    }),
    output: delegation,
    waits: true,
    summary: 'Read a delegation; can wait for its end.',
    example: { delegation_id: EXAMPLE_ID },
  }),
  list: operation({
    ...READ,
    path: '/api/v1/delegations',
    input: z.strictObject({
      from_agent_id: anyId.optional(),
      to_agent_id: anyId.optional(),
      trajectory_id: uuid.optional(),
      status: delegationStatus.optional(),
      ...pageInput,
    }),
    output: z.object({ delegations: z.array(delegation), ...pageOutput }),
    summary: 'List delegations.',
    example: {},
  }),
  accept: operation({
    ...STEP,
    path: '/api/v1/delegations/{delegation_id}/accept',
    input: z.strictObject({ ...byId, agent_id: actingAgent }),
    event: 'cairn.delegation.accepted',
    summary: 'Accept a delegation: creates its trajectory, scope, packed context and agent_turn.',
  }),
  reject: operation({
    ...STEP,
    path: '/api/v1/delegations/{delegation_id}/reject',
    input: z.strictObject({ ...byId, agent_id: actingAgent, reason: reason.optional() }),
    event: 'cairn.delegation.rejected',
    summary: 'Reject a delegation.',
    example: { delegation_id: EXAMPLE_ID, reason: 'Not my field.' },
  }),
  start: operation({
    ...STEP,
    path: '/api/v1/delegations/{delegation_id}/start',
    input: z.strictObject({ ...byId, agent_id: actingAgent }),
    event: 'cairn.delegation.started',
    summary: 'Start work on an accepted delegation.',
  }),
  complete: operation({
    ...STEP,
    path: '/api/v1/delegations/{delegation_id}/complete',
    input: z.strictObject({
      ...byId,
      agent_id: actingAgent,
      result: delegationResult,
      turn_epoch: z.int().min(0).optional().describe('Required while a worker holds its agent_turn'),
    }),
    event: 'cairn.delegation.completed',
    summary: 'End a delegation with its result and artifacts; result status Failure makes it Failed.',
    example: { delegation_id: EXAMPLE_ID, result: { status: 'Success', output: 'Looks good.' } },
  }),
  cancel: operation({
    ...STEP,
    path: '/api/v1/delegations/{delegation_id}/cancel',
    input: z.strictObject({ ...byId, agent_id: actingAgent, reason: reason.optional() }),
    event: 'cairn.delegation.cancelled',
    summary: 'Cancel a delegation, as its delegator.',
  }),
};
