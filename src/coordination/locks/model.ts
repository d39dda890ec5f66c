/** A lock: a leased resource, exclusive or shared, with a fencing token against stale writers. */
import { z } from 'zod';
import { inAnyCase } from '../../engine/contract.js';
import { instant } from '../../kernel/contract.js';

export const DEFAULT_LOCK_LEASE_MS = 30_000;

export const lockMode = inAnyCase(['Exclusive', 'Shared']).describe('Default: Exclusive');
export type LockMode = z.output<typeof lockMode>;

export const leaseMs = z
  .int()
  .min(100)
  .max(24 * 3_600_000);

export const lock = z
  .object({
    lock_id: z.string(),
    resource_type: z.string(),
    resource_id: z.string(),
    holder_agent_id: z.string(),
    mode: z.enum(['Exclusive', 'Shared']),
    state: z.enum(['waiting', 'held', 'released', 'expired', 'abandoned']),
    fencing_token: z.int().nullable().describe('Rises with every grant of the resource; null while it waits'),
    lease_ms: z.int(),
    asked_at: instant,
    acquired_at: instant.nullable(),
    expires_at: instant.nullable().describe('End of the lease; null while it waits and once it has ended'),
    ended_at: instant.nullable(),
  })
  .meta({ id: 'Lock' });
export type Lock = z.output<typeof lock>;
