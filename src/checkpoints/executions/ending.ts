/** How checkpoints go: pruned by rules that follow lineage, or deleted with their execution, for good. */
import { atLength } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  change,
  event,
  keptAnswer,
  startErasure,
  type Work,
  waitForErasure,
  writeGuarded,
} from '../../engine/index.js';
import { addEndings, executionHolder, pruneHolder, reopenEnding } from '../../engine/sql.js';
import { CairnError } from '../../kernel/index.js';
import { refuseFormerOwner, type TreeDeletion } from '../../memory/index.js';
import { LISTED, passOn, spansOf } from '../checkpoints/lists-store.js';
import { heirsOf, type PrunePlan, planPruning } from '../checkpoints/pruning.js';
import {
  countDown,
  coveringOf,
  linesOf,
  nodesOf,
  nodesSince,
  removeCheckpoints,
  setParent,
} from '../checkpoints/removal.js';
import { descend } from '../checkpoints/tree.js';
import { retainedStates } from '../states/retained-states.js';
import { Views } from '../states/views.js';
import { unseenParts } from './erasure.js';
import type { Pruned } from './model.js';
import { openExecution, openExecutionLocked } from './service.js';
import { clearExecutions, type ExecutionRow, lockExecution, lockExecutionsOf } from './store.js';

/** How many checkpoints go in one transaction, which other writers wait for. */
const CHUNK = 100;
const MAX_NAMED = 1000;
const ATTEMPTS = 8;

export async function prune(call: Call, input: In<'executions.prune'>): Promise<Pruned> {
  const { execution_id } = input;
  const rules = {
    keep_newest: input.keep_newest ?? 1,
    keep_daily: input.keep_daily ?? false,
    keep_branch_points: input.keep_branch_points ?? true,
    keep_named: input.keep_named ?? true,
  };
  const kept = input.dry_run ? undefined : await keptAnswer(call, input);
  if (kept !== undefined) return kept as Pruned;
  /** Also by attempts that another writer came between. */
  const gone: string[] = [];
  for (let attempt = 1; ; attempt++) {
    const execution = await openExecution(call.driver.at(call.tenant), execution_id);
    const query = atLength(call.driver, call.tenant);
    const plan = planPruning(await nodesOf(query, execution_id), execution.head_id, rules);
    const freed = await freedBy(call, execution, plan);
    const removed = [...gone, ...plan.removed.map(({ checkpoint_id }) => checkpoint_id)];
    const answer = {
      execution_id,
      kept: plan.kept.length,
      removed: removed.length,
      removed_checkpoint_ids: removed.slice(0, MAX_NAMED),
      ...freed,
    };
    if (input.dry_run) return answer;
    if (await carryOut(call, execution, plan, gone)) {
      await waitForErasure(call, [pruneHolder(execution_id)]);
      return remembered(call, input, answer);
    }
    if (attempt === ATTEMPTS) {
      throw new CairnError(
        'CONCURRENT_MODIFICATION',
        `others kept adding checkpoints to execution ${execution_id} while it was pruned: try again`,
      );
    }
  }
}

/** After the last of its transactions: a request that comes again before that goes on with what is left. */
async function remembered(call: Call, input: In<'executions.prune'>, answer: Pruned): Promise<Pruned> {
  if (call.options.idempotency_key === undefined) return answer;
  return change<Pruned>(call, {
    input,
    work: async () => answer,
    remember: (given) => given,
    again: async (_query, given) => given as Pruned,
  });
}

/** What goes with the checkpoints of a plan. */
async function freedBy(
  call: Call,
  execution: ExecutionRow,
  plan: PrunePlan,
): Promise<Pick<Pruned, 'freed_bytes' | 'freed_rows'>> {
  const query = atLength(call.driver, call.tenant);
  const { execution_id } = execution;
  const lines = await linesOf(query, execution_id);
  const views = new Views(plan.kept, lines, await coveringOf(query, execution_id));
  let freed_bytes = 0;
  let freed_rows = 0;
  for await (const { parts } of unseenParts(call, execution, views)) {
    freed_rows += parts.length;
    for (const { bytes } of parts) freed_bytes += bytes;
  }
  return { freed_bytes, freed_rows };
}

