/** Stands for a store where only what a run sends matters: takes checkpoints one by one, in memory, and checks their form. */
import { type Checkpoint, type CheckpointSummary, checkpoint, type Execution } from '#cairn/checkpoints/contract.js';
import { newId } from '#cairn/kernel/contract.js';
import { CairnError } from '#cairn/kernel/index.js';
import type { RunStore } from '#cairn/runtime/index.js';

type Sent = Parameters<RunStore['checkpoints']['create']>[0];

export interface RecordingStore extends RunStore {
  readonly executionsById: Map<string, Execution>;
  /** What was sent, as it was when it arrived; the objects themselves in `sent`. */
  readonly stored: Checkpoint[];
  readonly sent: Sent[];
  /** How many calls of create are under way, at most ever. */
  readonly atOnce: number;
  /** Each call of create waits for this before it is answered. */
  gate: Promise<unknown>;
  /** Errors to answer the next calls of create with; undefined lets one pass. */
  readonly faults: (Error | undefined)[];
}

export function recordingStore(): RecordingStore {
  const executionsById = new Map<string, Execution>();
  const stored: Checkpoint[] = [];
  const sent: Sent[] = [];
  const faults: (Error | undefined)[] = [];
  let underWay = 0;
  const executionOf = (id: string): Execution => {
    const found = executionsById.get(id);
    if (!found) throw new CairnError('EXECUTION_NOT_FOUND', `no execution "${id}"`);
    return found;
  };
  const change = (id: string, patch: Partial<Execution>): Execution => {
    const changed = { ...executionOf(id), ...patch };
    executionsById.set(id, changed);
    return changed;
  };
  const copyOf = (id: string | null): Checkpoint => {
    const found = stored.find((one) => one.id === id);
    if (!found) throw new CairnError('CHECKPOINT_NOT_FOUND', `no checkpoint "${id}"`);
    return structuredClone(found);
  };

  const self = {
    executionsById,
    stored,
    sent,
    faults,
    atOnce: 0,
    gate: Promise.resolve() as Promise<unknown>,
    executions: {
      async create(input) {
        const execution_id = input?.execution_id ?? newId();
        const made = executionsById.get(execution_id) ?? newExecution(execution_id, input?.agent_id ?? 'agent');
        executionsById.set(execution_id, made);
        return made;
      },
      get: async ({ execution_id }) => executionOf(execution_id),
      update: async ({ execution_id, status }) =>
        change(execution_id, status ? { status, finished_at: status === 'running' ? null : NOW } : {}),
    } as RunStore['executions'],
    checkpoints: {
      async create(input) {
        self.atOnce = Math.max(self.atOnce, ++underWay);
        try {
          const made = portable(input, executionsById.get(input.execution_id)?.agent_id ?? 'agent');
          await self.gate;
          const fault = faults.shift();
          if (fault) throw fault;
          const siblings = stored.filter(({ parent }) => parent?.checkpoint_id === made.parent?.checkpoint_id);
          if (made.parent) made.parent.is_branch = siblings.length > 0;
          sent.push(input);
          stored.push(made);
          if (executionsById.has(made.execution_id)) change(made.execution_id, { latest_checkpoint_id: made.id });
          return summaryOf(made);
        } finally {
          underWay--;
        }
      },
      get: async ({ checkpoint_id }) => copyOf(checkpoint_id),
      latest: async ({ execution_id }) => copyOf(executionOf(execution_id).latest_checkpoint_id),
      async restore({ checkpoint_id }) {
        const found = copyOf(checkpoint_id);
        change(found.execution_id, { latest_checkpoint_id: found.id, status: 'running' });
        return found;
      },
    } as RunStore['checkpoints'],
  };
  return self;
}

/** The portable form of what was sent, as the text of a file would have it. */
function portable(input: Sent, agent_id: string): Checkpoint {
  const { checkpoint_id, parent_checkpoint_id, root: _, metadata, ...rest } = input;
  const made = {
    version: '1.0.0',
    ...rest,
    id: checkpoint_id,
    agent_id,
    metadata,
    ...(parent_checkpoint_id == null ? {} : { parent: { checkpoint_id: parent_checkpoint_id } }),
  };
  return checkpoint.parse(JSON.parse(JSON.stringify(made)));
}

function summaryOf({ snapshot: _, diff: __, ...summary }: Checkpoint): CheckpointSummary {
  return summary;
}

const NOW = '2026-01-31T12:00:00.000Z';
const newExecution = (execution_id: string, agent_id: string): Execution => ({
  execution_id,
  agent_id,
  name: null,
  status: 'running',
  trajectory_id: null,
  thread_id: null,
  namespace: '',
  subject_ids: [],
  metadata: {},
  checkpoints: 0,
  latest_checkpoint_id: null,
  created_at: NOW,
  updated_at: NOW,
  finished_at: null,
});
