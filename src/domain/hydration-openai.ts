/** Messages as an OpenAI-style chat call takes them. */
import type { JsonObject } from '../model/json.js';
import { canonical } from './canonical.js';
import { shownIds } from './hydration-calls.js';
import { isBlank } from './json-values.js';
import { answerText, type Message } from './transcript.js';

/** Longer ids are refused. */
const ID = /^.{1,40}$/su;

export function openaiMessages(system: string, messages: readonly Message[]): JsonObject[] {
  const ids = shownIds(
    messages.flatMap(({ calls }) => calls),
    ID,
  );
  let used = 0;
  const shown = messages.flatMap(({ role, text, calls }): JsonObject[] => {
    if (calls.length === 0) return [{ role, content: text }];
    const own = ids.slice(used, (used += calls.length));
    return [
      {
        role,
        content: isBlank(text) ? null : text,
        tool_calls: calls.map(({ name, input }, i) => ({
          id: own[i]!,
          type: 'function',
          function: { name, arguments: canonical(input) },
        })),
      },
      ...calls.map(({ result }, i) => ({ role: 'tool', tool_call_id: own[i]!, content: answerText(result) })),
    ];
  });
  return isBlank(system) ? shown : [{ role: 'system', content: system }, ...shown];
}
