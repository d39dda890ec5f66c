/** An edge: a typed relation between two or more entities; the first participant is A. */
import { z } from 'zod';
import { anyId, computed, instant, jsonObject, smallMetadata, text, uuid } from '../../kernel/contract.js';
import { confidence, extractionMethod, sourceTurn } from '../versions/model.js';

export const edgeType = z.enum([
  'Supports',
  'Contradicts',
  'Supersedes',
  'DerivedFrom',
  'RelatesTo',
  'SynthesizedFrom',
  'Temporal',
  'Causal',
  'Grouped',
  'Compared',
]);
export type EdgeType = z.output<typeof edgeType>;

export const entityType = z.enum(['Trajectory', 'Scope', 'Turn', 'Artifact', 'Note', 'Card', 'Packet', 'Box']);
export type EntityType = z.output<typeof entityType>;

const participantInput = z.strictObject({ entity_type: entityType, entity_id: anyId, role: text(100, 1).nullish() });

export const edgeInput = z.strictObject({
  edge_id: uuid.optional().describe('Default: a new id'),
  edge_type: edgeType,
  participants: z
    .array(participantInput)
    .min(2)
    .max(100)
    .describe('The first is A: it supports, supersedes or was derived from the others'),
  weight: z.number().min(0).max(1).nullish(),
  provenance: z
    .strictObject({
      source_turn: sourceTurn,
      extraction_method: extractionMethod.optional(),
      confidence: confidence.nullish(),
    })
    .optional(),
  agent_id: anyId.nullish(),
  metadata: smallMetadata.optional(),
  created_at: computed,
});
export type EdgeInput = z.output<typeof edgeInput>;

export const edge = z
  .object({
    edge_id: z.string(),
    edge_type: edgeType,
    participants: z.array(z.object({ entity_type: entityType, entity_id: z.string(), role: z.string().nullable() })),
    weight: z.number().nullable(),
    provenance: z
      .object({
        source_turn: z.int().nullable(),
        extraction_method: extractionMethod.nullable(),
        confidence: confidence.nullable(),
      })
      .nullable(),
    agent_id: z.string().nullable(),
    metadata: jsonObject,
    created_at: instant,
  })
  .meta({ id: 'Edge' });
export type Edge = z.output<typeof edge>;
