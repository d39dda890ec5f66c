/** A handoff: a trajectory goes over to another agent, which goes on with it. */
import { z } from 'zod';
import { instant, text } from '../../kernel/contract.js';

export const handoffStatus = z.enum(['Initiated', 'Accepted', 'Rejected', 'Expired', 'Completed']);
export type HandoffStatus = z.output<typeof handoffStatus>;

/** An offer that nobody takes ends after this. */
export const HANDOFF_EXPIRES_MS = 30 * 60_000;

export const hints = z.array(text(20_000, 1)).max(100);

export const handoff = z
  .object({
    handoff_id: z.string(),
    from_agent_id: z.string(),
    to_agent_id: z.string(),
    trajectory_id: z.string(),
    scope_id: z.string().nullable().describe('The former owner’s, closed when it is accepted'),
    new_scope_id: z.string().nullable().describe('The new owner’s, which begins with the turns of that'),
    context_box_id: z.string().nullable().describe('Those turns, sealed'),
    status: handoffStatus,
    reason: z.string().nullable(),
    rejection: z.string().nullable().describe('Why the receiver rejected it'),
    next_steps: z.array(z.string()),
    blockers: z.array(z.string()),
    open_questions: z.array(z.string()),
    context_snapshot: z.string().nullable().describe('base64'),
    expires_at: instant.nullable().describe('Of the offer; null once it is answered'),
    created_at: instant,
    updated_at: instant,
    accepted_at: instant.nullable(),
    ended_at: instant.nullable(),
  })
  .meta({ id: 'Handoff' });
export type Handoff = z.output<typeof handoff>;
