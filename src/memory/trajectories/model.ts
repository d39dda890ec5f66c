/** A trajectory: a task and its outcome. It contains scopes, turns and artifacts. */
import { z } from 'zod';
import { instant, jsonObject, subjectsShown, text, uuid } from '../../kernel/contract.js';

export const trajectoryStatus = z.enum(['Active', 'Completed', 'Failed', 'Suspended']);
export type TrajectoryStatus = z.output<typeof trajectoryStatus>;

const outcomeStatus = z.enum(['Success', 'Partial', 'Failure']);
const produced = z.array(uuid).max(1000);

export const outcomeInput = z.strictObject({
  status: outcomeStatus.optional().describe('Default: Success if Completed, Failure if Failed'),
  summary: text(20_000).optional().describe('What was accomplished'),
  produced_artifacts: produced.optional().describe('Default: the artifacts of the trajectory'),
  produced_notes: produced.optional().describe('Default: the notes derived from the trajectory'),
});
export type OutcomeInput = z.output<typeof outcomeInput>;

export const outcome = z
  .object({
    status: outcomeStatus,
    summary: z.string(),
    produced_artifacts: z.array(z.string()),
    produced_notes: z.array(z.string()),
  })
  .meta({ id: 'Outcome' });
export type Outcome = z.output<typeof outcome>;

export const trajectory = z
  .object({
    trajectory_id: z.string(),
    tenant_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    status: trajectoryStatus,
    parent_trajectory_id: z.string().nullable(),
    agent_id: z.string().nullable(),
    subject_ids: subjectsShown,
    outcome: outcome.nullable().describe('Recorded when it is Completed or Failed'),
    metadata: jsonObject,
    created_at: instant,
    updated_at: instant,
    finished_at: instant.nullable(),
  })
  .meta({ id: 'Trajectory' });
export type Trajectory = z.output<typeof trajectory>;