/**
 * In chunks, each of which leaves a whole tree. False when the plan no longer fits: the execution went back to one that is
 * to go, one came that descends from such a one, or another pruned as well, by other rules.
 */
async function carryOut(call: Call, seen: ExecutionRow, plan: PrunePlan, gone: string[]): Promise<boolean> {
  const { driver, tenant } = call;
  const { execution_id, trajectory_id } = seen;
  // Children before their parents, so that none is without its parent between two chunks.
  const inOrder = descend(plan.removed).nodes.reverse();
  const doomed = new Set(plan.removed.map(({ checkpoint_id }) => checkpoint_id));
  const isDoomed = (id: string | null) => id !== null && doomed.has(id);
  for (let from = 0; from < inOrder.length; from += CHUNK) {
    const ids = inOrder.slice(from, from + CHUNK).map(({ row }) => row.checkpoint_id);
    const done = await writeGuarded(call, async (tx) => {
      const now = driver.now();
      const execution = await openExecutionLocked({ call, tx, now: call.driver.now() }, execution_id);
      const come = await nodesSince(tx, execution_id, seen.revision);
      const stood = execution.checkpoints - come.length === seen.checkpoints - from;
      if (!stood || [execution.head_id, ...come.map(({ parent_id }) => parent_id)].some(isDoomed)) return false;
      // Before any of them goes: what stays descends from what stays.
      if (from === 0) for (const [id, parent] of plan.parents) await setParent(tx, id, parent);
      for (const table of LISTED)
        for (const { entry, heir } of heirsOf(plan.kept, await spansOf(tx, table, ids)))
          await passOn(tx, table, entry, heir);
      await removeCheckpoints(tx, ids);
      await countDown(tx, execution_id, ids.length);
      await reopenEnding(tx, { holder: pruneHolder(execution_id), ended_at: now, thread_id: trajectory_id });
      const facts = { removed: ids.length, checkpoint_ids: ids };
      tx.journal(
        event({ call, now }, 'cairn.execution.pruned', { type: 'execution', id: execution_id }, facts, trajectory_id),
      );
      return true;
    });
    if (!done) return false;
    for (const id of ids) retainedStates.of(call).forget(tenant, id);
    gone.push(...ids);
  }
  return true;
}

/** Deletes executions with all that they hold; gives what is to be erased. */
export async function endExecutions(
  work: Work,
  executions: readonly Pick<ExecutionRow, 'execution_id' | 'trajectory_id'>[],
): Promise<string[]> {
  const { call, tx, now } = work;
  const execution_ids = executions.map(({ execution_id }) => execution_id);
  retainedStates.of(call).forgetExecutions(call.tenant, execution_ids);
  await clearExecutions(tx, execution_ids, now);
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
  return execution_ids.map(executionHolder);
}

/** What goes of executions when their trajectories are deleted. */
export function deleteExecutions(work: Work): TreeDeletion {
  const { tx } = work;
  let locked: readonly ExecutionRow[] = [];
  return {
    lockAfterScopes: async (trajectory_ids) => {
      locked = await lockExecutionsOf(tx, trajectory_ids);
    },
    remove: async (_trajectory_ids, deleted_at) => {
      await endExecutions({ ...work, now: deleted_at }, locked);
    },
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
      if (!row) throw new CairnError('EXECUTION_NOT_FOUND', `there is no execution ${execution_id}`);
      await refuseFormerOwner(call, tx, row.trajectory_id);
      // Deleted before: there may still be something to wait for.
      if (row.deleted_at === null) await endExecutions(work, [row]);
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
  if (input.wait) await waitForErasure(call, [holder]);
  else startErasure(call, [holder]);
}
