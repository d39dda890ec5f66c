/** An artifact: a versioned result of a conversation, which outlives it. */
import { z } from 'zod';
import { anyId, subjectIds, text, uuid } from '../../kernel/contract.js';
import {
  answerFields,
  changeableFields,
  confidence,
  content,
  extractionMethod,
  name,
  patchedVersion,
  sourceTurn,
  versionFields,
} from '../versions/model.js';

const artifactType = text(100, 1).describe(
  'ErrorLog, CodePatch, DesignDecision, UserPreference, Fact, Constraint, ToolResult, IntermediateOutput, Code, ' +
    'Document, Decision, Summary, Plan, Custom, or any other word',
);

const changeable = { artifact_type: artifactType.optional(), name: name.optional(), ...changeableFields };

export const artifactInput = z.strictObject({
  ...changeable,
  ...answerFields,
  artifact_id: uuid.optional().describe('Default: a new id'),
  trajectory_id: uuid.optional().describe('Default: that of the scope'),
  scope_id: uuid.nullish().describe('Source scope'),
  artifact_type: artifactType,
  name,
  content,
  agent_id: anyId.nullish(),
  subject_ids: subjectIds.optional(),
  source_turn: sourceTurn.describe('Sequence of the source turn in the scope'),
  extraction_method: extractionMethod.optional().describe('Default: Explicit'),
  provenance: z
    .strictObject({
      source_turn: sourceTurn,
      extraction_method: extractionMethod.nullish(),
      confidence: confidence.nullish(),
    })
    .optional()
    .describe('source_turn, extraction_method and confidence in the form of an answer'),
  derived_from: z.array(uuid).max(100).optional().describe('Source artifacts: adds DerivedFrom edges'),
});
export type ArtifactInput = z.output<typeof artifactInput>;

export const artifactPatch = z.strictObject({ ...changeable, version: patchedVersion });
export type ArtifactPatch = z.output<typeof artifactPatch>;

export const artifact = z
  .object({
    artifact_id: z.string(),
    trajectory_id: z.string(),
    scope_id: z.string().nullable(),
    artifact_type: z.string(),
    name: z.string(),
    content,
    provenance: z.object({
      source_turn: z.int().nullable(),
      extraction_method: extractionMethod,
      confidence: confidence.nullable(),
    }),
    ...versionFields,
  })
  .meta({ id: 'Artifact' });
export type Artifact = z.output<typeof artifact>;
