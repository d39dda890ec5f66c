/** `cairn tree`: trajectories with their scopes and budgets, artifacts, notes, agents and executions. */
import type { Api } from '../api/index.js';
import type { Out } from '../engine/contract.js';
import { CairnError, withCommas } from '../kernel/index.js';
import { executionsOf, looseExecutions, readExecution } from './execution-tree.js';
import { readerGone } from './reader.js';
import { type Settings, withApi } from './settings.js';
import { color, grey, plain } from './terminal.js';
import { brief, drawTree, type TreeItem } from './tree-drawing.js';

type Node = Out<'trajectories.tree'>['nodes'][number];

const SIGNS = { trajectory: ['◆', 36], scope: ['▣', 33], artifact: ['◇', 32], note: ['✎', 35] } as const;
const BAR = 10;

function budgetOf({ tokens_used, token_budget, turns }: Node): string {
  const share = tokens_used! / token_budget!;
  const full = Math.min(BAR, Math.round(share * BAR));
  const bar = `${'█'.repeat(full)}${'░'.repeat(BAR - full)}`;
  const used = `${withCommas(tokens_used!)} of ${withCommas(token_budget!)} tokens`;
  const count = turns === 1 ? '1 turn' : `${withCommas(turns!)} turns`;
  return `${color(share > 1 ? 31 : share >= 0.8 ? 33 : 32, bar)} ${Math.round(share * 100)}%, ${used}, ${count}`;
}

const nodeItem = (node: Node): TreeItem => ({
  depth: node.depth,
  sign: SIGNS[node.kind],
  label: brief(node.name),
  details: [grey(plain(node.status)), ...(node.kind === 'scope' ? [budgetOf(node)] : [])],
  id: node.id,
});

const STATUS_COLORS: Readonly<Record<string, number>> = {
  completed: 32,
  running: 33,
  suspended: 33,
  failed: 31,
  timed_out: 31,
};

const because = (reason: string | null | undefined): string => (reason ? `: ${brief(reason)}` : '');

/** Agents created for a task have generated ids, so their profile is shown instead. */
const agentName = (agent_id: string, profile_name: string | null): string =>
  profile_name !== null && /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(agent_id) ? `a ${profile_name}` : agent_id;

/** The agent_turns, delegations and handoffs of a trajectory; none from a server that is older than them. */
async function coordinationOf(cairn: Api, trajectory_id: string, depth: number, limit: number): Promise<TreeItem[]> {
  const filter = { trajectory_id, limit: Math.min(limit, 100) };
  try {
    const [{ agent_turns }, { delegations }, { handoffs }] = await Promise.all([
      cairn.agent_turns.list(filter),
      cairn.delegations.list(filter),
      cairn.handoffs.list(filter),
    ]);
    return [
      ...handoffs.map(({ from_agent_id, to_agent_id, status, reason, handoff_id }) => ({
        depth,
        sign: ['⇄', 36] as const,
        label: `${plain(from_agent_id)} hands over to ${plain(to_agent_id)}`,
        details: [grey(`${status}${because(reason)}`)],
        id: handoff_id,
      })),
      // A delegation with a trajectory of its own is drawn as that trajectory.
      ...delegations
        .filter(({ child_trajectory_id }) => child_trajectory_id === null)
        .map(({ from_agent_id, to_agent_id, task_description, status, reason, delegation_id }) => ({
          depth,
          sign: ['⇢', 35] as const,
          label: `${from_agent_id === null ? '' : `${plain(from_agent_id)} → `}${plain(to_agent_id)}`,
          details: [brief(task_description ?? ''), grey(`${status}${because(reason)}`)],
          id: delegation_id,
        })),
      ...agent_turns.map(({ agent_id, profile_name, status, attempts, summary, error, agent_turn_id }) => ({
        depth,
        sign: ['⚙', 34] as const,
        label: brief(agentName(agent_id, profile_name)),
        details: [
          color(STATUS_COLORS[status] ?? 90, status) +
            grey(`${attempts > 1 ? `, ${attempts} attempts` : ''}${because(summary ?? error?.message)}`),
        ],
        id: agent_turn_id,
      })),
    ];
  } catch (error) {
    if (error instanceof CairnError && error.code === 'ROUTE_NOT_FOUND') return [];
    throw error;
  }
}

/** A trajectory with everything below it. Coordination and executions come before its subtasks. */
async function trajectoryItems(cairn: Api, nodes: readonly Node[], limit: number): Promise<TreeItem[]> {
  const items: TreeItem[] = [];
  let owner: Node | undefined;
  for (const [i, node] of nodes.entries()) {
    items.push(nodeItem(node));
    if (node.kind === 'trajectory') owner = node;
    const next = nodes[i + 1];
    if (!owner || (next && next.kind !== 'trajectory')) continue;
    for (const itemsOf of [coordinationOf, executionsOf])
      for (const item of await itemsOf(cairn, owner.id, owner.depth + 1, limit)) items.push(item);
  }
  return items;
}

/** The newest top-level trajectories, oldest first. */
async function roots(cairn: Api, limit: number): Promise<{ ids: string[]; more: boolean }> {
  const { total } = await cairn.trajectories.list({ top_level: true, limit: 1 });
  const offset = Math.min(Math.max(0, total! - limit), 10_000);
  const page = await cairn.trajectories.list({ top_level: true, limit: Math.min(limit, 500), offset });
  return { ids: page.trajectories.map(({ trajectory_id }) => trajectory_id), more: offset > 0 };
}

interface TreeFlags extends Settings {
  readonly ids?: boolean;
  readonly limit: number;
}

export async function tree(trajectory_id: string | undefined, flags: TreeFlags): Promise<void> {
  const { limit } = flags;
  const print = (items: readonly TreeItem[]) => {
    for (const line of drawTree(items, flags)) console.log(line);
  };
  await withApi(
    flags,
    async (cairn) => {
      const { ids, more } =
        trajectory_id === undefined ? await roots(cairn, limit) : { ids: [trajectory_id], more: false };
      const loose = trajectory_id === undefined ? await looseExecutions(cairn, limit) : [];
      if (ids.length + loose.length === 0)
        console.log('There is no trajectory yet. `cairn demo` fills a store with an example run.');
      if (more) console.log(grey(`The newest ${limit}; --limit shows more.`));
      for (const id of ids) {
        if (readerGone.aborted) return;
        const { nodes, truncated } = await cairn.trajectories.tree({ trajectory_id: id });
        print(await trajectoryItems(cairn, nodes, limit));
        if (truncated) console.log(grey('… the tree was cut off: too many entries for one answer'));
      }
      for (const execution of loose) print(await readExecution(cairn, execution, 0));
    },
    { reads: true },
  );
}
