/** What a model sees of an agent_turn, as messages ready for a call. */
import { z } from 'zod';
import { jsonObject } from './json.js';

export const hydrationFormat = z.enum(['openai', 'anthropic']).describe('openai unless given');
export type HydrationFormat = z.output<typeof hydrationFormat>;

export const hydrated = z
  .object({
    agent_turn_id: z.string(),
    step: z.int(),
    format: hydrationFormat,
    system: z.string(),
    messages: z.array(jsonObject),
    tools: z.array(jsonObject),
    prompt_card_id: z.string(),
    tools_card_id: z.string(),
    content_hash: z.string(),
  })
  .meta({ id: 'Hydrated' });
export type Hydrated = z.output<typeof hydrated>;
