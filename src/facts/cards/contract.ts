/** Operations on cards (seed paths: /projects/{project_id}/cards). */
import { z } from 'zod';
import { makes, operation, reads, writes } from '../../engine/contract.js';
import { anyId, pageInput, pageOutput } from '../../kernel/contract.js';
import { card, cardInput } from './model.js';

const readsCards = { method: 'GET', access: 'read', event: null } as const;

export const cards = {
  add: operation({
    method: 'POST',
    path: '/projects/{project_id}/cards',
    input: cardInput,
    output: card,
    access: 'write',
    touches: [makes('Card'), reads('Card', 'named')],
    event: 'cairn.card.added',
    status: 201,
    summary: 'Add a card. The same card_id with the same body returns the existing card.',
    example: { content: 'Summarise this report', metadata: { type: 'task.instruction', role: 'user' } },
  }),
  add_batch: operation({
    method: 'POST',
    path: '/projects/{project_id}/cards/add-batch',
    input: z.strictObject({
      cards: z.array(cardInput).min(1).max(1000),
      atomic: z.boolean().optional().describe('All or nothing (default: each card has its own result)'),
    }),
    output: z.object({
      results: z.array(
        z.discriminatedUnion('status', [
          z.object({ status: z.literal('success'), data: card }),
          z.object({ status: z.literal('error'), code: z.string(), message: z.string() }),
        ]),
      ),
      succeeded: z.int(),
      failed: z.int(),
    }),
    access: 'write',
    touches: [makes('Card'), reads('Card', 'named')],
    event: 'cairn.card.added',
    summary: 'Add up to 1,000 cards.',
    example: { cards: [{ content: 'one' }, { content: 'two' }] },
  }),
  get: operation({
    ...readsCards,
    path: '/projects/{project_id}/cards/{card_id}',
    input: z.strictObject({ card_id: anyId }),
    output: card,
    touches: [reads('Card', 'card_id')],
    summary: 'Read one card.',
    example: { card_id: 'card-1' },
  }),
  get_batch: operation({
    method: 'POST',
    path: '/projects/{project_id}/cards/batch',
    input: z.strictObject({ card_ids: z.array(anyId).max(10_000).describe('At most 100 different ids') }),
    output: z.object({ cards: z.array(card), missing_ids: z.array(z.string()) }),
    access: 'read',
    touches: [reads('Card', 'listed')],
    event: null,
    summary: 'Read up to 100 cards, in the order of the request.',
    example: { card_ids: ['card-1', 'card-2'] },
  }),
  list: operation({
    ...readsCards,
    path: '/projects/{project_id}/cards',
    input: z.strictObject({
      subject_id: anyId.optional().describe('Only cards about this subject'),
      include_superseded: z.boolean().optional().describe('Include superseded cards (default: false)'),
      ...pageInput,
    }),
    output: z.object({ cards: z.array(card), ...pageOutput }),
    touches: [reads('Card', 'listed')],
    summary: 'List cards in the order of their ids.',
    example: { subject_id: 'user-7' },
  }),
  delete: operation({
    method: 'DELETE',
    path: '/projects/{project_id}/cards/{card_id}',
    input: z.strictObject({ card_id: anyId }),
    output: z.void(),
    access: 'write',
    touches: [writes('Card', 'card_id')],
    event: 'cairn.card.deleted',
    status: 204,
    keeps_history: true,
    summary: 'Delete a card. Boxes that were sealed before still show it, until it is forgotten.',
    example: { card_id: 'card-1' },
  }),
};
