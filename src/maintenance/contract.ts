/** Operations on lifetimes. */
import { z } from 'zod';
import type { Group } from '../engine/contract.js';
import { operation, reads, writes } from '../engine/contract.js';

export const lifetime = {
  sweep: operation({
    method: 'POST',
    path: '/api/v1/memory/gc/run',
    input: z.strictObject({}),
    output: z.object({
      cards_erased: z.int(),
      memories_erased: z.int().describe('Versions of artifacts and notes, whose content is in cards'),
      messages_erased: z.int(),
      packets_erased: z.int(),
      requests_forgotten: z.int().describe('Idempotency records older than 24 hours'),
      cards_kept: z
        .int()
        .describe('Found expired but pinned by a sealed box; counted by the first sweep that finds it'),
      duration_ms: z.int(),
    }),
    access: 'admin',
    touches: [writes('Card', 'tenant'), writes('Packet', 'tenant')],
    event: 'cairn.lifetime.swept',
    summary: 'Erase now what has expired, in small batches.',
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
    summary: 'Count what is there, what has expired and waits for the sweep, and what was erased.',
    example: {},
  }),
};

declare module '../engine/contract/operation-types.js' {
  interface OperationsByName extends Group<'lifetime', typeof lifetime> {}
}
