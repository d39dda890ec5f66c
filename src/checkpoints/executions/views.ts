/** Trees and statistics of executions. */
import { longQuery } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';
import { MAX_ENTRIES } from '../checkpoints/model.js';
import { findCheckpoint } from '../checkpoints/store.js';
import { buildTree } from '../checkpoints/tree.js';
import { storedBytes } from './contents.js';
import { type ExecutionStats, MAX_STEPS, MAX_TOOLS } from './model.js';
import { openExecution } from './service.js';
import {
  checkpointStats,
  stepRows,
  type ThoughtStats,
  type TreeRow,
  thoughtStats,
  toolStats,
  treeRows,
} from './views-store.js';

export async function tree(call: Call, input: In<'executions.tree'>): Promise<Out<'executions.tree'>> {
  const { driver, tenant } = call;
  const { execution_id, head_id } = await openExecution(driver.at(tenant), input.execution_id);
  const rows = await treeRows(longQuery(driver, tenant), execution_id, MAX_ENTRIES + 1);
  refuseTooLarge(call, execution_id, rows);
  const { roots, nodes } = buildTree(rows);
  return {
    execution_id,
    latest_checkpoint_id: head_id,
    roots,
    nodes: nodes.map(({ row: { parent_id, is_branch, ...row }, children }) => ({
      ...row,
      parent_checkpoint_id: parent_id,
      is_branch: is_branch === 1,
      children,
    })),
  };
}

function refuseTooLarge(call: Call, execution_id: string, rows: readonly TreeRow[]): void {
  const limit = call.limits.max_answer_bytes;
  const bytes = rows.reduce((sum, row) => sum + JSON.stringify(row).length, 0);
  if (rows.length <= MAX_ENTRIES && bytes <= limit) return;
  throw new CairnError(
    'TOO_LARGE',
    `execution ${execution_id} has more checkpoints than fit into an answer: prune it, or list its checkpoints`,
    { limit },
  );
}

export async function stats(call: Call, input: In<'executions.stats'>): Promise<ExecutionStats> {
  const { driver, tenant } = call;
  const { execution_id, revision, head_id } = await openExecution(driver.at(tenant), input.execution_id);
  const long = longQuery(driver, tenant);
  const until = { execution_id, revision };
  const head = head_id === null ? undefined : await findCheckpoint(driver.at(tenant), head_id);
  const steps = head ? (await stepRows(long, head, MAX_STEPS)).reverse() : [];
  return {
    execution_id,
    ...(await checkpointStats(long, until)),
    stored_bytes: await storedBytes(long, until),
    tokens_used: head?.tokens_used ?? 0,
    duration_ms: head?.duration_ms ?? 0,
    tools: await toolStats(long, until, MAX_TOOLS),
    thoughts: showThoughts(await thoughtStats(long, until)),
    steps,
  };
}

function showThoughts(stats: readonly ThoughtStats[]): ExecutionStats['thoughts'] {
  const count = stats.reduce((sum, { thoughts }) => sum + thoughts, 0);
  if (count === 0) return { count, by_type: {}, mean_confidence: null, lowest_confidence: null };
  return {
    count,
    by_type: Object.fromEntries(stats.map(({ type, thoughts }) => [type, thoughts])),
    mean_confidence: stats.reduce((sum, { mean, thoughts }) => sum + mean * thoughts, 0) / count,
    lowest_confidence: Math.min(...stats.map(({ lowest }) => lowest)),
  };
}
