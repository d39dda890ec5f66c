/** An API key: random, shown once, stored as a hash, bound to a tenant and possibly an agent. */
import { z } from 'zod';
import { keyRole } from '../../engine/contract.js';
import { instant } from '../../kernel/contract.js';

export const key = z
  .object({
    key_id: z.string(),
    tenant_id: z.string(),
    agent_id: z.string().nullable(),
    user_id: z.string().nullable(),
    role: keyRole,
    name: z.string().nullable(),
    created_at: instant,
    revoked_at: instant.nullable(),
  })
  .meta({ id: 'Key' });
export type Key = z.output<typeof key>;

export const createdKey = key.extend({ key: z.string().describe('The secret, shown only once') });
