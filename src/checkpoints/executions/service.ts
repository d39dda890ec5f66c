/** Use cases of executions: create, read, list, update. `ending.ts` deletes, `views.ts` has trees and statistics. */
import { listToText, longQuery, type Query, textToList } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  change,
  checkNamedAgent,
  equalsAnswer,
  listPage,
  subjectsOf,
  timesOf,
  type Work,
} from '../../engine/index.js';
import { isForeign, reachOf } from '../../identity/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid, present, toIso } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { metadataText, openTrajectoryLocked, refuseFormerOwner } from '../../memory/index.js';
import { executions as operations } from './contract.js';
import { executionHooks } from './hooks.js';
import type { Execution, ExecutionStatus } from './model.js';
import {
  countExecutions,
  type ExecutionRow,
  findExecution,
  insertExecution,
  listExecutions,
  lockExecution,
  updateExecution,
} from './store.js';

const DEFAULT_AGENT = 'agent';

export const isFinished = (status: ExecutionStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled';

export const showExecution = (row: ExecutionRow): Execution => ({
  execution_id: row.execution_id,
  agent_id: row.agent_id,
  name: row.name,
  status: row.status,
  trajectory_id: row.trajectory_id,
  thread_id: row.thread_id,
  namespace: row.namespace,
  subject_ids: textToList(row.subject_ids),
  metadata: row.metadata === null ? {} : (JSON.parse(row.metadata) as JsonObject),
  checkpoints: row.checkpoints,
  latest_checkpoint_id: row.head_id,
  created_at: toIso(row.created_at),
  updated_at: toIso(row.updated_at),
  finished_at: row.finished_at === null ? null : toIso(row.finished_at),
});

export const openExecution = async (query: Query, execution_id: string): Promise<ExecutionRow> =>
  present(query, 'execution', execution_id, await findExecution(query, execution_id));

/** Locks the execution: no other call adds or removes a checkpoint until the commit. */
export async function openExecutionLocked({ call, tx }: Work, execution_id: string): Promise<ExecutionRow> {
  const row = present(tx, 'execution', execution_id, await lockExecution(tx, execution_id));
  await refuseFormerOwner(call, tx, row.trajectory_id);
  return row;
}

const readExecution = async (query: Query, execution_id: string): Promise<Execution> =>
  showExecution(await openExecution(query, execution_id));

/** How an answer is recorded under its idempotency key. */
const byId = {
  remember: ({ execution_id }: Execution) => execution_id,
  again: (query: Query, kept: Json) => readExecution(query, kept as string),
};

/** The agent of an execution or checkpoint: that of the key, else the named one. */
export const agentOf = (call: Call, named: string | undefined): string =>
  checkNamedAgent(call, named, 'agent_id') ?? named ?? DEFAULT_AGENT;

export function newExecution(
  given: Pick<ExecutionRow, 'execution_id' | 'agent_id'> & Partial<ExecutionRow>,
  now: number,
): ExecutionRow {
  const status = given.status ?? 'running';
  return {
    name: null,
    trajectory_id: null,
    thread_id: null,
    namespace: '',
    subject_ids: null,
    metadata: null,
    carried: null,
    revision: 0,
    line: 0,
    checkpoints: 0,
    head_id: null,
    sent_hash: null,
    created_at: now,
    updated_at: now,
    finished_at: isFinished(status) ? now : null,
    deleted_at: null,
    ...given,
    status,
  };
}

export const executionGone = (execution_id: string): CairnError =>
  new CairnError('ENTITY_GONE', `execution ${execution_id} was deleted; ids are never reused`);

/** The existing execution with this id, if it was created by the same input. */
function sameExecution(
  call: Call,
  row: ExecutionRow,
  input: In<'executions.create'>,
  sent_hash: string | null,
  agent_id: string,
): Execution {
  const { execution_id } = row;
  if (row.deleted_at !== null) throw executionGone(execution_id);
  const shown = showExecution(row);
  const isSame = row.sent_hash === sent_hash || equalsAnswer(operations.create.input, shown, input);
  if (isSame && row.agent_id === agent_id && !isForeign(call, row)) return shown;
  throw new CairnError(
    'ENTITY_ALREADY_EXISTS',
    `execution ${execution_id} already exists with different content: use a new execution_id`,
  );
}

export async function create(call: Call, input: In<'executions.create'>): Promise<Execution> {
  const agent_id = agentOf(call, input.agent_id);
  const sent_hash = input.execution_id === undefined ? null : sha256(canonical(input as unknown as Json));
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const execution_id = input.execution_id ?? newId();
      if (input.execution_id !== undefined) {
        const existing = await findExecution(tx, execution_id);
        if (existing) return sameExecution(call, existing, input, sent_hash, agent_id);
      }
      const trajectory_id = input.trajectory_id ?? null;
      const trajectory = trajectory_id === null ? undefined : await openTrajectoryLocked(work, trajectory_id, agent_id);
      const row = newExecution(
        {
          execution_id,
          agent_id,
          name: input.name ?? null,
          status: input.status ?? 'running',
          trajectory_id,
          thread_id: input.thread_id ?? null,
          namespace: input.namespace ?? '',
          subject_ids: listToText(subjectsOf(call, input.subject_ids, trajectory?.subject_ids ?? null)),
          metadata: metadataText(input.metadata),
          sent_hash,
        },
        now,
      );
      await insertExecution(tx, row);
      const facts = { agent_id, status: row.status };
      appendEvent(work, 'cairn.execution.created', { type: 'execution', id: execution_id }, facts, trajectory_id);
      return showExecution(row);
    },
    ...byId,
  });
}

