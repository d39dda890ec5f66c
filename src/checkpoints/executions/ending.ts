/** Prunes checkpoints, and deletes executions with all their checkpoints. */
import { longQuery, sql, TENANT } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  change,
  type Forgetter,
  startErasure,
  storedReplay,
  type Work,
  waitForErasure,
  writeGuarded,
} from '../../engine/index.js';
import { addEndings, executionHolder, pruneHolder, reopenEnding } from '../../engine/sql.js';
import { CairnError, notFound } from '../../kernel/index.js';
import { refuseFormerOwner, type TreeDeletion } from '../../memory/index.js';
import { ENTRY_TABLES, moveEntry, spansOf } from '../checkpoints/lists-store.js';
import { newOwners, type PrunedNode, type PrunePlan, parentsWithout, planPruning } from '../checkpoints/pruning.js';
import {
  linesOf,
  nodesOf,
  overridesOf,
  removeCheckpoints,
  setParent,
  subtractCheckpoints,
} from '../checkpoints/removal.js';
import { buildTree } from '../checkpoints/tree.js';
import { retainedStates } from '../states/retained-states.js';
import { Visibility } from '../states/visibility.js';
import { invisibleParts } from './erasure.js';
import { executionHooks } from './hooks.js';
import type { Pruned } from './model.js';
import { openExecution, openExecutionLocked } from './service.js';
import { clearExecutions, type ExecutionRow, lockExecution, lockExecutionsOf } from './store.js';

/** Checkpoints removed per transaction, which other writers wait for. */
const CHUNK = 100;
const MAX_NAMED = 1000;
const ATTEMPTS = 8;

export async function prune(call: Call, input: In<'executions.prune'>): Promise<Pruned> {
  const { execution_id } = input;
  const kept = input.dry_run ? undefined : await storedReplay(call, input);
  if (kept !== undefined) return kept as Pruned;
  /** Includes those of attempts that another writer interrupted. */
  const gone: string[] = [];
  for (let attempt = 1; ; attempt++) {
    const execution = await openExecution(call.driver.at(call.tenant), execution_id);
    const query = longQuery(call.driver, call.tenant);
    const plan = planPruning(await nodesOf(query, execution_id), execution.head_id, input);
    const removed = [...gone, ...plan.removed.map(({ checkpoint_id }) => checkpoint_id)];
    const answer = {
      execution_id,
      kept: plan.kept.length,
      removed: removed.length,
      removed_checkpoint_ids: removed.slice(0, MAX_NAMED),
      ...(await freedBy(call, execution, plan)),
    };
    if (input.dry_run) return answer;
    if (await removePlanned(call, execution, plan, gone)) {
      await waitForErasure(call, [pruneHolder(execution_id)]);
      return recordAnswer(call, input, answer);
    }
    if (attempt === ATTEMPTS)
      throw new CairnError(
        'CONCURRENT_MODIFICATION',
        `other calls kept changing execution ${execution_id} while it was pruned: try again`,
      );
  }
}

/** Recorded after the last transaction: a request repeated before that continues with the rest. */
async function recordAnswer(call: Call, input: In<'executions.prune'>, answer: Pruned): Promise<Pruned> {
  if (call.options.idempotency_key === undefined) return answer;
  return change<Pruned>(call, {
    input,
    work: async () => answer,
    remember: (recorded) => recorded,
    again: async (_query, recorded) => recorded as Pruned,
  });
}

async function freedBy(
  call: Call,
  execution: ExecutionRow,
  plan: PrunePlan,
): Promise<Pick<Pruned, 'freed_bytes' | 'freed_rows'>> {
  const query = longQuery(call.driver, call.tenant);
  const { execution_id } = execution;
  const lines = await linesOf(query, execution_id);
  const visibility = new Visibility(plan.kept, lines, await overridesOf(query, execution_id));
  let freed_bytes = 0;
  let freed_rows = 0;
  for await (const { parts } of invisibleParts(call, execution, visibility)) {
    freed_rows += parts.length;
    for (const { bytes } of parts) freed_bytes += bytes;
  }
  return { freed_bytes, freed_rows };
}

/**
 * In chunks, each of which leaves a complete tree. False if the plan is stale: the execution was restored to a doomed
 * checkpoint, a new checkpoint descends from one, or another prune removed some.
 */
