/** Operations on a tenant as a whole: what it holds, how it grew, whether it is sound. */
import { z } from 'zod';
import { type Group, operation, reads } from '../../engine/contract.js';
import { instant } from '../../kernel/contract.js';

const wholeTenant = [reads('Card', 'tenant'), reads('Packet', 'tenant')] as const;

const kindCount = z.object({
  kind: z.string().describe('Kind of entity'),
  total: z.int().describe('Rows, those of deleted and erased entities included'),
  bytes: z.int().nullable().describe('Bytes of content; null for a kind without content of its own'),
});

const documentCounts = z.object({
  documents: z.int().describe('Documents that were ever added'),
  tail: z.int().describe('Documents that no segment has yet; a search reads them one by one'),
  hidden: z.int().describe('Hidden documents that segments still have'),
  segments: z.int().describe('Parts of the index'),
  bytes: z.int().describe('Bytes of the segments'),
});

export const store = {
  stats: operation({
    method: 'GET',
    path: '/api/v1/store/stats',
    input: z.strictObject({}),
    output: z.object({
      kinds: z.array(kindCount).describe('Every kind'),
      index: documentCounts.describe('The search index'),
    }),
    access: 'admin',
    touches: wholeTenant,
    event: null,
    summary: 'Count what the tenant holds, by kind, with the bytes of content and the state of the search index.',
    example: {},
  }),
  growth: operation({
    method: 'GET',
    path: '/api/v1/store/growth',
    input: z.strictObject({ points: z.int().min(2).max(500).optional().describe('Points of the curve; default: 100') }),
    output: z.object({
      points: z
        .array(
          z.object({
            at: instant.describe('When this event was recorded'),
            events: z.int().describe('Events up to it'),
          }),
        )
        .describe('Oldest first'),
    }),
    access: 'read',
    touches: wholeTenant,
    event: null,
    summary: 'Read how the event log of the tenant grew: some points of its curve, the first and the last included.',
    example: { points: 50 },
  }),
  check: operation({
    method: 'POST',
    path: '/api/v1/store/check',
    input: z.strictObject({}),
    output: z.object({
      healthy: z.boolean().describe('No check found a problem'),
      duration_ms: z.int(),
      findings: z
        .array(
          z.object({
            check: z.string().describe('The invariant that was checked'),
            ok: z.boolean().describe('It holds'),
            problems: z.array(z.string()).describe('The first rows that break it'),
          }),
        )
        .describe('A finding per check'),
    }),
    access: 'admin',
    touches: wholeTenant,
    event: null,
    summary:
      'Check every invariant and hash of the tenant, as `cairn doctor` does for the whole store; reads everything.',
    example: {},
  }),
};

declare module '../../engine/contract/operation-types.js' {
  interface OperationsByName extends Group<'store', typeof store> {}
}
