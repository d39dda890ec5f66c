/** Operations on lifetimes. */
import { z } from 'zod';
import { type Group, operation, reads, writes } from '../engine/contract.js';

export { erasures, forgetting } from './erasures/contract.js';
export { forgottenAccount, forgottenCounts, plannedItems } from './erasures/forgotten-text.js';
export { store } from './figures/contract.js';

export const lifetime = {
  sweep: operation({
    method: 'POST',
    path: '/api/v1/memory/gc/run',
    input: z.strictObject({}),
    output: z.object({
      cards_erased: z.int(),
      memories_erased: z.int().describe('Versions of artifacts and notes; their content is in cards'),
      messages_erased: z.int(),
      packets_erased: z.int(),
      requests_forgotten: z.int().describe('Idempotency records older than 24 hours'),
      cards_kept: z.int().describe('Expired but pinned by a sealed box; only the first sweep that finds one counts it'),
      duration_ms: z.int(),
    }),
    access: 'admin',
    touches: [writes('Card', 'tenant'), writes('Packet', 'tenant')],
    event: 'cairn.lifetime.swept',
    summary: 'Erase expired content now, in small batches.',
    example: {},
  }),
  stats: operation({
    method: 'GET',
    path: '/api/v1/memory/gc/stats',
    input: z.strictObject({}),
    output: z.object({
      cards: z.object({ total: z.int(), deleted: z.int(), expired: z.int(), erased: z.int() }),
      packets: z.object({ total: z.int(), expired: z.int(), erased: z.int() }),
    }),
    access: 'read',
    touches: [reads('Card', 'tenant'), reads('Packet', 'tenant')],
    event: null,
    summary: 'Count all content, content that expired and waits for the sweep, and erased content.',
    example: {},
  }),
};

declare module '../engine/contract/operation-types.js' {
  interface OperationsByName extends Group<'lifetime', typeof lifetime> {}
}
