/** A profile: what an agent is made from. A box with a sys.profile card, found by name. */
import { z } from 'zod';
import { memoryAccess } from '../../engine/contract.js';
import { canDelegateTo, capabilities } from '../../identity/contract.js';
import { instant, jsonObject, text } from '../../kernel/contract.js';
/** The content of its sys.profile card, but for the name. */
export const profileContent = {
  description: text(20_000).optional(),
  agent_type: text(200, 1).optional().describe('Of agents made from it: the name unless given'),
  capabilities: capabilities.optional().describe('Of agents made from it: the name alone unless given'),
  memory_access: memoryAccess.optional(),
  can_delegate_to: canDelegateTo.optional(),
  system_prompt: text(500_000).optional().describe('What the model is told first'),
  tools: z.array(jsonObject).max(1000).optional().describe('In the style of OpenAI or Anthropic'),
  llm_config: jsonObject.optional(),
};

export const profile = z
  .object({
    name: z.string(),
    box_id: z.string(),
    card_id: z.string().describe('Its sys.profile card'),
    ...profileContent,
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Profile' });
export type Profile = z.output<typeof profile>;
