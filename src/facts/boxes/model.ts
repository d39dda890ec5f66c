/** A box: an ordered list of card references, append-only, with a revision. */
import { z } from 'zod';
import { anyId, instant, jsonObject, subjectsShown } from '../../kernel/contract.js';
import { card } from '../cards/model.js';

export const MAX_BOX_CARDS = 10_000;

export const cardIds = z.array(anyId).max(MAX_BOX_CARDS).describe('In order; a repeated id counts once');

export const BATCH_TAIL = { default: 200, max: 500 } as const;
export const batchTail = z.int().optional().describe('Number of last cards per box (default: 200), clamped to 1..500');

export const loadTail = z.int().optional().describe('Number of last cards (default: 10,000), clamped to 1..10,000');

export const boxAccess = z.enum(['read', 'write']);

/** A box without its cards, as lists show it. */
export const boxState = z
  .object({
    box_id: z.string(),
    project_id: z.string(),
    agent_id: z.string().nullable().describe('The owner; null for the tenant itself'),
    subject_ids: subjectsShown,
    length: z.int().describe('Number of cards in the box'),
    revision: z.int().describe('Rises with every change'),
    sealed_at: instant.nullable(),
    forked_from: z.object({ box_id: z.string(), revision: z.int() }).nullable(),
    metadata: jsonObject,
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'BoxState' });
export type BoxState = z.output<typeof boxState>;

export const box = boxState
  .extend({
    card_ids: z.array(z.string()).describe('The cards in order: all of them, or the last ones'),
    // Absent for a part, so that a save, which needs it, cannot take a part for the whole.
    revision: z.int().optional().describe('Rises with every change; absent when card_ids has only a part of the cards'),
    next_cursor: z.string().nullable().describe('Cursor of boxes.load for the cards before these, if any'),
  })
  .meta({ id: 'Box' });
export type Box = z.output<typeof box>;

export const hydratedBox = box
  .extend({ cards: z.array(card).optional().describe('The cards behind card_ids, when hydrated') })
  .meta({ id: 'HydratedBox' });

export const appendResult = z
  .object({
    box_id: z.string(),
    revision: z.int(),
    length: z.int(),
    appended: z.array(z.string()).describe('The cards that this call added, in order'),
    already_present: z.array(z.string()).describe('The cards that the box had before; they keep their place'),
  })
  .meta({ id: 'AppendResult' });
export type AppendResult = z.output<typeof appendResult>;

export const grant = z
  .object({ box_id: z.string(), agent_id: z.string(), access: boxAccess, granted_at: instant })
  .meta({ id: 'Grant' });
export type Grant = z.output<typeof grant>;
