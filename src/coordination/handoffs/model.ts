/** A handoff: the transfer of a trajectory to another agent. */
import { z } from 'zod';
import { instant, text } from '../../kernel/contract.js';

export const handoffStatus = z.enum(['Initiated', 'Accepted', 'Rejected', 'Expired', 'Completed']);
export type HandoffStatus = z.output<typeof handoffStatus>;

/** An unanswered offer expires after this. */
export const HANDOFF_EXPIRES_MS = 30 * 60_000;

export const hints = z.array(text(20_000, 1)).max(100);

export const handoff = z
  .object({
    handoff_id: z.string(),
    from_agent_id: z.string(),
    to_agent_id: z.string(),
    trajectory_id: z.string(),
    scope_id: z.string().nullable().describe('The scope of the giver, closed when the handoff is accepted'),
    new_scope_id: z.string().nullable().describe('The scope of the receiver, which starts with the turns of scope_id'),
    context_box_id: z.string().nullable().describe('A sealed box with those turns'),
    status: handoffStatus,
    reason: z.string().nullable(),
    rejection: z.string().nullable().describe('Why the receiver rejected it'),
    next_steps: z.array(z.string()),
    blockers: z.array(z.string()),
    open_questions: z.array(z.string()),
    context_snapshot: z.string().nullable().describe('base64'),
    expires_at: instant.nullable().describe('When the offer expires; null once it is answered'),
    created_at: instant,
    updated_at: instant,
    accepted_at: instant.nullable(),
    ended_at: instant.nullable(),
  })
  .meta({ id: 'Handoff' });
export type Handoff = z.output<typeof handoff>;