export const get = (call: Call, input: In<'executions.get'>): Promise<Execution> =>
  readExecution(call.driver.at(call.tenant), input.execution_id);

export async function list(call: Call, input: In<'executions.list'>): Promise<Out<'executions.list'>> {
  const { driver, tenant } = call;
  const { limit, cursor, offset, order, ...filters } = input;
  const filter = { ...filters, times: timesOf(filters), reach: reachOf(call, 'Checkpoint') };
  const { rows, ...page } = await listPage<ExecutionRow, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filters as Json,
    key: 'string',
    keyOf: ({ execution_id }) => execution_id,
    read: (request) => listExecutions(longQuery(driver, tenant), filter, request),
    bytesOf: ({ metadata }) => metadata?.length ?? 0,
    count: countExecutions(filter),
  });
  return { executions: rows.map(showExecution), ...page };
}

export async function update(call: Call, input: In<'executions.update'>): Promise<Execution> {
  const { execution_id, ...fields } = input;
  if (Object.values(fields).every((value) => value === undefined))
    throw invalid('executions.update: give at least one field to change');
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const row = await openExecutionLocked(work, execution_id);
      const status = fields.status ?? row.status;
      const after = {
        name: fields.name === undefined ? row.name : fields.name,
        status,
        metadata: fields.metadata === undefined ? row.metadata : metadataText(fields.metadata),
        head_id: row.head_id,
        finished_at: isFinished(status) ? (row.finished_at ?? now) : null,
      };
      const changed = (Object.keys(after) as (keyof typeof after)[]).some((key) => after[key] !== row[key]);
      if (!changed) return showExecution(row);
      await updateExecution(tx, execution_id, { ...after, updated_at: now });
      if (isFinished(status) && !isFinished(row.status)) {
        for (const [, hooks] of executionHooks) await hooks.finish(work, execution_id);
      }
      const facts = { fields: Object.keys(fields), status };
      appendEvent(work, 'cairn.execution.updated', { type: 'execution', id: execution_id }, facts, row.trajectory_id);
      return showExecution({ ...row, ...after, updated_at: now });
    },
    ...byId,
  });
}

/** Sets the status of a locked, unfinished execution within another change. */
export async function setExecutionStatus(
  work: Work,
  row: ExecutionRow,
  status: 'running' | 'paused',
  facts: JsonObject,
): Promise<void> {
  const { execution_id, trajectory_id } = row;
  await updateExecution(work.tx, execution_id, { ...row, status, updated_at: work.now });
  const entity = { type: 'execution', id: execution_id };
  appendEvent(work, 'cairn.execution.updated', entity, { fields: ['status'], status, ...facts }, trajectory_id);
}
