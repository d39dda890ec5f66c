/** Operations on contexts and their manifests: what a model is to see, and what it saw. */
import { z } from 'zod';
import { makes, operation, reads } from '../../engine/contract.js';
import { anyId, pageInput, pageOutput, uuid } from '../../kernel/contract.js';
import { manifest, manifestDiff, manifestKind, manifestSummary, replayedContext } from '../manifests/model.js';
import { contextAsText } from './context-text.js';
import { assembledContext, contextInput } from './model.js';

const A_TRAJECTORY = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const A_MANIFEST = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a6b';
const byId = { manifest_id: uuid };

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
    // What is beyond reach is left out, as it is of lists; the texts of the request become cards of the place.
    event: 'cairn.context.assembled',
    summary: 'Choose what goes into the window of a model, within a budget of tokens, and record why.',
    mcp: {
      tool: 'assemble',
      use:
        'Use it to take up a task where it was left: it gives its instructions, what is known and its latest turns, ' +
        'best as markdown. Without a trajectory_id or scope_id it is about what was remembered without one.',
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
    method: 'GET',
    path: '/api/v1/manifests/{manifest_id}',
    input: z.strictObject(byId),
    output: manifest,
    access: 'read',
    touches: [reads('Card', 'manifest_id')],
    event: null,
    summary: 'Read the record of a context: every card that was considered, in or out, and why.',
    example: { manifest_id: A_MANIFEST },
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
        .describe('Only contexts that this card was in, or any version of this artifact or note'),
      kind: manifestKind.optional(),
      ...pageInput,
    }),
    output: z.object({ manifests: z.array(manifestSummary), ...pageOutput }),
    access: 'read',
    touches: [reads('Card', 'listed')],
    event: null,
    summary: 'List contexts, assembled and packed, in the order in which they were made.',
    example: {},
  }),
  replay: operation({
    method: 'GET',
    path: '/api/v1/manifests/{manifest_id}/replay',
    input: z.strictObject(byId),
    output: replayedContext,
    access: 'read',
    touches: [reads('Card', 'manifest_id')],
    event: null,
    summary: 'Give a context again, byte for byte, while its content exists.',
    example: { manifest_id: A_MANIFEST },
  }),
  diff: operation({
    method: 'GET',
    path: '/api/v1/manifests/{manifest_id}/diff',
    input: z.strictObject({ ...byId, against: uuid.describe('The manifest that it is compared with') }),
    output: manifestDiff,
    access: 'read',
    touches: [reads('Card', 'manifest_id'), reads('Card', 'manifest_id', 'against')],
    event: null,
    summary: 'Say what a context had that another had not, what it lacked, and what stood elsewhere.',
    example: { manifest_id: A_MANIFEST, against: A_MANIFEST },
  }),
};
