/** What a model sees of the cards of an agent_turn: messages and tools as an OpenAI- or Anthropic-style call takes them. */
import { z } from 'zod';
import { jsonObject, jsonValue } from '../../kernel/contract.js';

export const promptFormat = z
  .enum(['openai', 'anthropic'])
  .describe('Whose kind of call the messages are for; openai unless given');
export type PromptFormat = z.output<typeof promptFormat>;

export const pendingCall = z.object({
  tool_call_id: z.string().describe('What a tool.result must name to answer it'),
  tool_name: z.string(),
  arguments: jsonObject,
});
export type PendingCall = z.output<typeof pendingCall>;

export const prompt = z.object({
  format: promptFormat,
  system: z.string().describe('The system prompt; in the format openai it is the first message as well'),
  messages: z.array(jsonObject),
  tools: z.array(jsonValue),
  pending_calls: z.array(pendingCall).describe('Tool calls that have no result yet'),
});
export type Prompt = z.output<typeof prompt>;

/** A prompt as an agent_turn was given it, and the record of that. */
export const hydrated = prompt
  .extend({
    agent_turn_id: z.string(),
    turn_epoch: z.int(),
    step: z.int().describe('How many times it was hydrated with other cards before, and this time'),
    prompt_card_id: z.string().describe('The system prompt, kept as a card'),
    tools_card_id: z.string(),
    content_hash: z.string().describe('SHA-256 over the canonical JSON of the prompt'),
  })
  .meta({ id: 'Hydrated' });
export type Hydrated = z.output<typeof hydrated>;
