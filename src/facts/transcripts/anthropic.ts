/** Messages in Anthropic's format: blocks, alternating roles, the user first. */
import { isBlank } from '../../kernel/index.js';
import type { AnthropicBlock, AnthropicMessage } from './model.js';
import { shownIds } from './tool-calls.js';
import { answerText, callsIn, type Message } from './transcript.js';

const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const OPENING = 'Begin.';

/** Without the system prompt: the format has it beside the messages. */
export function anthropicMessages(_system: string, messages: readonly Message[]): AnthropicMessage[] {
  const ids = shownIds(callsIn(messages), ID);
  const shown: AnthropicMessage[] = [];
  const add = (role: Message['role'], content: AnthropicBlock[]) => {
    const last = shown.at(-1);
    if (last?.role === role) for (const block of content) last.content.push(block);
    else shown.push({ role, content });
  };
  if (messages[0]?.role !== 'user') add('user', [textBlock(OPENING)]);
  for (const { role, text, calls } of messages) {
    add(role, [
      ...(isBlank(text) ? [] : [textBlock(text)]),
      ...calls.map(
        (call): AnthropicBlock => ({ type: 'tool_use', id: ids.get(call)!, name: call.name, input: call.input }),
      ),
    ]);
    const results = calls.map((call) => resultBlock(ids.get(call)!, call.result));
    if (results.length > 0) add('user', results);
  }
  return trimmed(shown);
}

const textBlock = (text: string): AnthropicBlock => ({ type: 'text', text });

const resultBlock = (id: string, result: Message['calls'][number]['result']): AnthropicBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  content: answerText(result),
  ...(result?.failed ? { is_error: true } : {}),
});

/** The API refuses white space at the end of a last message of the assistant. */
function trimmed(messages: AnthropicMessage[]): AnthropicMessage[] {
  const last = messages.at(-1)!;
  const block = last.content.at(-1)!;
  if (last.role !== 'assistant' || block.type !== 'text') return messages;
  const content = [...last.content.slice(0, -1), textBlock(block.text.trimEnd())];
  return [...messages.slice(0, -1), { ...last, content }];
}
