/** A note: knowledge that applies across trajectories. Each change of it is a version. */
import { z } from 'zod';
import { clearable, ttl } from '../../engine/contract.js';
import { anyId, smallMetadata, text, uuid } from '../../kernel/contract.js';
import { versionAnswer, versionFields } from '../artifacts/model.js';
import { abstractionLevel, confidence, content, name } from '../versions/model.js';

/** The types that people know; any other word is taken as well. */
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

const changeable = {
  note_type: noteType.optional(),
  title: name.optional(),
  content: content.optional(),
  abstraction_level: clearable(abstractionLevel, 'L0'),
  confidence: confidence.nullish(),
  ttl: clearable(ttl, 'Persistent'),
  metadata: clearable(smallMetadata, {}),
};

export const noteInput = z.strictObject({
  ...changeable,
  ...versionAnswer,
  note_id: uuid.optional().describe('Made by the server when absent'),
  note_type: noteType,
  title: name,
  content,
  agent_id: anyId.nullish(),
  source_trajectory_ids: z.array(uuid).max(100).optional().describe('Where it was learned'),
  source_artifact_ids: z.array(uuid).max(100).optional().describe('What it was learned from'),
});
export type NoteInput = z.output<typeof noteInput>;

export const notePatch = z.strictObject({
  ...changeable,
  version: clearable(z.int().min(1), undefined).describe('Refused unless this is still the current version'),
});
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
