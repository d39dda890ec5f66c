/** Use case trajectories.tree: a trajectory with everything below it, in a few reads. */
import { longQuery } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { containerReachOf, reachOf } from '../../identity/index.js';
import { groupBy } from '../../kernel/index.js';
import { withReadableOutcome } from './outcomes.js';
import { openTrajectory } from './service.js';
import { toTrajectory } from './store.js';
import { depthFirst, type TreePosition, withinLimit } from './tree-order.js';
import {
  artifactLeaves,
  branchesOf,
  type MemoryLeaf,
  noteLeaves,
  type ScopeLeaf,
  scopeLeaves,
  sizesOf,
  type TreeReach,
  trajectoryLeaves,
} from './tree-store.js';

type Node = Out<'trajectories.tree'>['nodes'][number];

/** Of a larger tree, the trajectories nearest to the root are read. */
const MAX_BRANCHES = 20_000;

export async function tree(call: Call, input: In<'trajectories.tree'>): Promise<Out<'trajectories.tree'>> {
  const { tenant, driver } = call;
  const { trajectory_id, limit = 1000 } = input;
  const query = longQuery(driver, tenant);
  const root = await openTrajectory(call, query, trajectory_id);
  const now = driver.now();
  const reach: TreeReach = {
    artifacts: reachOf(call, 'Artifact'),
    notes: reachOf(call, 'Note'),
    containers: containerReachOf(call),
  };
  const branches = await branchesOf(query, trajectory_id, MAX_BRANCHES + 1, reach);
  const order = depthFirst(
    [...branches].sort((a, b) => (a.trajectory_id < b.trajectory_id ? -1 : 1)),
    (branch) => branch.trajectory_id,
    // The requested trajectory is the root, whatever its parent.
    (branch) => (branch.trajectory_id === trajectory_id ? null : branch.parent_trajectory_id),
  );
  // Each trajectory is a node, so at most `limit` of them fit.
  const first = order.slice(0, limit + 1);
  const ids = first.map(({ id }) => id);
  const { included, complete } = withinLimit(first, await sizesOf(query, ids, now, reach), limit);
  const nodes = await nodesOf(call, included, { limit, now, reach });
  return {
    trajectory: await withReadableOutcome(call, query, toTrajectory(tenant, root)),
    nodes: nodes.slice(0, limit),
    truncated: !complete || branches.length > MAX_BRANCHES || nodes.length > limit,
  };
}

async function nodesOf(
  call: Call,
  included: readonly TreePosition[],
  { limit, now, reach }: { readonly limit: number; readonly now: number; readonly reach: TreeReach },
): Promise<Node[]> {
  const query = longQuery(call.driver, call.tenant);
  const slice = { trajectory_ids: included.map(({ id }) => id), last: included.at(-1)!.id, limit, reach };
  const [tasks, scopes, artifacts, notes] = await Promise.all([
    trajectoryLeaves(query, slice),
    scopeLeaves(query, slice),
    artifactLeaves(query, slice, now),
    noteLeaves(query, slice, now),
  ]);
  const taskOf = new Map(tasks.map((task) => [task.trajectory_id, task]));
  const [scopesOf, artifactsOf, notesOf] = [byTrajectory(scopes), byTrajectory(artifacts), byTrajectory(notes)];
  return included.flatMap(({ id, depth }) => {
    const task = taskOf.get(id);
    // Deleted since the order was read.
    if (!task) return [];
    return [
      { kind: 'trajectory', id, depth, name: task.name, status: task.status, ...NO_WINDOW },
      ...scopeNodes(scopesOf.get(id) ?? [], depth + 1),
      ...(artifactsOf.get(id) ?? []).map((one) => memoryNode('artifact', one, depth + 1)),
      ...(notesOf.get(id) ?? []).map((one) => memoryNode('note', one, depth + 1)),
    ];
  });
}

const byTrajectory = <R extends { readonly trajectory_id: string }>(rows: readonly R[]) =>
  groupBy(rows, ({ trajectory_id }) => trajectory_id);

/** Members that only scopes have. */
const NO_WINDOW = { token_budget: null, tokens_used: null, turns: null };

function scopeNodes(scopes: readonly ScopeLeaf[], depth: number): Node[] {
  const scopeOf = new Map(scopes.map((scope) => [scope.scope_id, scope]));
  const order = depthFirst(
    scopes,
    ({ scope_id }) => scope_id,
    ({ parent_scope_id }) => parent_scope_id,
  );
  return order.map((position) => {
    const { scope_id, name, closed_at, token_budget, tokens_used, turns } = scopeOf.get(position.id)!;
    const status = closed_at === null ? 'active' : 'closed';
    const usage = { token_budget, tokens_used, turns };
    return { kind: 'scope', id: scope_id, depth: depth + position.depth, name, status, ...usage };
  });
}

const memoryNode = (kind: 'artifact' | 'note', leaf: MemoryLeaf, depth: number): Node => ({
  kind,
  id: leaf.memory_id,
  depth,
  name: leaf.name ?? '',
  status: leaf.type,
  ...NO_WINDOW,
});
