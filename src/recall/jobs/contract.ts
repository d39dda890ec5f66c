/** Operations on summarization policies, on jobs and on the sources of their results. */
import { z } from 'zod';
import { makes, ofUser, operation, reads, writes } from '../../engine/contract.js';
import { pageInput, pageOutput, uuid } from '../../kernel/contract.js';
import {
  expanded,
  expandInput,
  extracted,
  job,
  policyInput,
  policyPatch,
  summarizationPolicy,
  summarized,
  summarizeInput,
} from './model.js';

const readOnly = { method: 'GET', access: 'read', event: null } as const;
const byId = { policy_id: uuid };
const A_POLICY = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a60';
const A_TRAJECTORY = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const A_JOB = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a61';
const A_SCOPE = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c';

export const summarization_policies = {
  create: operation({
    method: 'POST',
    path: '/api/v1/summarization-policies',
    input: policyInput,
    output: summarizationPolicy,
    access: 'write',
    touches: [ofUser(makes('Turn', 'trajectory_id', 'scope_id'), 'none')],
    event: 'cairn.summarization_policy.created',
    status: 201,
    summary: 'Create a policy: when to summarise or extract, for the tenant, a trajectory or a scope.',
    example: { trajectory_id: A_TRAJECTORY, trigger: { type: 'DosageThreshold', percent: 80 } },
  }),
  get: operation({
    ...readOnly,
    path: '/api/v1/summarization-policies/{policy_id}',
    input: z.strictObject(byId),
    output: summarizationPolicy,
    touches: [reads('Turn', 'policy_id')],
    summary: 'Read one policy.',
    example: { policy_id: A_POLICY },
  }),
  list: operation({
    ...readOnly,
    path: '/api/v1/summarization-policies',
    input: z.strictObject({
      trajectory_id: uuid.optional().describe('Policies of this trajectory and its scopes'),
      scope_id: uuid.optional(),
      ...pageInput,
    }),
    output: z.object({ summarization_policies: z.array(summarizationPolicy), ...pageOutput }),
    touches: [reads('Turn', 'listed')],
    summary: 'List policies, ordered by id.',
    example: {},
  }),
  update: operation({
    method: 'PATCH',
    path: '/api/v1/summarization-policies/{policy_id}',
    input: z.strictObject({ ...byId, ...policyPatch }),
    output: summarizationPolicy,
    access: 'write',
    touches: [writes('Turn', 'policy_id')],
    event: 'cairn.summarization_policy.updated',
    summary: 'Change a policy; jobs that it fired stay as they are.',
    example: { policy_id: A_POLICY, enabled: false },
  }),
  delete: operation({
    method: 'DELETE',
    path: '/api/v1/summarization-policies/{policy_id}',
    input: z.strictObject(byId),
    output: z.void(),
    access: 'write',
    touches: [writes('Turn', 'policy_id')],
    event: 'cairn.summarization_policy.deleted',
    status: 204,
    summary: 'Delete a policy; jobs that it fired still run.',
    example: { policy_id: A_POLICY },
  }),
};

export const jobs = {
  get: operation({
    ...readOnly,
    path: '/api/v1/jobs/{job_id}',
    input: z.strictObject({ job_id: uuid }),
    output: job,
    touches: [reads('Turn', 'job_id')],
    summary: 'Read one job: state, results and cost.',
    example: { job_id: A_JOB },
  }),
  list: operation({
    ...readOnly,
    path: '/api/v1/jobs',
    input: z.strictObject({
      scope_id: uuid.optional(),
      policy_id: uuid.optional(),
      state: z.enum(['waiting', 'running', 'done', 'failed']).optional(),
      ...pageInput,
    }),
    output: z.object({ jobs: z.array(job), ...pageOutput }),
    touches: [reads('Turn', 'listed')],
    summary: 'List summarising and extracting jobs, ordered by id.',
    example: {},
  }),
};

/** In the group scopes. */
export const scopeJobs = {
  summarize: operation({
    method: 'POST',
    path: '/api/v1/scopes/{scope_id}/summarize',
    input: z.strictObject({ scope_id: uuid, ...summarizeInput }),
    output: summarized,
    access: 'write',
    touches: [ofUser(reads('Turn', 'scope_id'), 'own'), makes('Artifact', 'scope_id')],
    event: 'cairn.artifact.created',
    summary: 'Summarise the turns of an open scope since its last summary, or its summaries with target level L2.',
    example: { scope_id: A_SCOPE, max_tokens: 300 },
  }),
  extract: operation({
    method: 'POST',
    path: '/api/v1/scopes/{scope_id}/extract',
    input: z.strictObject({ scope_id: uuid }),
    output: extracted,
    access: 'write',
    touches: [ofUser(reads('Turn', 'scope_id'), 'own'), makes('Artifact', 'scope_id'), makes('Note')],
    event: 'cairn.artifact.created',
    summary: 'Extract facts from the turns of an open scope that were not examined yet.',
    example: { scope_id: A_SCOPE },
  }),
};

/** In the group artifacts. */
export const artifactSources = {
  expand: operation({
    ...readOnly,
    path: '/api/v1/artifacts/{artifact_id}/sources',
    input: z.strictObject({ artifact_id: uuid, ...expandInput }),
    output: expanded,
    touches: [reads('Artifact', 'artifact_id'), reads('Turn', 'named')],
    summary: 'Read the sources of an artifact, while they exist.',
    example: { artifact_id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5e' },
  }),
};

/** In the group notes. */
export const noteSources = {
  expand: operation({
    ...readOnly,
    path: '/api/v1/notes/{note_id}/sources',
    input: z.strictObject({ note_id: uuid, ...expandInput }),
    output: expanded,
    touches: [reads('Note', 'note_id'), reads('Turn', 'named')],
    summary: 'Read the sources of a note, while they exist.',
    example: { note_id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5f' },
  }),
};
