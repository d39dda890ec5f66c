/** A box: an ordered set of references to cards, append-only inside, with a revision. */
import { z } from 'zod';
import { anyId, instant, jsonObject } from '../../kernel/contract.js';
import { card } from '../cards/model.js';

export const MAX_BOX_CARDS = 10_000;

export const cardIds = z.array(anyId).max(MAX_BOX_CARDS).describe('In order; a repeated id counts once');

/** How many of a box's last cards a batch shows of each box. */
export const BATCH_TAIL = { default: 200, max: 500 } as const;
export const batchTail = z
  .int()
  .optional()
  .describe('How many of the last cards to show of each box (default: 200), clamped to 1..500');

/** How many of a box's last cards a load shows: as many as a save takes. */
export const loadTail = z
  .int()
  .optional()
  .describe('How many of the last cards to show (default: 10,000), clamped to 1..10,000');

export const boxAccess = z.enum(['read', 'write']);

/** A box without its cards, as lists show it. */
export const boxState = z
  .object({
    box_id: z.string(),
    project_id: z.string(),
    agent_id: z.string().nullable().describe('Whose box it is; null for the tenant itself'),
    length: z.int().describe('How many cards the box holds'),
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
    // A save needs the revision, so a part of the cards can never be saved as the whole.
    revision: z.int().optional().describe('Rises with every change; absent when card_ids is only a part of the cards'),
    next_cursor: z
      .string()
      .nullable()
      .describe('For boxes.load: leads to the cards before these; null when there are none'),
  })
  .meta({ id: 'Box' });
export type Box = z.output<typeof box>;

export const hydratedBox = box
  .extend({ cards: z.array(card).optional().describe('The cards behind card_ids, when hydrated') })
  .meta({ id: 'HydratedBox' });
export type HydratedBox = z.output<typeof hydratedBox>;

export const appendResult = z
  .object({
    box_id: z.string(),
    revision: z.int(),
    length: z.int(),
    appended: z.array(z.string()).describe('What this call added, in order'),
    already_present: z.array(z.string()).describe('What was there before and stays where it was'),
  })
  .meta({ id: 'AppendResult' });
export type AppendResult = z.output<typeof appendResult>;

export const grant = z
  .object({ box_id: z.string(), agent_id: z.string(), access: boxAccess, granted_at: instant })
  .meta({ id: 'Grant' });
export type Grant = z.output<typeof grant>;
