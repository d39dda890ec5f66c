/** An agent: a registered worker with capabilities, rights and presence. */
import { z } from 'zod';
import { memoryAccess, refuseNullError, refusesNull } from '../../engine/contract.js';
import { instant, jsonObject, text } from '../../kernel/contract.js';

export const DEFAULT_OFFLINE_AFTER_MS = 60_000;

export const agentType = text(200, 1);

/** An agent never reports `offline` itself: it follows from silence. */
export const agentStatus = z.enum(['active', 'idle', 'busy', 'offline']);
export type AgentStatus = z.output<typeof agentStatus>;
export const sayableStatus = z.enum(['active', 'idle', 'busy']);
export const capabilities = z.array(text(200, 1)).min(1).max(1000);

export const canDelegateTo = refusesNull(
  z
    .array(text(200, 1), refuseNullError('["*"]'))
    .max(1000)
    .describe('Types, profiles or ids of agents, or "*"; absent: anyone, empty: nobody'),
);

export const offlineAfter = z
  .int()
  .min(1000)
  .max(7 * 24 * 3_600_000)
  .describe('Silence after which the agent is offline (default: 60,000)');

export const agent = z
  .object({
    agent_id: z.string(),
    agent_type: z.string(),
    capabilities: z.array(z.string()),
    status: agentStatus,
    memory_access: memoryAccess.optional(),
    can_delegate_to: z.array(z.string()).optional(),
    current_trajectory_id: z.string().nullish(),
    profile_name: z.string().nullish(),
    parent_agent_id: z.string().nullish().describe('The agent on whose behalf it was created'),
    metadata: jsonObject.optional(),
    offline_after_ms: z.int(),
    last_seen_at: instant,
    registered_at: instant,
    updated_at: instant,
  })
  .describe('Other agents see id, type, capabilities and presence; itself and the tenant see the rest')
  .meta({ id: 'Agent' });
export type Agent = z.output<typeof agent>;
