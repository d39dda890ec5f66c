/** A context: the content of a model's window by sections, its format, and the fate of every candidate. */
import { z } from 'zod';
import {
  contextSections,
  contextTokens,
  SECTIONS,
  type SectionName,
  type SectionSetting,
  sectionName,
} from '../../identity/contract.js';
import { actingUser, anyId, jsonObject, profileName, text, uuid } from '../../kernel/contract.js';

export { SECTIONS, type SectionName, type SectionSetting };

export const contextFormat = z.enum(['messages', 'markdown', 'xml', 'json']);
export type ContextFormat = z.output<typeof contextFormat>;

export const MAX_CONTEXT_TURNS = 5000;

const atMost = (limit: number, description: string) => z.int().min(0).max(limit).optional().describe(description);

const included = (description: string) => z.boolean().optional().describe(description);

export const contextInput = z.strictObject({
  trajectory_id: uuid
    .optional()
    .describe('The task that the context is for; default: the trajectory of the scope, else the one called memory'),
  scope_id: uuid.optional().describe('The scope whose turns are shown; default: all open scopes of the trajectory'),
  agent_turn_id: anyId.optional().describe('The agent_turn that it is made for; default: that of the guard'),
  token_budget: contextTokens.optional().describe('Default: context_token_budget of the settings, else 8,000'),
  format: contextFormat.optional().describe('Default: messages'),
  user: actingUser,
  user_input: text(500_000, 1).optional().describe('The current user message: always included, at the end'),
  instructions: text(500_000, 1).optional().describe('System instructions: always included, at the beginning'),
  profile: profileName.optional().describe('The profile whose system_prompt comes first'),
  query: text(20_000, 1).optional().describe('What to search for; default: the user_input, else the last user message'),
  relevance_query: text(20_000, 1).optional().describe('Alias of query'),
  include_notes: included('Principles and notes; default: true'),
  include_artifacts: included('Default: true'),
  include_history: included('Summaries and passages of earlier turns; default: true'),
  include_turns: included('The latest turns; default: true'),
  include_hierarchy: included('Also the turns of the open ancestors of scope_id; default: false'),
  max_notes: atMost(
    100,
    'Of principles and of other notes each; default: one per 100 tokens of the budget, from 10 to 40',
  ),
  max_artifacts: atMost(100, 'Default: 5'),
  max_summaries: atMost(100, 'Default: 5'),
  max_passages: atMost(100, 'Default: one per 100 tokens of the budget, from 10 to 40'),
  max_turns: atMost(MAX_CONTEXT_TURNS, 'Default: as many as fit, at most 5,000'),
  min_relevance: z
    .number()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('Leaves out candidates with a lower score, and those that the query did not find'),
  sections: contextSections
    .optional()
    .describe(
      'The order of sections before the turns and the room of each; others follow in the usual order. Default: context_sections of the settings',
    ),
});
export type ContextInput = z.output<typeof contextInput>;

const contextReason = z
  .enum([
    'given',
    'relevant',
    'newest',
    'recent',
    'stands_for_turns',
    'no_room',
    'share_used_up',
    'over_the_limit',
    'below_min_relevance',
    'shown_already',
    'behind_a_gap',
    'in_a_summary',
  ])
  .describe(
    'given: by the request. relevant: found by the query. newest: of its kind. recent: one of the latest turns. stands_for_turns: a summary of turns that are not shown. no_room: the budget is used up. share_used_up: the share of the section is used up, and no other room is left or allowed. over_the_limit: more than the requested number. below_min_relevance: scored less than min_relevance. shown_already: the context shows it in another form, or another memory with the same text. behind_a_gap: a later turn did not fit. in_a_summary: a summary in the context covers it.',
  );
export type ContextReason = z.output<typeof contextReason>;

const replacedValue = z
  .object({
    entity_type: z.enum(['Artifact', 'Note']),
    id: z.string(),
    card_id: z.string(),
    start: z.int(),
    end: z.int(),
  })
  .describe('The memory that it replaced, and where its card has the former value that the mark names');
export type ReplacedValue = z.output<typeof replacedValue>;

export const contextEntry = z
  .object({
    action: z.enum(['include', 'exclude', 'compress', 'truncate']),
    section: z.enum([...SECTIONS, 'box']).describe('box: a card of a packing'),
    reason: contextReason,
    entity_type: z.enum(['Turn', 'Artifact', 'Note', 'Card']),
    id: z.string(),
    card_id: z.string(),
    tokens: z.int().nullable().describe('Counted alone, as rendered; null if too long to count'),
    score: z.number().nullable().describe('Score of the search that found it'),
    place: z.int().nullable().describe('Position in the context; null if it is left out'),
    kept_characters: z.int().nullable().describe('Characters shown of a truncated entry'),
    kept_from: z.int().optional().describe('Where the shown characters begin; default: 0'),
    by: z.string().nullable().describe('The summary that covers it, or the turn that already shows it'),
    contradicts: z
      .array(z.string())
      .optional()
      .describe('Ids of other entries that contradict it, in either direction; the context remarks on it beside both'),
    replaces: replacedValue.optional(),
  })
  .meta({ id: 'ContextEntry' });
export type ContextEntry = z.output<typeof contextEntry>;

export const contextSection = z.object({
  name: sectionName,
  tokens: z.int().describe('Sum over its parts, each counted alone'),
  included: z.int(),
  left_out: z.int().describe('For turns, all that are not shown'),
});
export type ContextSection = z.output<typeof contextSection>;

export const renderedContext = {
  format: contextFormat,
  messages: z.array(jsonObject).nullable().describe('In the format messages: for an OpenAI-style chat call'),
  text: z.string().nullable().describe('In the other formats'),
  token_count: z.int().describe('o200k tokens of the text, or of the canonical JSON of the messages'),
  content_hash: z.string().describe('SHA-256 of the same'),
};

export const assembledContext = z
  .object({
    manifest_id: z.string(),
    trajectory_id: z.string(),
    scope_id: z.string().nullable(),
    ...renderedContext,
    token_budget: z.int(),
    truncated: z.boolean().describe('Whether something was left out or shortened for lack of room'),
    included_sections: z.array(sectionName),
    sections: z.array(contextSection),
    trace: z.array(contextEntry).describe('The fate of each candidate, at most 200; the manifest has all'),
  })
  .meta({ id: 'AssembledContext' });
export type AssembledContext = z.output<typeof assembledContext>;
