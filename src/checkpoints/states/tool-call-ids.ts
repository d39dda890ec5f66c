/** Ids of tool calls: their own, or derived from their content, so that they are the same in every store. */
import type { ToolCall } from '../checkpoints/model.js';

/** A call without an id gets `tool@timestamp`; the second such call in the list gets the suffix #2, the third #3. */
export function toolCallIds(completed: readonly Pick<ToolCall, 'id' | 'tool_id' | 'timestamp'>[]): string[] {
  const seen = new Map<string, number>();
  return completed.map(({ id, tool_id, timestamp }) => {
    if (id !== undefined) return id;
    const name = `${tool_id}@${timestamp}`;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  });
}
