/** An artifact: what came out of a conversation and outlives it. Each change of it is a version. */
import { z } from 'zod';
import { clearable, lifetimeClass, ttl } from '../../engine/contract.js';
import { anyId, computed, instant, jsonObject, smallMetadata, text, uuid } from '../../kernel/contract.js';
import { abstractionLevel, confidence, content, extractionMethod, name, sourceTurn } from '../versions/model.js';

/** The types that people know; any other word is taken as well. */
export const ARTIFACT_TYPES = [
  'ErrorLog',
  'CodePatch',
  'DesignDecision',
  'UserPreference',
  'Fact',
  'Constraint',
  'ToolResult',
  'IntermediateOutput',
  'Code',
  'Document',
  'Decision',
  'Summary',
  'Plan',
  'Custom',
] as const;

const artifactType = text(100, 1).describe(`${ARTIFACT_TYPES.join(', ')}, or any other word`);

const changeable = {
  artifact_type: artifactType.optional(),
  name: name.optional(),
  content: content.optional(),
  abstraction_level: clearable(abstractionLevel, 'L0'),
  confidence: confidence.nullish(),
  ttl: clearable(ttl, 'Persistent'),
  metadata: clearable(smallMetadata, {}),
};

/** What a create takes of an answer, and computes itself. */
export const versionAnswer = {
  card_id: computed,
  content_hash: computed,
  token_count: computed,
  version: computed,
  access_count: computed,
  accessed_at: computed,
  superseded_by: computed,
  contradicted_by: computed,
  created_at: computed,
  updated_at: computed,
  lifetime: lifetimeClass.nullish().describe('As it follows from ttl'),
  expires_at: instant.nullish().describe('With a ttl that names a time, no later than that from now'),
};

export const artifactInput = z.strictObject({
  ...changeable,
  ...versionAnswer,
  artifact_id: uuid.optional().describe('Made by the server when absent'),
  trajectory_id: uuid.optional().describe('That of the scope unless given'),
  scope_id: uuid.nullish().describe('The scope that it came from'),
  artifact_type: artifactType,
  name,
  content,
  agent_id: anyId.nullish(),
  source_turn: sourceTurn.describe('Sequence of the turn in the scope that it came from'),
  extraction_method: extractionMethod.optional().describe('Explicit unless given'),
  provenance: z
    .strictObject({
      source_turn: sourceTurn,
      extraction_method: extractionMethod.nullish(),
      confidence: confidence.nullish(),
    })
    .optional()
    .describe('source_turn, extraction_method and confidence as they are answered'),
  derived_from: z.array(uuid).max(100).optional().describe('Artifacts that it was made from: DerivedFrom edges'),
});
export type ArtifactInput = z.output<typeof artifactInput>;

export const artifactPatch = z.strictObject({
  ...changeable,
  version: clearable(z.int().min(1), undefined).describe('Refused unless this is still the current version'),
});
export type ArtifactPatch = z.output<typeof artifactPatch>;

/** What artifacts and notes show alike. */
export const versionFields = {
  card_id: z.string().describe('The card that holds the content of this version'),
  content_hash: z.string(),
  token_count: z.int(),
  abstraction_level: abstractionLevel,
  agent_id: z.string().nullable(),
  version: z.int(),
  ttl,
  lifetime: lifetimeClass,
  expires_at: instant.nullable(),
  access_count: z.int(),
  accessed_at: instant.nullable(),
  superseded_by: z.array(z.string()).describe('Entities that supersede it'),
  contradicted_by: z.array(z.string()).describe('Entities that contradict it, or that it contradicts'),
  metadata: jsonObject,
  created_at: instant,
  updated_at: instant.describe('When this version was recorded'),
};

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
