/** A delegation: a task for another agent, with its own trajectory. */
import { z } from 'zod';
import { instant, jsonObject, jsonValue, text, uuid } from '../../kernel/contract.js';

export const delegationStatus = z.enum([
  'Pending',
  'Accepted',
  'Rejected',
  'InProgress',
  'Completed',
  'Failed',
  'Cancelled',
]);
export type DelegationStatus = z.output<typeof delegationStatus>;

/** A delegation without expected_completion fails after this. */
export const STUCK_AFTER_MS = 3_600_000;

export const delegationResult = z
  .strictObject({
    status: z.enum(['Success', 'Partial', 'Failure']),
    output: jsonValue.optional(),
    artifacts: z.array(uuid).max(1000).optional(),
    error: text(20_000).nullish(),
  })
  .meta({ id: 'DelegationResult' });
export type DelegationResult = z.output<typeof delegationResult>;

export const delegation = z
  .object({
    delegation_id: z.string(),
    from_agent_id: z.string().nullable(),
    to_agent_id: z.string(),
    trajectory_id: z.string().nullable().describe('The trajectory of the delegator'),
    scope_id: z.string().nullable(),
    child_trajectory_id: z.string().nullable().describe('Created when it is accepted'),
    child_scope_id: z.string().nullable(),
    agent_turn_id: z.string().nullable(),
    status: delegationStatus,
    task_description: z.string().nullable(),
    context: jsonObject.nullable(),
    expected_completion: instant.nullable(),
    result: delegationResult.nullable(),
    reason: z.string().nullable().describe('Why it was rejected or cancelled, or failed'),
    channel_id: z.string().nullable(),
    created_at: instant,
    updated_at: instant,
    accepted_at: instant.nullable(),
    ended_at: instant.nullable(),
  })
  .meta({ id: 'Delegation' });
export type Delegation = z.output<typeof delegation>;
