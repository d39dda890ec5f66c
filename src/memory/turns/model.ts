/** A turn: a message in a scope, stored as a card at a position of the scope's box, and erased with the scope. */
import { z } from 'zod';
import { inAnyCase } from '../../engine/contract.js';
import {
  anyId,
  computed,
  instant,
  jsonObject,
  smallMetadata,
  subjectIds,
  subjectsShown,
  text,
  toolCalls,
  toolResults,
  uuid,
} from '../../kernel/contract.js';
import { content } from '../versions/model.js';

export const turnRole = inAnyCase(['User', 'Assistant', 'System', 'Tool']);

export const turnInput = z.strictObject({
  turn_id: uuid.optional().describe('Default: a new id'),
  scope_id: uuid,
  sequence: z.int().min(1).optional().describe('Must be the next one; default: assigned'),
  role: turnRole,
  content: content.optional().describe('Text, or a list of parts; default: empty'),
  token_count: z.int().min(0).max(1_000_000_000).optional().describe('Default: counted'),
  model_id: text(200, 1).nullish(),
  tool_calls: toolCalls.nullish(),
  tool_results: toolResults.nullish(),
  metadata: smallMetadata.optional(),
  agent_id: anyId.nullish().describe('Author; default: the agent of the key'),
  subject_ids: subjectIds.optional(),
  created_at: computed,
  budget: computed,
});
export type TurnInput = z.output<typeof turnInput>;

export const turn = z
  .object({
    turn_id: z.string(),
    scope_id: z.string(),
    sequence: z.int(),
    role: turnRole,
    content,
    token_count: z.int(),
    model_id: z.string().nullable(),
    tool_calls: toolCalls.nullable(),
    tool_results: toolResults.nullable(),
    metadata: jsonObject,
    agent_id: z.string().nullable(),
    subject_ids: subjectsShown,
    created_at: instant,
  })
  .meta({ id: 'Turn' });
export type Turn = z.output<typeof turn>;

export const addedTurn = turn
  .extend({
    budget: z.object({
      token_budget: z.int(),
      tokens_used: z.int().describe('With this turn'),
      threshold_reached: z.boolean(),
      over_budget: z.boolean().describe('True if this turn exceeded the budget and was added nonetheless'),
    }),
  })
  .meta({ id: 'AddedTurn' });
export type AddedTurn = z.output<typeof addedTurn>;
