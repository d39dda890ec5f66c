/** Operations on artifacts (seed path: /artifacts). */
import { z } from 'zod';
import { makes, operation, reads } from '../../engine/contract.js';
import { instant, pageOutput, text, uuid } from '../../kernel/contract.js';
import { listFilters, versionOperations } from '../versions/contract.js';
import { namePrefix, READ } from '../versions/model.js';
import { artifact, artifactInput, artifactPatch } from './model.js';

const AN_ARTIFACT = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5e';
const AN_INPUT = {
  trajectory_id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
  artifact_type: 'Decision',
  name: 'auth',
  content: 'Use sessions.',
};

const { get, ...others } = versionOperations('artifact', {
  model: artifact,
  version: artifact.extend({ superseded_at: instant.nullable() }),
  input: artifactInput,
  patch: artifactPatch,
  update: artifactPatch.extend({ artifact_id: uuid }),
  examples: { id: AN_ARTIFACT, create: AN_INPUT },
});

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
    summary: 'Store a result of a conversation.',
    example: AN_INPUT,
  }),
  get,
  list: operation({
    ...READ,
    path: '/api/v1/artifacts',
    input: z.strictObject({
      artifact_type: text(100, 1).optional(),
      name: namePrefix,
      scope_id: uuid.optional(),
      ...listFilters,
    }),
    output: z.object({ artifacts: z.array(artifact), ...pageOutput }),
    touches: [reads('Artifact', 'listed')],
    summary: 'List artifacts, in the order of their ids.',
    example: { abstraction_level: 'L0' },
  }),
  ...others,
};