async function removePlanned(call: Call, seen: ExecutionRow, plan: PrunePlan, gone: string[]): Promise<boolean> {
  const { execution_id, trajectory_id } = seen;
  // Children before their parents, so that every checkpoint has its parent between two chunks.
  const inOrder = buildTree(plan.removed).nodes.reverse();
  const doomed = new Set(plan.removed.map(({ checkpoint_id }) => checkpoint_id));
  const isDoomed = (id: string | null) => id !== null && doomed.has(id);
  let kept = plan.kept;
  for (let from = 0; from < inOrder.length; from += CHUNK) {
    const rows = inOrder.slice(from, from + CHUNK).map(({ row }) => row);
    const ids = rows.map(({ checkpoint_id }) => checkpoint_id);
    // Only past those of this chunk: if the plan turns out stale, those that are left keep their descendants.
    const parents = parentsWithout(rows, kept);
    const done = await writeGuarded(call, async (tx) => {
      const now = call.driver.now();
      const work = { call, tx, now };
      const execution = await openExecutionLocked(work, execution_id);
      const added = await nodesOf(tx, execution_id, seen.revision);
      const isComplete = execution.checkpoints - added.length === seen.checkpoints - from;
      if (!isComplete || [execution.head_id, ...added.map(({ parent_id }) => parent_id)].some(isDoomed)) return false;
      for (const [id, parent] of parents) await setParent(tx, id, parent);
      for (const table of ENTRY_TABLES)
        for (const { entry, owner } of newOwners(plan.kept, await spansOf(tx, table, ids)))
          await moveEntry(tx, table, entry, owner.checkpoint_id);
      await removeCheckpoints(tx, ids);
      await subtractCheckpoints(tx, execution_id, ids.length);
      await reopenEnding(tx, { holder: pruneHolder(execution_id), ended_at: now, thread_id: trajectory_id });
      const facts = { removed: ids.length, checkpoint_ids: ids };
      appendEvent(work, 'cairn.execution.pruned', { type: 'execution', id: execution_id }, facts, trajectory_id);
      return true;
    });
    if (!done) return false;
    for (const id of ids) retainedStates.of(call).forget(call.tenant, id);
    gone.push(...ids);
    const parentOf = ({ checkpoint_id, parent_id }: PrunedNode) =>
      parents.has(checkpoint_id) ? parents.get(checkpoint_id)! : parent_id;
    kept = kept.map((node) => ({ ...node, parent_id: parentOf(node) }));
  }
  return true;
}

/** Deletes executions with all their content; erasure follows the endings. */
async function endExecutions(
  work: Work,
  executions: readonly Pick<ExecutionRow, 'execution_id' | 'trajectory_id'>[],
): Promise<void> {
  const { call, tx, now } = work;
  const execution_ids = executions.map(({ execution_id }) => execution_id);
  retainedStates.of(call).forgetExecutions(call.tenant, execution_ids);
  await clearExecutions(tx, execution_ids, now);
  for (const [, hooks] of executionHooks) await hooks.remove(work, execution_ids);
  await addEndings(
    tx,
    executions.map(({ execution_id, trajectory_id }) => ({
      holder: executionHolder(execution_id),
      ended_at: now,
      thread_id: trajectory_id,
      box_id: null,
    })),
  );
  for (const { execution_id, trajectory_id } of executions)
    appendEvent(work, 'cairn.execution.deleted', { type: 'execution', id: execution_id }, {}, trajectory_id);
}

/** Forgetting executions deletes them: nothing pins their states. */
export const executionForgetter: Forgetter = {
  find: async (query, ids) => {
    const rows = await query.all<{ execution_id: string }>(
      sql`SELECT execution_id FROM executions WHERE tenant_id = ${TENANT} AND execution_id = ANY(${ids})`,
    );
    return rows.map(({ execution_id }) => execution_id);
  },
  erase: async (work, ids) => {
    const locked: ExecutionRow[] = [];
    for (const id of [...ids].sort()) {
      const row = await lockExecution(work.tx, id);
      if (row?.deleted_at === null) locked.push(row);
    }
    await endExecutions(work, locked);
    return { contents: [], done: true, holders: ids.map(executionHolder) };
  },
};

/** Deletes executions with their trajectories. */
export function deleteExecutions(work: Work): TreeDeletion {
  let locked: readonly ExecutionRow[] = [];
  return {
    lockAfterScopes: async (trajectory_ids) => {
      locked = await lockExecutionsOf(work.tx, trajectory_ids);
    },
    remove: (_trajectory_ids, deleted_at) => endExecutions({ ...work, now: deleted_at }, locked),
  };
}

export async function remove(call: Call, input: In<'executions.delete'>): Promise<void> {
  const { execution_id } = input;
  const holder = executionHolder(execution_id);
  await change<null>(call, {
    input,
    work: async (work) => {
      const { tx } = work;
      const row = await lockExecution(tx, execution_id);
      if (!row) throw notFound(tx, 'execution', execution_id);
      await refuseFormerOwner(call, tx, row.trajectory_id);
      // An execution deleted before may still be under erasure.
      if (row.deleted_at === null) await endExecutions(work, [row]);
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
  if (input.wait) await waitForErasure(call, [holder]);
  else startErasure(call, [holder]);
}
