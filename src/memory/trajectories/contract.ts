/** Operations on trajectories (seed path: /trajectories). */
import { z } from 'zod';
import { clearable, ofUser, operation, reads, writes } from '../../engine/contract.js';
import {
  anyId,
  computed,
  initialValue,
  pageInput,
  pageOutput,
  smallMetadata,
  subjectIds,
  text,
  uuid,
} from '../../kernel/contract.js';
import { scope } from '../scopes/model.js';
import { batchInput } from '../versions/contract.js';
import { agentFilter, batchResult, name, namePrefix, READ, timeFilters } from '../versions/model.js';
import { outcomeInput, trajectory, trajectoryStatus } from './model.js';

const A_TRAJECTORY = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const byId = { trajectory_id: uuid };

const createInput = z.strictObject({
  trajectory_id: uuid.optional().describe('Default: a new id'),
  name,
  description: text(20_000).nullish(),
  parent_trajectory_id: uuid.nullish().describe('The parent task'),
  agent_id: anyId.nullish().describe('Owner; default: the agent of the key'),
  subject_ids: subjectIds.optional(),
  metadata: smallMetadata.optional(),
  tenant_id: computed,
  status: initialValue('Active'),
  outcome: initialValue(null),
  created_at: computed,
  updated_at: computed,
  finished_at: initialValue(null),
});
export type TrajectoryInput = z.output<typeof createInput>;

const updateInput = z.strictObject({
  name: name.optional(),
  description: text(20_000).nullish(),
  status: trajectoryStatus.optional(),
  outcome: outcomeInput.optional().describe('Only with the status Completed or Failed'),
  metadata: clearable(smallMetadata, {}),
});
export type TrajectoryPatch = z.output<typeof updateInput>;

const node = z.object({
  kind: z.enum(['trajectory', 'scope', 'artifact', 'note']),
  id: z.string(),
  depth: z.int().describe('0 for the requested trajectory'),
  name: z.string(),
  status: z.string().describe('Status of a trajectory; active or closed for a scope; type of an artifact or note'),
  token_budget: z.int().nullable(),
  tokens_used: z.int().nullable(),
  turns: z.int().nullable(),
});

export const trajectories = {
  create: operation({
    method: 'POST',
    path: '/api/v1/trajectories',
    input: createInput,
    output: trajectory,
    access: 'write',
    touches: [ofUser(writes('Trajectory', 'trajectory_id', 'parent_trajectory_id'), 'shared')],
    event: 'cairn.trajectory.created',
    status: 201,
    summary: 'Start a task, or a part of one.',
    example: { name: 'Fix bug #123' },
  }),
  get: operation({
    ...READ,
    path: '/api/v1/trajectories/{trajectory_id}',
    input: z.strictObject(byId),
    output: trajectory,
    touches: [reads('Trajectory', 'trajectory_id')],
    summary: 'Read one trajectory.',
    example: { trajectory_id: A_TRAJECTORY },
  }),
  list: operation({
    ...READ,
    path: '/api/v1/trajectories',
    input: z.strictObject({
      status: trajectoryStatus.optional(),
      agent_id: agentFilter,
      parent_id: uuid.optional().describe('Only the children of this trajectory'),
      top_level: z.boolean().optional().describe('Only trajectories without a parent'),
      name: namePrefix,
      ...timeFilters,
      ...pageInput,
    }),
    output: z.object({ trajectories: z.array(trajectory), ...pageOutput }),
    touches: [reads('Trajectory', 'listed')],
    summary: 'List trajectories, in the order of their ids.',
    example: { status: 'Active' },
  }),
  update: operation({
    method: 'PATCH',
    path: '/api/v1/trajectories/{trajectory_id}',
    input: updateInput.extend(byId),
    output: trajectory,
    access: 'write',
    touches: [writes('Trajectory', 'trajectory_id'), reads('Artifact', 'named'), reads('Note', 'named')],
    event: 'cairn.trajectory.updated',
    summary: 'Update a trajectory, or finish it: Completed and Failed close its scopes and record the outcome.',
    example: { trajectory_id: A_TRAJECTORY, description: 'The login fails for long names' },
  }),
  delete: operation({
    method: 'DELETE',
    path: '/api/v1/trajectories/{trajectory_id}',
    input: z.strictObject({ ...byId, wait: z.boolean().optional().describe('Wait until the content is erased') }),
    output: z.void(),
    access: 'write',
    touches: [
      writes('Trajectory', 'trajectory_id'),
      writes('Turn', 'trajectory_id'),
      writes('Artifact', 'trajectory_id'),
      writes('Checkpoint', 'trajectory_id'),
    ],
    event: 'cairn.trajectory.deleted',
    status: 204,
    summary: 'Delete a trajectory with its scopes, turns, artifacts and children. Notes stay.',
    example: { trajectory_id: A_TRAJECTORY },
  }),
  scopes: operation({
    ...READ,
    path: '/api/v1/trajectories/{trajectory_id}/scopes',
    input: z.strictObject({ ...byId, ...pageInput }),
    output: z.object({ scopes: z.array(scope), ...pageOutput }),
    touches: [reads('Trajectory', 'trajectory_id'), reads('Scope', 'listed'), reads('Turn', 'listed')],
    summary: 'List the scopes of a trajectory.',
    example: { trajectory_id: A_TRAJECTORY },
  }),
  children: operation({
    ...READ,
    path: '/api/v1/trajectories/{trajectory_id}/children',
    input: z.strictObject({ ...byId, ...pageInput }),
    output: z.object({ trajectories: z.array(trajectory), ...pageOutput }),
    touches: [reads('Trajectory', 'trajectory_id'), reads('Trajectory', 'listed')],
    summary: 'List the children of a trajectory.',
    example: { trajectory_id: A_TRAJECTORY },
  }),
  tree: operation({
    ...READ,
    path: '/api/v1/trajectories/{trajectory_id}/tree',
    input: z.strictObject({
      ...byId,
      limit: z.int().min(1).max(5000).optional().describe('Maximum number of nodes; default: 1,000'),
    }),
    output: z.object({
      trajectory,
      nodes: z
        .array(node)
        .describe('Depth first: a trajectory, its scopes and their nested scopes, artifacts, notes, then its children'),
      truncated: z.boolean().describe('True if the limit left some out'),
    }),
    touches: [
      reads('Trajectory', 'trajectory_id'),
      reads('Trajectory', 'listed'),
      reads('Scope', 'listed'),
      reads('Artifact', 'listed'),
      reads('Note', 'listed'),
    ],
    summary: 'Read a trajectory with everything below it.',
    example: { trajectory_id: A_TRAJECTORY },
  }),
  batch: operation({
    method: 'POST',
    path: '/api/v1/trajectories/batch',
    also: ['/api/v1/batch/trajectories'],
    input: batchInput(byId, createInput, updateInput),
    output: batchResult(trajectory.nullable()),
    access: 'write',
    touches: [writes('Trajectory', 'items')],
    event: 'cairn.trajectory.*',
    summary: 'Create, update and delete up to 1,000 trajectories, each with its own result.',
    example: { items: [{ operation: 'create', create: { name: 'Fix bug #123' } }] },
  }),
};
