/** The caller: tenant, agent and role of its key, or the open default on loopback. */
import { z } from 'zod';

export const keyRole = z.enum(['admin', 'write', 'read']);

export type KeyRole = z.output<typeof keyRole>;

export const caller = z
  .object({
    tenant_id: z.string(),
    agent_id: z.string().nullable(),
    role: keyRole,
    key_id: z.string().nullable(),
    user_id: z
      .string()
      .optional()
      .describe(
        'The user that the caller acts for: it reads what is about this user or about nobody, and writes what is about this user',
      ),
  })
  .meta({ id: 'Caller' });

export type Caller = z.output<typeof caller>;
