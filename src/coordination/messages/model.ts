/** A message between agents, delivered again until it is acknowledged. */
import { z } from 'zod';
import { inAnyCase } from '../../engine/contract.js';
import { instant } from '../../kernel/contract.js';

export const priorities = ['low', 'normal', 'high', 'urgent', 'critical'] as const;
export const priority = inAnyCase(priorities).describe('Default: normal');

export const fanOut = z
  .enum(['one', 'all'])
  .describe('To a type: one of its agents, or all that are registered now. Default: one');

export const DEFAULT_DELIVERY_LEASE_MS = 30_000;

export const message = z
  .object({
    message_id: z.string(),
    seq: z.int().describe('Rises in the order of sending'),
    from_agent_id: z.string().nullable(),
    to_agent_id: z.string().nullable(),
    to_agent_type: z.string().nullable(),
    fan_out: fanOut,
    message_type: z.string(),
    payload: z.string().describe('Text, such as JSON'),
    trajectory_id: z.string().nullable(),
    scope_id: z.string().nullable(),
    artifact_ids: z.array(z.string()),
    priority: z.enum(priorities),
    expires_at: instant.nullable(),
    created_at: instant,
    recipients: z.int().describe('Number of mailboxes that it went to'),
    acknowledged: z.int().describe('Number of those that acknowledged it'),
    acknowledged_at: instant.nullable().describe('Time of the last acknowledgement; null until all have acknowledged'),
  })
  .meta({ id: 'Message' });
export type Message = z.output<typeof message>;

/** A message under a delivery lease. */
export const deliveredMessage = message
  .extend({
    delivery: z.object({
      mailbox: z.string(),
      attempt: z.int().describe('1 for the first time'),
      reader_id: z.string(),
      lease_expires_at: instant.describe('Unacknowledged, it is delivered again after this'),
    }),
  })
  .meta({ id: 'DeliveredMessage' });
export type DeliveredMessage = z.output<typeof deliveredMessage>;
