/** Operations remember and recall: memory in two calls. */
import { z } from 'zod';
import { makes, operation, readsAnything, ttl, where } from '../../engine/contract.js';
import { actingUser, instant, jsonObject, text, uuid } from '../../kernel/contract.js';
import { turnRole } from '../../memory/contract.js';
import { excerpt, foundEntity, MAX_QUERY, searchedTypeInAnyCase, searchInput } from '../search/model.js';
import { rememberedAsText } from './outcomes.js';
import { passagesAsText } from './passages.js';

const rememberInput = z.strictObject({
  text: text(1_000_000, 1).describe('What to remember, in plain words'),
  as: z
    .enum(['note', 'turn'])
    .optional()
    .describe('A note outlives its task, a turn ends with its scope; default: note'),
  type: text(100, 1).optional().describe('The note_type; default: Fact'),
  title: text(500, 1).optional().describe('Of a note; default: its first sentence'),
  tags: z.array(text(200, 1)).max(32).optional(),
  speaker: text(200, 1).optional().describe('Who said it'),
  role: turnRole.optional().describe('Of a turn; default: User'),
  occurred_at: text(100, 1)
    .optional()
    .describe('When it happened, such as 2026-01-31, 8 May 2023 or 2026-01-31T12:00:00Z; default: now'),
  trajectory_id: uuid.optional().describe('The task it belongs to; default: one called memory'),
  scope_id: uuid.optional().describe('Of a turn: the scope it belongs to; default: one called memory'),
  ttl: ttl.optional().describe('Of a note'),
  metadata: jsonObject.optional(),
  user: actingUser,
});

const linked = z.object({
  id: z.string(),
  text: z.string().describe('The statement, at most 240 characters; empty if it was erased since'),
  value: z.string().describe('The value in it that is concerned'),
  occurred_at: instant.describe('When it happened, or when it was told'),
});

const outcome = z
  .enum(['added', 'strengthened', 'superseded', 'contradictory'])
  .describe(
    'added: new. strengthened: a known note says the same. superseded: it replaces the value of a known note, which is hidden from now on. contradictory: it contradicts a known note, and both are shown with marks',
  );

const remembered = z
  .object({
    entity_type: z.enum(['Note', 'Turn']),
    id: z.string(),
    name: z.string().nullable(),
    trajectory_id: z.string(),
    scope_id: z.string().nullable(),
    token_count: z.int(),
    created_at: instant,
    outcome,
    superseded: z.array(linked).optional().describe('The notes that it replaces'),
    contradicts: z.array(linked).optional().describe('The notes that it contradicts, or replaces in part'),
    strengthens: z.array(linked).optional().describe('A note that says the same'),
    superseded_by: z.array(linked).optional().describe('Notes with a newer value: it happened before them'),
  })
  .meta({ id: 'Remembered' });

const recallInput = z.strictObject({
  ...searchInput,
  query: text(MAX_QUERY, 1).describe('What you want to know, in plain words'),
  entity_types: z
    .array(searchedTypeInAnyCase)
    .min(1)
    .max(6)
    .optional()
    .describe('Default: Turn, Artifact, Note and Card'),
  min_confidence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Leaves out passages with a lower confidence; default: 0'),
  max_tokens: z.int().min(1).max(1_000_000).optional().describe('Upper limit of all texts together'),
  count_access: z
    .boolean()
    .optional()
    .describe('Count the artifacts and notes in the answer as accessed; default: true'),
  user: actingUser,
});

const passage = z
  .object({
    ...foundEntity,
    ...excerpt,
    confidence: z.number().describe('How likely it answers the question, 0 to 1'),
    text: z.string(),
    token_count: z.int(),
    is_excerpt: z
      .literal(true)
      .optional()
      .describe('The text is a part: the first passage too long for max_tokens begins with the sentence that answers'),
    same_as: z.array(z.string()).describe('Ids of duplicate notes or artifacts, at most 100'),
    mark: z
      .string()
      .optional()
      .describe('The end of the text, such as: since 2026-03-01; before: Hamburg. Also names what contradicts it'),
    since: instant.optional().describe('Of a note that replaced another: since when it holds'),
    before: z
      .array(z.object({ id: z.string(), value: z.string(), occurred_at: instant }))
      .optional()
      .describe('The values that it replaced, newest first'),
  })
  .meta({ id: 'Passage' });

export const memory = {
  remember: operation({
    method: 'POST',
    path: '/api/v1/remember',
    input: rememberInput,
    output: remembered,
    access: 'write',
    touches: [
      where(makes('Note'), 'as', undefined, 'note'),
      where(makes('Turn', 'trajectory_id', 'scope_id'), 'as', 'turn'),
    ],
    event: 'cairn.note.created, or cairn.turn.added',
    status: 201,
    summary: 'Remember a text as a note or a turn, and tell what it repeats, replaces or contradicts.',
    mcp: {
      tool: 'remember',
      text: rememberedAsText,
      use:
        'Use it when something comes up that will matter later: a decision and its reason, a preference, a fact about ' +
        'people or the project, a lesson. One at a time, in words that stand alone. A new value replaces the known one, and the answer says so.',
      place: ['trajectory_id'],
    },
    example: { text: 'Anna prefers tea to coffee.', tags: ['people'] },
  }),
  recall: operation({
    method: 'POST',
    path: '/api/v1/recall',
    input: recallInput,
    output: z.object({
      passages: z.array(passage),
      token_count: z.int().describe('Of all texts together'),
      left_out: z.int().describe('How many passages of this page did not fit into max_tokens'),
      next_cursor: z.string().nullable().describe('Cursor of the next page; null at the end'),
    }),
    access: 'read',
    touches: readsAnything,
    event: null,
    summary: 'Recall what is known about something: whole passages, best first, with the reasons.',
    mcp: {
      tool: 'recall',
      use:
        'Use it before you answer what may rest on earlier work, decisions or preferences. Ask in plain words, as ' +
        'you would ask a colleague. It always answers with what comes nearest: below a confidence of about 0.4 that ' +
        'is a guess. max_tokens limits the passages; default: 8,000.',
      unless_given: { max_tokens: 8000 },
      text: passagesAsText,
    },
    example: { query: 'What does Anna drink?', limit: 5 },
  }),
};
