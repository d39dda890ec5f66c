/** A manifest records a context by ids, numbers and a hash. It holds no content and keeps none alive. */
import { z } from 'zod';
import { instant, jsonObject, jsonValue } from '../../kernel/contract.js';
import { contextEntry, contextFormat, contextSection, renderedContext } from '../contexts/model.js';

/** Maximum cards of a context, before duplicates are removed. */
export const MAX_CONTEXT_CARDS = 100_000;

export const manifestKind = z
  .enum(['assembly', 'packing'])
  .describe('assembly: made by context.assemble. packing: a sealed box that was packed for an agent');
export type ManifestKind = z.output<typeof manifestKind>;

export const manifestSummary = z
  .object({
    manifest_id: z.string(),
    kind: manifestKind,
    trajectory_id: z.string().nullable(),
    scope_id: z.string().nullable(),
    agent_turn_id: z.string().nullable(),
    agent_id: z.string().nullable().describe('The agent that the context was made for'),
    box_id: z.string().nullable().describe('The box of a packing, with all its cards'),
    format: contextFormat.nullable(),
    token_budget: z.int().nullable(),
    token_count: z.int().nullable(),
    truncated: z.boolean().nullable(),
    created_at: instant,
  })
  .meta({ id: 'ManifestSummary' });
export type ManifestSummary = z.output<typeof manifestSummary>;

export const manifest = manifestSummary
  .extend({
    parameters: jsonObject.describe('The parameters of the request; texts as ids of their cards'),
    sections: z.array(contextSection),
    entries: z.array(contextEntry).describe('Every candidate; for a packing its first 1,000 cards'),
    entries_total: z.int(),
    content_hash: z
      .string()
      .nullable()
      .describe(
        'SHA-256 of the rendering; a keyed hash if it can no longer be replayed. Null for a packing with more than 1,000 cards or 4 MiB, or with an erased card',
      ),
  })
  .meta({ id: 'Manifest' });
export type Manifest = z.output<typeof manifest>;

export const replayedContext = z
  .object({
    manifest_id: z.string(),
    kind: manifestKind,
    ...renderedContext,
    format: contextFormat.nullable().describe('Null for a packing'),
    cards: z.array(jsonValue).nullable().describe('The cards of a packing, in box order'),
    token_count: z.int().nullable(),
  })
  .meta({ id: 'ReplayedContext' });
export type ReplayedContext = z.output<typeof replayedContext>;

const changedEntry = z.object({ id: z.string(), card_id: z.string(), before: contextEntry, after: contextEntry });

export const manifestDiff = z
  .object({
    manifest_id: z.string(),
    against: z.string(),
    same: z.boolean().describe('Whether both contexts rendered the same bytes'),
    came_in: z.array(contextEntry).describe('In this context but not in the other; at most 1,000'),
    went_out: z.array(contextEntry).describe('In the other context but not in this one; at most 1,000'),
    changed: z
      .array(changedEntry)
      .describe('In both, with another rank, section, cut, reason or contradiction; at most 1,000'),
    tokens: z.object({ before: z.int().nullable(), after: z.int().nullable() }),
  })
  .meta({ id: 'ManifestDiff' });
export type ManifestDiff = z.output<typeof manifestDiff>;
