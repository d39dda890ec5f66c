/** Executions and states for tests of checkpoints. */
import { randomUUID } from 'node:crypto';
import type {
  CheckpointSummary,
  MemoryEntry,
  Message,
  Snapshot,
  Thought,
  ToolCall,
} from '#cairn/checkpoints/contract.js';
import type { Api } from '#cairn/client/index.js';
import type { JsonObject } from '#cairn/kernel/contract.js';

export const thought = (id: string, more: Partial<Thought> = {}): Thought => ({
  id,
  type: 'reasoning',
  content: `thought ${id}`,
  confidence: 0.5,
  children: [],
  timestamp: 1,
  ...more,
});

export const toolCall = (tool_id: string, more: Partial<ToolCall> = {}): ToolCall => ({
  tool_id,
  arguments: {},
  result: null,
  success: true,
  duration_ms: 1,
  timestamp: 1,
  ...more,
});

export const message = (content: string): Message => ({ role: 'user', content });

export interface StateParts {
  readonly steps?: Thought[];
  readonly messages?: Message[];
  readonly variables?: JsonObject;
  readonly memory?: MemoryEntry[];
  readonly completed?: ToolCall[];
  readonly pending?: string[];
}

export const state = (parts: StateParts = {}): Snapshot => ({
  thought_chain: { steps: parts.steps ?? [] },
  context: {
    messages: parts.messages ?? [],
    variables: parts.variables ?? {},
    ...(parts.memory === undefined ? {} : { memory: parts.memory }),
  },
  tool_state: { pending: parts.pending ?? [], completed: parts.completed ?? [] },
});

/** A state that differs from others by a number. */
export const numbered = (n: number): Snapshot => state({ variables: { n } });

export const someExecution = async (
  cairn: Api,
  more: NonNullable<Parameters<Api['executions']['create']>[0]> = {},
): Promise<string> => (await cairn.executions.create(more)).execution_id;

type Create = Parameters<Api['checkpoints']['create']>[0];

export const take = (
  cairn: Api,
  execution_id: string,
  snapshot: Snapshot,
  more: Partial<Create> = {},
): Promise<CheckpointSummary> => cairn.checkpoints.create({ execution_id, snapshot, ...more });

export const snapshotOf = async (cairn: Api, checkpoint_id: string): Promise<Snapshot> =>
  (await cairn.checkpoints.get({ checkpoint_id })).snapshot;

/** A run of numbered states under the ids that are given, each from the one before. */
export async function someRun(cairn: Api, ids: readonly string[]): Promise<string> {
  const execution_id = await someExecution(cairn, { execution_id: `run-${randomUUID()}` });
  for (const [n, checkpoint_id] of ids.entries()) await take(cairn, execution_id, numbered(n), { checkpoint_id });
  return execution_id;
}

/** What each checkpoint of an execution says it descends from. */
export async function parentsOf(cairn: Api, execution_id: string): Promise<Record<string, string | null>> {
  const { checkpoints } = await cairn.checkpoints.list({ execution_id, limit: 500 });
  return Object.fromEntries(checkpoints.map(({ id, parent }) => [id, parent?.checkpoint_id ?? null]));
}

export const idsOf = (page: { checkpoints: readonly CheckpointSummary[] }): string[] =>
  page.checkpoints.map(({ id }) => id);
