/** Runs in tests: snapshots made of a few words, and executions with checkpoints. */
import type { Snapshot, Thought, ToolCall } from '#cairn/checkpoints/contract.js';
import type { Api } from '#cairn/client/index.js';

export interface Parts {
  readonly thoughts?: readonly Thought[];
  readonly calls?: readonly ToolCall[];
  readonly messages?: readonly string[];
  readonly variables?: Snapshot['context']['variables'];
}

export const snapshotOf = ({ thoughts = [], calls = [], messages = [], variables = {} }: Parts = {}): Snapshot => ({
  thought_chain: { steps: [...thoughts] },
  context: { messages: messages.map((content) => ({ role: 'user', content })), variables },
  tool_state: { pending: [], completed: [...calls] },
});

export const thought = (id: string, confidence: number, type: Thought['type'] = 'reasoning'): Thought => ({
  id,
  type,
  content: `thought ${id}`,
  confidence,
  children: [],
  timestamp: 1,
});

export const call = (tool_id: string, id: string, duration_ms: number, success = true): ToolCall => ({
  id,
  tool_id,
  arguments: {},
  result: null,
  success,
  duration_ms,
  timestamp: 1,
});

/** An execution, and a way to add checkpoints to it by what they have. */
export async function beginRun(cairn: Api, execution_id: string) {
  await cairn.executions.create({ execution_id });
  return async (
    checkpoint_id: string,
    parts: Parts = {},
    more: Partial<Parameters<Api['checkpoints']['create']>[0]> = {},
  ) => {
    const { id } = await cairn.checkpoints.create({
      checkpoint_id,
      execution_id,
      snapshot: snapshotOf(parts),
      ...more,
    });
    return id;
  };
}
