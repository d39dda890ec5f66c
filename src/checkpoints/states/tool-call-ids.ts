/** The ids of tool calls: their own, or derived from what they are, so that they are the same in every store. */
import type { ToolCall } from '../checkpoints/model.js';

/**
 * In the order of the list. One without an id is known by its tool and time; of several with the same two, the second
 * has #2 behind that, the third #3.
 */
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
