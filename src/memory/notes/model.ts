/** A note: versioned knowledge that applies across trajectories. */
import { z } from 'zod';
import { anyId, subjectIds, text, uuid } from '../../kernel/contract.js';
import {
  answerFields,
  changeableFields,
  confidence,
  content,
  name,
  patchedVersion,
  versionFields,
} from '../versions/model.js';

export const NOTE_TYPES = [
  'Convention',
  'Strategy',
  'Gotcha',
  'Fact',
  'Preference',
  'Relationship',
  'Procedure',
  'Meta',
  'Insight',
  'Correction',
  'Summary',
] as const;

const noteType = text(100, 1).describe(`${NOTE_TYPES.join(', ')}, or any other word`);

const changeable = { note_type: noteType.optional(), title: name.optional(), ...changeableFields };

export const noteInput = z.strictObject({
  ...changeable,
  ...answerFields,
  note_id: uuid.optional().describe('Default: a new id'),
  note_type: noteType,
  title: name,
  content,
  agent_id: anyId.nullish(),
  subject_ids: subjectIds.optional(),
  source_trajectory_ids: z.array(uuid).max(100).optional().describe('Trajectories in which it was learned'),
  source_artifact_ids: z.array(uuid).max(100).optional().describe('Source artifacts'),
});
export type NoteInput = z.output<typeof noteInput>;

export const notePatch = z.strictObject({ ...changeable, version: patchedVersion });
export type NotePatch = z.output<typeof notePatch>;

export const note = z
  .object({
    note_id: z.string(),
    note_type: z.string(),
    title: z.string(),
    content,
    confidence: confidence.nullable(),
    source_trajectory_ids: z.array(z.string()),
    source_artifact_ids: z.array(z.string()),
    ...versionFields,
  })
  .meta({ id: 'Note' });
export type Note = z.output<typeof note>;
