/** Messages in the formats of model APIs. Type aliases: an interface is not assignable to JSON. */
import type { JsonObject } from '../../kernel/contract.js';

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
