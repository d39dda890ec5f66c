/** Operations on notes (seed path: /notes). */
import { z } from 'zod';
import { makes, operation, reads, writes } from '../../engine/contract.js';
import { instant, pageOutput, text, uuid } from '../../kernel/contract.js';
import { asOf, batchInput, listFilters, versionPage } from '../versions/contract.js';
import { batchResult, namePrefix } from '../versions/model.js';
import { note, noteInput, notePatch } from './model.js';

const byId = { note_id: uuid };
const A_NOTE = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5f';
const AN_INPUT = { note_type: 'Gotcha', title: 'Status of auth failures', content: 'The API answers 500, not 401.' };

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
    summary: 'Keep what was learned, across trajectories.',
    example: AN_INPUT,
  }),
  get: operation({
    method: 'GET',
    path: '/api/v1/notes/{note_id}',
    input: z.strictObject({ ...byId, as_of: asOf }),
    output: note,
    access: 'read',
    touches: [reads('Note', 'note_id')],
    event: null,
    summary: 'Read one note, as it is or as it was. Counts as an access.',
    example: { note_id: A_NOTE },
  }),
  list: operation({
    method: 'GET',
    path: '/api/v1/notes',
    input: z.strictObject({
      note_type: text(100, 1).optional(),
      title: namePrefix,
      artifact_id: uuid.optional().describe('Only those learned from this artifact'),
      ...listFilters,
    }),
    output: z.object({ notes: z.array(note), ...pageOutput }),
    access: 'read',
    touches: [reads('Note', 'listed')],
    event: null,
    summary: 'List notes, in the order of their ids.',
    example: { abstraction_level: 'L0' },
  }),
  update: operation({
    method: 'PATCH',
    path: '/api/v1/notes/{note_id}',
    input: notePatch.extend(byId),
    output: note,
    access: 'write',
    touches: [writes('Note', 'note_id')],
    event: 'cairn.note.updated',
    summary: 'Change a note: a new version, which supersedes the one before.',
    example: { note_id: A_NOTE, content: 'Use tokens.' },
  }),
  delete: operation({
    method: 'DELETE',
    path: '/api/v1/notes/{note_id}',
    input: z.strictObject(byId),
    output: z.void(),
    access: 'write',
    touches: [writes('Note', 'note_id')],
    event: 'cairn.note.deleted',
    status: 204,
    summary: 'Delete a note. An earlier as_of still finds it.',
    example: { note_id: A_NOTE },
  }),
  history: operation({
    method: 'GET',
    path: '/api/v1/notes/{note_id}/history',
    input: z.strictObject({ ...byId, ...versionPage }),
    output: z.object({
      versions: z.array(note.extend({ superseded_at: instant.nullable() })),
      deleted_at: instant.nullable(),
      ...pageOutput,
    }),
    access: 'read',
    touches: [reads('Note', 'note_id')],
    event: null,
    summary: 'Read all versions of a note, the first one first, also after it was deleted.',
    example: { note_id: A_NOTE },
  }),
  batch: operation({
    method: 'POST',
    path: '/api/v1/notes/batch',
    also: ['/api/v1/batch/notes'],
    input: batchInput(byId, noteInput, notePatch),
    output: batchResult(note.nullable()),
    access: 'write',
    touches: [writes('Note', 'items')],
    event: 'cairn.note.*',
    summary: 'Create, change and delete up to 1,000 notes, each answered alone.',
    example: { items: [{ operation: 'create', create: AN_INPUT }] },
  }),
};
