/** `cairn tree`: trajectories with their scopes and budgets, artifacts, notes, agents and runs, as a picture. */
import type { Api } from '../api/index.js';
import type { Cairn } from '../cairndb.js';
import { coordinationOf } from './coordination-tree.js';
import { draw, type Line } from './drawing.js';
import { executionLines, executionsOf, looseExecutions } from './execution-tree.js';
import { readerGone } from './reader.js';
import { type Settings, withApi } from './settings.js';
import { color, grey, plain, shorten } from './terminal.js';

type Tree = Awaited<ReturnType<Api['trajectories']['tree']>>;
type Node = Tree['nodes'][number];

const SIGNS = { trajectory: '◆', scope: '▣', artifact: '◇', note: '✎' } as const;
const COLORS = { trajectory: 36, scope: 33, artifact: 32, note: 35 } as const;
const BAR = 10;
const NAME = 60;

/** How much of a budget is used: ten blocks and a percentage. */
function budgetOf({ tokens_used, token_budget, turns }: Node): string {
  const share = tokens_used! / token_budget!;
  const full = Math.min(BAR, Math.round(share * BAR));
  const bar = `${'█'.repeat(full)}${'░'.repeat(BAR - full)}`;
  const used = `${tokens_used!.toLocaleString('en')} of ${token_budget!.toLocaleString('en')} tokens`;
  const count = turns === 1 ? '1 turn' : `${turns!.toLocaleString('en')} turns`;
  return `${color(share > 1 ? 31 : share >= 0.8 ? 33 : 32, bar)} ${Math.round(share * 100)}%, ${used}, ${count}`;
}

function describeNode(node: Node, ids: boolean): string {
  const label = `${color(COLORS[node.kind], SIGNS[node.kind])} ${shorten(plain(node.name), NAME)}`;
  const status = grey(plain(node.status));
  const budget = node.kind === 'scope' ? `  ${budgetOf(node)}` : '';
  return `${label}  ${status}${budget}${ids ? grey(`  ${node.id}`) : ''}`;
}

/** The lines of a tree; those of its runs come after what else a trajectory has itself, before the tasks below it. */
async function treeLines(cairn: Api, nodes: readonly Node[], options: Shown): Promise<Line[]> {
  const lines: Line[] = [];
  let owner: Node | undefined;
  for (const [i, node] of nodes.entries()) {
    lines.push({ depth: node.depth, text: describeNode(node, options.ids) });
    if (node.kind === 'trajectory') owner = node;
    const next = nodes[i + 1];
    if (!owner || (next && next.kind !== 'trajectory')) continue;
    for (const linesOf of [coordinationOf, executionsOf])
      for (const line of await linesOf(cairn, owner.id, owner.depth + 1, options)) lines.push(line);
  }
  return lines;
}

interface Shown {
  readonly ids: boolean;
  readonly limit: number;
}

export interface TreeOptions extends Settings {
  readonly ids?: boolean;
  readonly limit: number;
}

/** The newest of the trajectories that are a part of none, in order. */
async function roots(cairn: Api, limit: number): Promise<{ ids: string[]; more: boolean }> {
  const { total } = await cairn.trajectories.list({ top_level: true, limit: 1 });
  const offset = Math.min(Math.max(0, total! - limit), 10_000);
  const page = await cairn.trajectories.list({ top_level: true, limit: Math.min(limit, 500), offset });
  return { ids: page.trajectories.map(({ trajectory_id }) => trajectory_id), more: offset > 0 };
}

export async function tree(trajectory_id: string | undefined, options: TreeOptions): Promise<void> {
  const shown = { ids: options.ids ?? false, limit: options.limit };
  const print = (lines: readonly Line[]) => {
    for (const line of draw(lines)) console.log(line);
  };
  const show = async (cairn: Cairn): Promise<void> => {
    const { ids, more } =
      trajectory_id === undefined ? await roots(cairn, options.limit) : { ids: [trajectory_id], more: false };
    const loose = trajectory_id === undefined ? await looseExecutions(cairn, options.limit) : [];
    if (ids.length + loose.length === 0)
      console.log('There is no trajectory yet. `cairn demo` fills a store with a run to look at.');
    if (more) console.log(grey(`The newest ${options.limit}; --limit shows more.`));
    for (const id of ids) {
      if (readerGone.aborted) return;
      const { nodes, truncated } = await cairn.trajectories.tree({ trajectory_id: id });
      print(await treeLines(cairn, nodes, shown));
      if (truncated) console.log(grey('… there is more than fits here'));
    }
    for (const execution of loose) print(await executionLines(cairn, execution, 0, shown.ids));
  };
  await withApi(options, show, { reads: true });
}
