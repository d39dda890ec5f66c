/** A manifest: the record of a context, by ids, numbers and a hash. It keeps no content, and keeps none alive. */
import { z } from 'zod';
import { instant, jsonObject, jsonValue } from '../../kernel/contract.js';
import { contextEntry, contextFormat, contextSection, renderedContext } from '../contexts/model.js';

/** How many cards a context has at most, before those that come twice are left out. */
export const MAX_CONTEXT_CARDS = 100_000;

export const manifestKind = z
  .enum(['assembly', 'packing'])
  .describe('assembly: by context.assemble. packing: a sealed box that was packed for an agent');
export type ManifestKind = z.output<typeof manifestKind>;

/** What lists show. */
export const manifestSummary = z
  .object({
    manifest_id: z.string(),
    kind: manifestKind,
    trajectory_id: z.string().nullable(),
    scope_id: z.string().nullable(),
    agent_turn_id: z.string().nullable(),
    agent_id: z.string().nullable().describe('Whose context it is'),
    box_id: z.string().nullable().describe('Of a packing: the box with all that went in'),
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
    parameters: jsonObject.describe('How it was asked for; texts by the cards that have them'),
    sections: z.array(contextSection),
    entries: z.array(contextEntry).describe('Every card that was considered; of a packing its first 1,000'),
    entries_total: z.int(),
    content_hash: z
      .string()
      .nullable()
      .describe(
        'Of what was rendered; keyed where that can no longer be replayed. Null for a packing of more than 1,000 cards or 4 MiB, or without one of its cards',
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
    cards: z.array(jsonValue).nullable().describe('Of a packing: the cards as they stand in the box'),
    token_count: z.int().nullable(),
  })
  .meta({ id: 'ReplayedContext' });
export type ReplayedContext = z.output<typeof replayedContext>;

const changedEntry = z.object({ id: z.string(), card_id: z.string(), before: contextEntry, after: contextEntry });

export const manifestDiff = z
  .object({
    manifest_id: z.string(),
    against: z.string(),
    same: z.boolean().describe('Whether both rendered the same bytes'),
    came_in: z.array(contextEntry).describe('In this context, and not in the other; at most 1,000'),
    went_out: z.array(contextEntry).describe('In the other, and not in this one; at most 1,000'),
    changed: z
      .array(changedEntry)
      .describe('In both, at another place, in another section, cut otherwise or for another reason; at most 1,000'),
    tokens: z.object({ before: z.int().nullable(), after: z.int().nullable() }),
  })
  .meta({ id: 'ManifestDiff' });
export type ManifestDiff = z.output<typeof manifestDiff>;
