/** Operations on handoffs (seed path: /handoffs). */
import { z } from 'zod';
import { operation, reads, writes } from '../../engine/contract.js';
import { anyId, pageInput, pageOutput, uuid } from '../../kernel/contract.js';
import { contextState } from '../../memory/contract.js';
import { actingAgent, agentOfKey, EXAMPLE_ID, newEntityId, READ, reason, WRITE } from '../party-operations.js';
import { handoff, handoffStatus, hints } from './model.js';

const byId = { handoff_id: uuid };

/** A step of a handoff by one of its parties. */
const STEP = { ...WRITE, output: handoff, example: { handoff_id: EXAMPLE_ID } } as const;

export const handoffs = {
  create: operation({
    method: 'POST',
    path: '/api/v1/handoffs',
    input: z.strictObject({
      handoff_id: uuid.optional().describe(newEntityId),
      from_agent_id: anyId.optional().describe(agentOfKey),
      to_agent_id: anyId,
      trajectory_id: uuid,
      scope_id: uuid.optional().describe('The scope that is packed for the receiver and closed'),
      reason: reason.optional().describe('Free text, such as Escalation, Specialization or LoadBalancing'),
      next_steps: hints.optional(),
      blockers: hints.optional(),
      open_questions: hints.optional(),
      context_snapshot: contextState.optional().describe('Bytes, as base64 or a list of bytes; answered as base64'),
    }),
    output: handoff,
    access: 'write',
    touches: ['parties', reads('Turn', 'scope_id'), writes('Turn', 'scope_id'), writes('Trajectory', 'trajectory_id')],
    // Accepting gives the turns of the scope away and closes it.
    event: 'cairn.handoff.created',
    status: 201,
    summary: 'Offer a trajectory to another agent, which takes it over by accepting.',
    example: { from_agent_id: 'planner-1', to_agent_id: 'reviewer-1', trajectory_id: EXAMPLE_ID, reason: 'Escalation' },
  }),
  get: operation({
    ...READ,
    path: '/api/v1/handoffs/{handoff_id}',
    input: z.strictObject(byId),
    output: handoff,
    summary: 'Read a handoff.',
    example: { handoff_id: EXAMPLE_ID },
  }),
  list: operation({
    ...READ,
    path: '/api/v1/handoffs',
    input: z.strictObject({
      from_agent_id: anyId.optional(),
      to_agent_id: anyId.optional(),
      trajectory_id: uuid.optional(),
      status: handoffStatus.optional(),
      ...pageInput,
    }),
    output: z.object({ handoffs: z.array(handoff), ...pageOutput }),
    summary: 'List handoffs.',
    example: {},
  }),
  accept: operation({
    ...STEP,
    path: '/api/v1/handoffs/{handoff_id}/accept',
    input: z.strictObject({ ...byId, agent_id: actingAgent }),
    event: 'cairn.handoff.accepted',
    summary: 'Take over a trajectory: its former owner can no longer write in it.',
  }),
  reject: operation({
    ...STEP,
    path: '/api/v1/handoffs/{handoff_id}/reject',
    input: z.strictObject({ ...byId, agent_id: actingAgent, reason: reason.optional() }),
    event: 'cairn.handoff.rejected',
    summary: 'Reject a handoff: the trajectory keeps its owner.',
  }),
  complete: operation({
    ...STEP,
    path: '/api/v1/handoffs/{handoff_id}/complete',
    input: z.strictObject({ ...byId, agent_id: actingAgent }),
    event: 'cairn.handoff.completed',
    summary: 'Confirm that the receiver has taken over.',
  }),
};
