/** A context: what is put into a model's window, of what sections, in which format, and what became of each candidate. */
import { z } from 'zod';
import { anyId, jsonObject, profileName, text, uuid } from '../../kernel/contract.js';

export const SECTIONS = [
  'profile',
  'instructions',
  'principles',
  'notes',
  'artifacts',
  'summaries',
  'passages',
  'turns',
  'user_input',
] as const;
export const sectionName = z.enum(SECTIONS);
export type SectionName = z.output<typeof sectionName>;

export const contextFormat = z.enum(['messages', 'markdown', 'xml', 'json']);
export type ContextFormat = z.output<typeof contextFormat>;

export const DEFAULT_CONTEXT_TOKENS = 8000;
export const MAX_CONTEXT_TURNS = 5000;

const atMost = (limit: number, given: string) => z.int().min(0).max(limit).optional().describe(given);

const included = (given: string) => z.boolean().optional().describe(given);

export const sectionSetting = z.strictObject({
  name: sectionName,
  priority: z.int().min(0).max(1000).optional().describe('Those of higher priority get their room first'),
  share: z.number().min(0).max(1).optional().describe('Of the budget, at most, also where room is left'),
  min_tokens: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('What it gets at least, if it has as much, whatever its share'),
});
export type SectionSetting = z.output<typeof sectionSetting>;

export const contextInput = z.strictObject({
  trajectory_id: uuid
    .optional()
    .describe('The task that the context is for; that of the scope, else the one called memory unless given'),
  scope_id: uuid.optional().describe('Whose turns are shown; those of all open scopes of the trajectory unless given'),
  agent_turn_id: anyId.optional().describe('The agent_turn that it is made for; that of the guard unless given'),
  token_budget: z.int().min(1).max(1_000_000).optional().describe('8,000 unless given'),
  format: contextFormat.optional().describe('messages unless given'),
  user_input: text(500_000, 1).optional().describe('What the user says now: the end of the context, always in it'),
  instructions: text(500_000, 1).optional().describe('Told first, always in it'),
  profile: profileName.optional().describe('The profile whose system_prompt is told first'),
  query: text(20_000, 1)
    .optional()
    .describe('What it is about; the user_input unless given, else what the user said last'),
  relevance_query: text(20_000, 1).optional().describe('The same as query'),
  include_notes: included('Principles and notes; true unless given'),
  include_artifacts: included('True unless given'),
  include_history: included('Summaries, and passages of earlier turns; true unless given'),
  include_turns: included('The latest turns; true unless given'),
  include_hierarchy: included('Also the turns of the scopes around scope_id; false unless given'),
  max_notes: atMost(100, 'Of principles and of other notes each, 10 unless given'),
  max_artifacts: atMost(100, '5 unless given'),
  max_summaries: atMost(100, '5 unless given'),
  max_passages: atMost(100, '10 unless given'),
  max_turns: atMost(MAX_CONTEXT_TURNS, 'As many as fit unless given, 5,000 at most'),
  min_relevance: z
    .number()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('Leaves out what scores less, and what was not found by the query'),
  sections: z
    .array(sectionSetting)
    .max(SECTIONS.length)
    .optional()
    .describe('The order of sections before the turns, with what each may take; others follow as usual'),
});
export type ContextInput = z.output<typeof contextInput>;

/** What became of a candidate. */
export const contextAction = z.enum(['include', 'exclude', 'compress', 'truncate']);
export type ContextAction = z.output<typeof contextAction>;

export const contextReason = z
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
    'given: by the request. relevant: found by the query. newest: of its kind. recent: one of the latest turns. stands_for_turns: for turns that are not shown. no_room: the budget is used up. share_used_up: that of the section, and others took the rest or it may not have more. over_the_limit: there are more than asked for. below_min_relevance. shown_already: it is in the context in another form, or another says the same in the same words. behind_a_gap: a later turn did not fit. in_a_summary: a summary in the context stands for it.',
  );
export type ContextReason = z.output<typeof contextReason>;

export const contextEntry = z
  .object({
    action: contextAction,
    section: z.enum([...SECTIONS, 'box']).describe('box: it was packed into one'),
    reason: contextReason,
    entity_type: z.enum(['Turn', 'Artifact', 'Note', 'Card']),
    id: z.string(),
    card_id: z.string(),
    tokens: z.int().nullable().describe('Of it alone, as rendered; null where it was too long to count'),
    score: z.number().nullable().describe('Of the search that found it'),
    place: z.int().nullable().describe('Where it stands in the context; null for what is not in it'),
    kept_characters: z.int().nullable().describe('Of what was truncated, how much is shown'),
    by: z.string().nullable().describe('The artifact that stands for it'),
    contradicts: z
      .array(z.string())
      .optional()
      .describe('The ids of others in the context that it contradicts, or that contradict it: it is told beside both'),
  })
  .meta({ id: 'ContextEntry' });
export type ContextEntry = z.output<typeof contextEntry>;

export const contextSection = z.object({
  name: sectionName,
  tokens: z.int().describe('Of its parts, each counted alone'),
  included: z.int(),
  left_out: z.int().describe('Of turns, all that are not shown'),
});
export type ContextSection = z.output<typeof contextSection>;

export const renderedContext = {
  format: contextFormat,
  messages: z.array(jsonObject).nullable().describe('In the format messages, as an OpenAI-style chat call takes them'),
  text: z.string().nullable().describe('In the other formats'),
  token_count: z.int().describe('o200k tokens of the text, or of the canonical JSON of the messages'),
  content_hash: z.string().describe('SHA-256 over the same'),
};

export const assembledContext = z
  .object({
    manifest_id: z.string(),
    trajectory_id: z.string(),
    scope_id: z.string().nullable(),
    ...renderedContext,
    token_budget: z.int(),
    truncated: z.boolean().describe('Whether something was left out or shortened for want of room'),
    included_sections: z.array(sectionName),
    sections: z.array(contextSection),
    trace: z.array(contextEntry).describe('What became of each candidate, 200 at most; the manifest has all'),
  })
  .meta({ id: 'AssembledContext' });
export type AssembledContext = z.output<typeof assembledContext>;
