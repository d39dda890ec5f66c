/** Operations on delegations and handoffs (seed paths: /delegations and /handoffs). */
import { z } from 'zod';
import { operation, reads, writes } from '../../engine/contract.js';
import { anyId, instant, jsonObject, pageInput, pageOutput, text, uuid } from '../../kernel/contract.js';
import { handoverChoice } from '../handovers/model.js';
import { delegation, delegationResult, delegationStatus } from './model.js';
export const AN_ID = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const ofDelegation = { delegation_id: uuid };
export const ofHandoff = { handoff_id: uuid };
export const actingAgent = anyId
  .optional()
  .describe('Who says so: the agent of the key, or the one it is for, unless given');
export const reason = text(20_000);

export const delegations = {
  create: operation({
    method: 'POST',
    path: '/api/v1/delegations',
    input: z.strictObject({
      delegation_id: uuid.optional().describe('Made by the server when absent'),
      from_agent_id: anyId.optional().describe('Default: the agent of the key'),
      to_agent_id: anyId,
      trajectory_id: uuid.describe('The delegator’s, which the task becomes a part of'),
      scope_id: uuid.optional().describe('The delegator’s: what is in it is packed for the other'),
      task_description: text(1_000_000, 1),
      expected_completion: instant
        .optional()
        .describe('It fails when it is not done by then; after an hour unless given'),
      context: jsonObject.optional().describe('What else the other should know: becomes a card'),
      input_box_ids: z.array(anyId).max(100).optional().describe('Boxes that are packed as well'),
      handover: handoverChoice.optional().describe('A recipe, or the name of one; "instruction" unless given'),
      channel_id: anyId.optional(),
    }),
    output: delegation,
    access: 'write',
    touches: ['parties', reads('Turn', 'scope_id'), reads('Card', 'named'), writes('Trajectory', 'trajectory_id')],
    // The turns of a scope are given away.
    event: 'cairn.delegation.created',
    status: 201,
    summary: 'Offer a task to another agent, which accepts or rejects it.',
    example: {
      from_agent_id: 'planner-1',
      to_agent_id: 'reviewer-1',
      trajectory_id: AN_ID,
      task_description: 'Review the patch.',
    },
  }),
  get: operation({
    method: 'GET',
    path: '/api/v1/delegations/{delegation_id}',
    input: z.strictObject({
      ...ofDelegation,
      wait_ms: z.int().min(0).max(60_000).optional().describe('How long to wait for its end'),
    }),
    output: delegation,
    access: 'read',
    touches: 'parties',
    event: null,
    waits: true,
    summary: 'Read a delegation; waits for its end if asked to.',
    example: { delegation_id: AN_ID },
  }),
  list: operation({
    method: 'GET',
    path: '/api/v1/delegations',
    input: z.strictObject({
      from_agent_id: anyId.optional(),
      to_agent_id: anyId.optional(),
      trajectory_id: uuid.optional(),
      status: delegationStatus.optional(),
      ...pageInput,
    }),
    output: z.object({ delegations: z.array(delegation), ...pageOutput }),
    access: 'read',
    touches: 'parties',
    event: null,
    summary: 'List delegations.',
    example: {},
  }),
  accept: operation({
    method: 'POST',
    path: '/api/v1/delegations/{delegation_id}/accept',
    input: z.strictObject({ ...ofDelegation, agent_id: actingAgent }),
    output: delegation,
    access: 'write',
    touches: 'parties',
    event: 'cairn.delegation.accepted',
    summary: 'Accept a delegation: makes the child trajectory and scope, and the packed context.',
    example: { delegation_id: AN_ID },
  }),
  reject: operation({
    method: 'POST',
    path: '/api/v1/delegations/{delegation_id}/reject',
    input: z.strictObject({ ...ofDelegation, agent_id: actingAgent, reason: reason.optional() }),
    output: delegation,
    access: 'write',
    touches: 'parties',
    event: 'cairn.delegation.rejected',
    summary: 'Reject a delegation.',
    example: { delegation_id: AN_ID, reason: 'Not my field.' },
  }),
  start: operation({
    method: 'POST',
    path: '/api/v1/delegations/{delegation_id}/start',
    input: z.strictObject({ ...ofDelegation, agent_id: actingAgent }),
    output: delegation,
    access: 'write',
    touches: 'parties',
    event: 'cairn.delegation.started',
    summary: 'Say that work on an accepted delegation has begun.',
    example: { delegation_id: AN_ID },
  }),
  complete: operation({
    method: 'POST',
    path: '/api/v1/delegations/{delegation_id}/complete',
    input: z.strictObject({
      ...ofDelegation,
      agent_id: actingAgent,
      result: delegationResult,
      turn_epoch: z.int().min(0).optional().describe('Needed while a worker holds its agent_turn'),
    }),
    output: delegation,
    access: 'write',
    touches: 'parties',
    event: 'cairn.delegation.completed',
    summary: 'End a delegation with its result and artifacts. A Failure makes it Failed.',
    example: { delegation_id: AN_ID, result: { status: 'Success', output: 'Looks good.' } },
  }),
  cancel: operation({
    method: 'POST',
    path: '/api/v1/delegations/{delegation_id}/cancel',
    input: z.strictObject({ ...ofDelegation, agent_id: actingAgent, reason: reason.optional() }),
    output: delegation,
    access: 'write',
    touches: 'parties',
    event: 'cairn.delegation.cancelled',
    summary: 'Take a delegation back: by its delegator.',
    example: { delegation_id: AN_ID },
  }),
};
