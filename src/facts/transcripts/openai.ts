/** Messages in OpenAI's chat format. */
import { isBlank } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import type { OpenAiMessage, OpenAiToolCall } from './model.js';
import { shownIds } from './tool-calls.js';
import { answerText, callsIn, type Message } from './transcript.js';

/** The API refuses longer ids. */
const ID = /^.{1,40}$/su;

export function openaiMessages(system: string, messages: readonly Message[]): OpenAiMessage[] {
  const ids = shownIds(callsIn(messages), ID);
  const shown = messages.flatMap(({ role, text, calls }): OpenAiMessage[] => {
    if (calls.length === 0) return [{ role, content: text }];
    return [
      {
        role: 'assistant',
        content: isBlank(text) ? null : text,
        tool_calls: calls.map(
          (call): OpenAiToolCall => ({
            id: ids.get(call)!,
            type: 'function',
            function: { name: call.name, arguments: canonical(call.input) },
          }),
        ),
      },
      ...calls.map(
        (call): OpenAiMessage => ({ role: 'tool', tool_call_id: ids.get(call)!, content: answerText(call.result) }),
      ),
    ];
  });
  return isBlank(system) ? shown : [{ role: 'system', content: system }, ...shown];
}
