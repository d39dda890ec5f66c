/** A card: the smallest unit of information, immutable once written. */
import { z } from 'zod';
import {
  anyId,
  computed,
  initialValue,
  instant,
  jsonObject,
  jsonValue,
  subjectIds,
  toolCalls,
} from '../../kernel/contract.js';

export const cardInput = z.strictObject({
  card_id: anyId.optional().describe('Default: a new id'),
  content: jsonValue.optional().describe('The payload: text or any JSON'),
  tool_calls: toolCalls.nullish(),
  tool_call_id: anyId.nullish(),
  metadata: jsonObject
    .optional()
    .describe('Open object: `type` is the card type, `role` user, assistant, system or tool'),
  author_id: anyId.nullish().describe('For audit only, not a conversation role'),
  subject_ids: subjectIds.optional(),
  derived_from: z.array(anyId).max(100).optional().describe('Source cards; their subject_ids are inherited'),
  ttl_seconds: z.int().min(1).max(3_153_600_000).nullish(),
  expires_at: instant.nullish().describe('With ttl_seconds, at most that many seconds from now'),
  project_id: computed,
  content_hash: computed,
  created_at: computed,
  deleted_at: initialValue(null),
});
export type CardInput = z.output<typeof cardInput>;

export const card = z
  .object({
    card_id: z.string(),
    project_id: z.string(),
    content: jsonValue,
    tool_calls: toolCalls.nullable(),
    tool_call_id: z.string().nullable(),
    metadata: jsonObject,
    author_id: z.string().nullable(),
    subject_ids: z.array(z.string()),
    derived_from: z.array(z.string()),
    content_hash: z.string().describe('SHA-256 over the canonical JSON of the content'),
    ttl_seconds: z.int().nullable(),
    expires_at: instant.nullable(),
    created_at: instant,
    deleted_at: instant.nullable().describe('Not null only in a box that was sealed before the deletion'),
  })
  .meta({ id: 'Card' });
export type Card = z.output<typeof card>;
