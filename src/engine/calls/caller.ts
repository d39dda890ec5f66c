/** The caller: tenant, agent and role of its key, or the open default on loopback. */
import { z } from 'zod';

export const keyRole = z.enum(['admin', 'write', 'read']);

export type KeyRole = z.output<typeof keyRole>;

export const caller = z
  .object({ tenant_id: z.string(), agent_id: z.string().nullable(), role: keyRole, key_id: z.string().nullable() })
  .meta({ id: 'Caller' });

export type Caller = z.output<typeof caller>;
