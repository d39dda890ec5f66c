/** Operations on notes (seed path: /notes). */
import { z } from 'zod';
import { makes, operation, reads } from '../../engine/contract.js';
import { instant, pageOutput, text, uuid } from '../../kernel/contract.js';
import { listFilters, versionOperations } from '../versions/contract.js';
import { namePrefix, READ } from '../versions/model.js';
import { note, noteInput, notePatch } from './model.js';

const A_NOTE = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5f';
const AN_INPUT = { note_type: 'Gotcha', title: 'Status of auth failures', content: 'The API answers 500, not 401.' };

const { get, ...others } = versionOperations('note', {
  model: note,
  version: note.extend({ superseded_at: instant.nullable() }),
  input: noteInput,
  patch: notePatch,
  update: notePatch.extend({ note_id: uuid }),
  examples: { id: A_NOTE, create: AN_INPUT },
});

export const notes = {
  create: operation({
    method: 'POST',
    path: '/api/v1/notes',
    input: noteInput,
    output: note,
    access: 'write',
    touches: [makes('Note'), reads('Trajectory', 'named'), reads('Artifact', 'named')],
    event: 'cairn.note.created',
    status: 201,
    summary: 'Store knowledge that applies across trajectories.',
    example: AN_INPUT,
  }),
  get,
  list: operation({
    ...READ,
    path: '/api/v1/notes',
    input: z.strictObject({
      note_type: text(100, 1).optional(),
      title: namePrefix,
      artifact_id: uuid.optional().describe('Only notes derived from this artifact'),
      ...listFilters,
    }),
    output: z.object({ notes: z.array(note), ...pageOutput }),
    touches: [reads('Note', 'listed')],
    summary: 'List notes, in the order of their ids.',
    example: { abstraction_level: 'L0' },
  }),
  ...others,
};
