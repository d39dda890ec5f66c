/** Operations on artifacts (seed path: /artifacts). */
import { z } from 'zod';
import { makes, operation, reads, writes } from '../../engine/contract.js';
import { instant, pageOutput, text, uuid } from '../../kernel/contract.js';
import { asOf, batchInput, listFilters, versionPage } from '../versions/contract.js';
import { batchResult, namePrefix } from '../versions/model.js';
import { artifact, artifactInput, artifactPatch } from './model.js';

const byId = { artifact_id: uuid };
const AN_ARTIFACT = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5e';
const AN_INPUT = {
  trajectory_id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
  artifact_type: 'Decision',
  name: 'auth',
  content: 'Use sessions.',
};

export const artifacts = {
  create: operation({
    method: 'POST',
    path: '/api/v1/artifacts',
    input: artifactInput,
    output: artifact,
    access: 'write',
    touches: [makes('Artifact', 'trajectory_id', 'scope_id'), reads('Artifact', 'named')],
    event: 'cairn.artifact.created',
    status: 201,
    summary: 'Keep what came out of a conversation.',
    example: AN_INPUT,
  }),
  get: operation({
    method: 'GET',
    path: '/api/v1/artifacts/{artifact_id}',
    input: z.strictObject({ ...byId, as_of: asOf }),
    output: artifact,
    access: 'read',
    touches: [reads('Artifact', 'artifact_id')],
    event: null,
    summary: 'Read one artifact, as it is or as it was. Counts as an access.',
    example: { artifact_id: AN_ARTIFACT },
  }),
  list: operation({
    method: 'GET',
    path: '/api/v1/artifacts',
    input: z.strictObject({
      artifact_type: text(100, 1).optional(),
      name: namePrefix,
      scope_id: uuid.optional(),
      ...listFilters,
    }),
    output: z.object({ artifacts: z.array(artifact), ...pageOutput }),
    access: 'read',
    touches: [reads('Artifact', 'listed')],
    event: null,
    summary: 'List artifacts, in the order of their ids.',
    example: { abstraction_level: 'L0' },
  }),
  update: operation({
    method: 'PATCH',
    path: '/api/v1/artifacts/{artifact_id}',
    input: artifactPatch.extend(byId),
    output: artifact,
    access: 'write',
    touches: [writes('Artifact', 'artifact_id')],
    event: 'cairn.artifact.updated',
    summary: 'Change an artifact: a new version, which supersedes the one before.',
    example: { artifact_id: AN_ARTIFACT, content: 'Use tokens.' },
  }),
  delete: operation({
    method: 'DELETE',
    path: '/api/v1/artifacts/{artifact_id}',
    input: z.strictObject(byId),
    output: z.void(),
    access: 'write',
    touches: [writes('Artifact', 'artifact_id')],
    event: 'cairn.artifact.deleted',
    status: 204,
    summary: 'Delete an artifact. An earlier as_of still finds it.',
    example: { artifact_id: AN_ARTIFACT },
  }),
  history: operation({
    method: 'GET',
    path: '/api/v1/artifacts/{artifact_id}/history',
    input: z.strictObject({ ...byId, ...versionPage }),
    output: z.object({
      versions: z.array(artifact.extend({ superseded_at: instant.nullable() })),
      deleted_at: instant.nullable(),
      ...pageOutput,
    }),
    access: 'read',
    touches: [reads('Artifact', 'artifact_id')],
    event: null,
    summary: 'Read all versions of an artifact, the first one first, also after it was deleted.',
    example: { artifact_id: AN_ARTIFACT },
  }),
  batch: operation({
    method: 'POST',
    path: '/api/v1/artifacts/batch',
    also: ['/api/v1/batch/artifacts'],
    input: batchInput(byId, artifactInput, artifactPatch),
    output: batchResult(artifact.nullable()),
    access: 'write',
    touches: [writes('Artifact', 'items')],
    event: 'cairn.artifact.*',
    summary: 'Create, change and delete up to 1,000 artifacts, each answered alone.',
    example: { items: [{ operation: 'create', create: AN_INPUT }] },
  }),
};
