/** Operations on contexts and their manifests. */
import { z } from 'zod';
import { makes, operation, reads } from '../../engine/contract.js';
import { anyId, pageInput, pageOutput, uuid } from '../../kernel/contract.js';
import { manifest, manifestDiff, manifestKind, manifestSummary, replayedContext } from '../manifests/model.js';
import { contextAsText } from './context-text.js';
import { assembledContext, contextInput } from './model.js';

const A_TRAJECTORY = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const A_MANIFEST = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a6b';
const byId = { manifest_id: uuid };

const readById = {
  method: 'GET',
  input: z.strictObject(byId),
  access: 'read',
  touches: [reads('Card', 'manifest_id')],
  event: null,
  example: { manifest_id: A_MANIFEST },
} as const;

export const context = {
  assemble: operation({
    method: 'POST',
    path: '/api/v1/context/assemble',
    input: contextInput,
    output: assembledContext,
    access: 'write',
    touches: [
      reads('Turn', 'listed'),
      reads('Artifact', 'listed'),
      reads('Note', 'listed'),
      reads('Trajectory', 'listed'),
      makes('Card', 'trajectory_id', 'scope_id'),
    ],
    // Content beyond reach is left out, as in lists; the texts of the request become cards of the trajectory or scope.
    event: 'cairn.context.assembled',
    summary: 'Assemble the context of a model within a token budget, and record why each part is in it.',
    mcp: {
      tool: 'assemble',
      use:
        'Use it to resume a task: it returns the instructions, relevant knowledge and the latest turns, ' +
        'best as markdown. Without a trajectory_id or scope_id it covers memories stored without one.',
      place: ['trajectory_id'],
      text: contextAsText,
    },
    example: {
      trajectory_id: A_TRAJECTORY,
      token_budget: 8000,
      user_input: 'Why does the login fail?',
      format: 'messages',
    },
  }),
};

export const manifests = {
  get: operation({
    ...readById,
    path: '/api/v1/manifests/{manifest_id}',
    output: manifest,
    summary: 'Read the record of a context: every candidate, included or not, and why.',
  }),
  list: operation({
    method: 'GET',
    path: '/api/v1/manifests',
    input: z.strictObject({
      trajectory_id: uuid.optional(),
      scope_id: uuid.optional(),
      agent_turn_id: anyId.optional(),
      card_id: anyId
        .optional()
        .describe('Only contexts that showed this card, or any version of this artifact or note'),
      kind: manifestKind.optional(),
      ...pageInput,
    }),
    output: z.object({ manifests: z.array(manifestSummary), ...pageOutput }),
    access: 'read',
    touches: [reads('Card', 'listed')],
    event: null,
    summary: 'List assembled and packed contexts in order of creation.',
    example: {},
  }),
  replay: operation({
    ...readById,
    path: '/api/v1/manifests/{manifest_id}/replay',
    output: replayedContext,
    summary: 'Replay a context byte for byte, while its content exists.',
  }),
  diff: operation({
    method: 'GET',
    path: '/api/v1/manifests/{manifest_id}/diff',
    input: z.strictObject({ ...byId, against: uuid.describe('The manifest to compare with') }),
    output: manifestDiff,
    access: 'read',
    touches: [reads('Card', 'manifest_id'), reads('Card', 'manifest_id', 'against')],
    event: null,
    summary: 'Compare two contexts: which entries came in, went out or changed.',
    example: { manifest_id: A_MANIFEST, against: A_MANIFEST },
  }),
};
