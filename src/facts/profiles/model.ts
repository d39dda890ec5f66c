/** A profile: the settings that agents are made from. A box with a sys.profile card, found by name. */
import { z } from 'zod';
import { memoryAccess } from '../../engine/contract.js';
import { canDelegateTo, capabilities } from '../../identity/contract.js';
import { instant, jsonObject, text } from '../../kernel/contract.js';

/** The content of its sys.profile card, without the name. */
export const profileContent = {
  description: text(20_000).optional(),
  agent_type: text(200, 1).optional().describe('Of agents made from it (default: the name)'),
  capabilities: capabilities.optional().describe('Of agents made from it (default: the name alone)'),
  memory_access: memoryAccess.optional(),
  can_delegate_to: canDelegateTo.optional(),
  system_prompt: text(500_000).optional().describe('The system prompt of the model'),
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
