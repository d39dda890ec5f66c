/** The prompt of an agent_turn: messages and tools in the format of OpenAI or Anthropic. */
import { z } from 'zod';
import { type JsonObject, jsonObject, jsonValue } from '../../kernel/contract.js';

export const promptFormat = z.enum(['openai', 'anthropic']).describe('API format of the messages (default: openai)');
export type PromptFormat = z.output<typeof promptFormat>;

const pendingCall = z.object({
  tool_call_id: z.string().describe('The tool_call_id of the tool.result that answers it'),
  tool_name: z.string(),
  arguments: jsonObject,
});

export const prompt = z.object({
  format: promptFormat,
  system: z.string().describe('The system prompt; in the format openai also the first message'),
  messages: z.array(jsonObject),
  tools: z.array(jsonValue),
  pending_calls: z.array(pendingCall).describe('Tool calls without a result'),
});
export type Prompt = z.output<typeof prompt>;

/** The prompt of an agent_turn at a step, with its record. */
export const hydrated = prompt
  .extend({
    agent_turn_id: z.string(),
    turn_epoch: z.int(),
    step: z.int().describe('Number of hydrations with different cards, this one included'),
    prompt_card_id: z.string().describe('The card with the system prompt'),
    tools_card_id: z.string(),
    content_hash: z.string().describe('SHA-256 over the canonical JSON of the prompt'),
  })
  .meta({ id: 'Hydrated' });
export type Hydrated = z.output<typeof hydrated>;

/** Messages in the formats of model APIs. Type aliases: an interface is not assignable to JSON. */
export type OpenAiToolCall = {
  id: string;
  type: 'function';
  /** `arguments` is the text of a JSON object. */
  function: { name: string; arguments: string };
};

export type OpenAiMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: OpenAiToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export type AnthropicBlock =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: JsonObject }
  | { type: 'tool_result'; tool_use_id: string; content: string; is_error?: true };

export type AnthropicMessage = { role: 'user' | 'assistant'; content: AnthropicBlock[] };
