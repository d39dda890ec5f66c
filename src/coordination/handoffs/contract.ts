/** Operations on handoffs (seed path: /handoffs). */
import { z } from 'zod';
import { operation, reads, writes } from '../../engine/contract.js';
import { anyId, pageInput, pageOutput, uuid } from '../../kernel/contract.js';
import { contextState } from '../../memory/contract.js';
import { AN_ID, actingAgent, ofHandoff, reason } from '../delegations/contract.js';
import { handoff, handoffStatus, hints } from './model.js';

export const handoffs = {
  create: operation({
    method: 'POST',
    path: '/api/v1/handoffs',
    input: z.strictObject({
      handoff_id: uuid.optional().describe('Made by the server when absent'),
      from_agent_id: anyId.optional().describe('Default: the agent of the key'),
      to_agent_id: anyId,
      trajectory_id: uuid,
      scope_id: uuid.optional().describe('The scope that is packed for the other, and closed'),
      reason: reason.optional().describe('Free text, or such as Escalation, Specialization, LoadBalancing'),
      next_steps: hints.optional(),
      blockers: hints.optional(),
      open_questions: hints.optional(),
      context_snapshot: contextState
        .optional()
        .describe('Any bytes, as base64 or as a list of bytes; answered as base64'),
    }),
    output: handoff,
    access: 'write',
    touches: ['parties', reads('Turn', 'scope_id'), writes('Turn', 'scope_id'), writes('Trajectory', 'trajectory_id')],
    // The turns of a scope are given away, and the scope is closed by that.
    event: 'cairn.handoff.created',
    status: 201,
    summary: 'Offer a trajectory to another agent, which takes it over by accepting.',
    example: { from_agent_id: 'planner-1', to_agent_id: 'reviewer-1', trajectory_id: AN_ID, reason: 'Escalation' },
  }),
  get: operation({
    method: 'GET',
    path: '/api/v1/handoffs/{handoff_id}',
    input: z.strictObject(ofHandoff),
    output: handoff,
    access: 'read',
    touches: 'parties',
    event: null,
    summary: 'Read a handoff.',
    example: { handoff_id: AN_ID },
  }),
  list: operation({
    method: 'GET',
    path: '/api/v1/handoffs',
    input: z.strictObject({
      from_agent_id: anyId.optional(),
      to_agent_id: anyId.optional(),
      trajectory_id: uuid.optional(),
      status: handoffStatus.optional(),
      ...pageInput,
    }),
    output: z.object({ handoffs: z.array(handoff), ...pageOutput }),
    access: 'read',
    touches: 'parties',
    event: null,
    summary: 'List handoffs.',
    example: {},
  }),
  accept: operation({
    method: 'POST',
    path: '/api/v1/handoffs/{handoff_id}/accept',
    input: z.strictObject({ ...ofHandoff, agent_id: actingAgent }),
    output: handoff,
    access: 'write',
    touches: 'parties',
    event: 'cairn.handoff.accepted',
    summary: 'Take a trajectory over: it is the new agent’s from now on, and the former one cannot write in it.',
    example: { handoff_id: AN_ID },
  }),
  reject: operation({
    method: 'POST',
    path: '/api/v1/handoffs/{handoff_id}/reject',
    input: z.strictObject({ ...ofHandoff, agent_id: actingAgent, reason: reason.optional() }),
    output: handoff,
    access: 'write',
    touches: 'parties',
    event: 'cairn.handoff.rejected',
    summary: 'Reject a handoff: nothing moves.',
    example: { handoff_id: AN_ID },
  }),
  complete: operation({
    method: 'POST',
    path: '/api/v1/handoffs/{handoff_id}/complete',
    input: z.strictObject({ ...ofHandoff, agent_id: actingAgent }),
    output: handoff,
    access: 'write',
    touches: 'parties',
    event: 'cairn.handoff.completed',
    summary: 'Say that the new agent has settled in.',
    example: { handoff_id: AN_ID },
  }),
};
