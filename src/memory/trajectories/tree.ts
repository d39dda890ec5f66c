/** A trajectory with all that is below it, in a few reads however many trajectories that are. */
import { atLength } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { containerReachOf, reachOf } from '../../identity/index.js';
import { withReadableOutcome } from './outcomes.js';
import { openTrajectory } from './service.js';
import { toTrajectory } from './store.js';
import { depthFirst, type Placed, reachedBy } from './tree-order.js';
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

const DEFAULT_NODES = 1000;
/** Of a tree with more trajectories, those nearest to the top are looked at. */
const MAX_BRANCHES = 20_000;

export async function tree(call: Call, input: In<'trajectories.tree'>): Promise<Out<'trajectories.tree'>> {
  const { tenant, driver } = call;
  const { trajectory_id, limit = DEFAULT_NODES } = input;
  const query = atLength(driver, tenant);
  const root = await openTrajectory(call, query, trajectory_id);
  const now = driver.now();
  const reach = reachInto(call);
  const branches = await branchesOf(query, trajectory_id, MAX_BRANCHES + 1, reach);
  const order = depthFirst(
    [...branches].sort((a, b) => (a.trajectory_id < b.trajectory_id ? -1 : 1)),
    (branch) => branch.trajectory_id,
    // Whatever the task that was asked for is a part of is not shown.
    (branch) => (branch.trajectory_id === trajectory_id ? null : branch.parent_trajectory_id),
  );
  // Each is a node by itself, so no more of them than the limit can be reached.
  const first = order.slice(0, limit + 1);
  const sizes = await sizesOf(
    query,
    first.map(({ id }) => id),
    now,
    reach,
  );
  const { reached, complete } = reachedBy(first, sizes, limit);
  const nodes = await nodesOf(call, reached, limit, now);
  return {
    trajectory: await withReadableOutcome(call, query, toTrajectory(tenant, root)),
    nodes: nodes.slice(0, limit),
    truncated: !complete || branches.length > MAX_BRANCHES || nodes.length > limit,
  };
}

const reachInto = (call: Call): TreeReach => ({
  artifacts: reachOf(call, 'Artifact'),
  notes: reachOf(call, 'Note'),
  containers: containerReachOf(call),
});

async function nodesOf(call: Call, reached: readonly Placed[], limit: number, now: number): Promise<Node[]> {
  const { tenant, driver } = call;
  const query = atLength(driver, tenant);
  const wanted = {
    trajectory_ids: reached.map(({ id }) => id),
    last: reached.at(-1)!.id,
    limit,
    reach: reachInto(call),
  };
  const [tasks, scopes, artifacts, notes] = await Promise.all([
    trajectoryLeaves(query, wanted),
    scopeLeaves(query, wanted),
    artifactLeaves(query, wanted, now),
    noteLeaves(query, wanted, now),
  ]);
  const taskOf = new Map(tasks.map((task) => [task.trajectory_id, task]));
  const scopesOf = byTrajectory(scopes);
  const artifactsOf = byTrajectory(artifacts);
  const notesOf = byTrajectory(notes);
  return reached.flatMap(({ id, depth }) => {
    const task = taskOf.get(id);
    // Deleted since its place was read.
    if (!task) return [];
    return [
      { kind: 'trajectory', id, depth, name: task.name, status: task.status, ...NO_WINDOW },
      ...scopeNodes(scopesOf.get(id) ?? [], depth + 1),
      ...(artifactsOf.get(id) ?? []).map((one) => memoryNode('artifact', one, depth + 1)),
      ...(notesOf.get(id) ?? []).map((one) => memoryNode('note', one, depth + 1)),
    ];
  });
}

function byTrajectory<R extends { readonly trajectory_id: string }>(rows: readonly R[]): Map<string, R[]> {
  const found = new Map<string, R[]>();
  for (const row of rows) {
    const others = found.get(row.trajectory_id);
    if (others) others.push(row);
    else found.set(row.trajectory_id, [row]);
  }
  return found;
}

/** What only a scope has. */
const NO_WINDOW = { token_budget: null, tokens_used: null, turns: null };

function scopeNodes(scopes: readonly ScopeLeaf[], depth: number): Node[] {
  const scopeOf = new Map(scopes.map((scope) => [scope.scope_id, scope]));
  const order = depthFirst(
    scopes,
    ({ scope_id }) => scope_id,
    ({ parent_scope_id }) => parent_scope_id,
  );
  return order.map((placed) => {
    const { scope_id, name, closed_at, token_budget, tokens_used, turns } = scopeOf.get(placed.id)!;
    const status = closed_at === null ? 'active' : 'closed';
    return { kind: 'scope', id: scope_id, depth: depth + placed.depth, name, status, token_budget, tokens_used, turns };
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
