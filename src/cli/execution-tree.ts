/** Executions in `cairn tree`: an execution with its checkpoints; long stretches of unremarkable ones are counted only. */
import type { Api } from '../api/index.js';
import type { Execution } from '../checkpoints/contract.js';
import type { Out } from '../engine/contract.js';
import { CairnError, withCommas } from '../kernel/index.js';
import { color, grey, plain } from './terminal.js';
import { brief, type TreeItem } from './tree-drawing.js';

type Tree = Out<'executions.tree'>;
type Node = Tree['nodes'][number];
type Nodes = ReadonlyMap<string, Node>;

/** Consecutive unremarkable checkpoints from which on only their number is drawn. */
const COLLAPSE_FROM = 3;

/** A line of checkpoints is drawn at one depth; a branch is drawn one deeper, below the checkpoint it came from. */
interface PendingLine {
  readonly first: string;
  readonly depth: number;
}

/** The items of an execution; `tree` is null if it has more checkpoints than an answer holds. */
export function executionItems(execution: Execution, tree: Tree | null, depth: number): TreeItem[] {
  const { execution_id, name, status, checkpoints } = execution;
  const count = checkpoints === 1 ? '1 checkpoint' : `${withCommas(checkpoints)} checkpoints`;
  return [
    {
      depth,
      sign: ['▶', 34],
      label: brief(name ?? execution_id),
      details: [grey(`${status}, ${count}`)],
      id: execution_id,
    },
    ...(tree === null
      ? [{ depth: depth + 1, label: '… more checkpoints than can be drawn' }]
      : checkpointItems(tree, depth + 1)),
  ];
}

function checkpointItems(tree: Tree, depth: number): TreeItem[] {
  const items: TreeItem[] = [];
  const nodes: Nodes = new Map(tree.nodes.map((node) => [node.checkpoint_id, node]));
  // A stack instead of recursion: branches may be nested deeper than calls can be.
  const stack: (PendingLine | TreeItem)[] = tree.roots.map((first) => ({ first, depth })).reverse();
  for (let next = stack.pop(); next; next = stack.pop()) {
    if ('label' in next) items.push(next);
    else for (const part of lineParts(next, tree, nodes).reverse()) stack.push(part);
  }
  return items;
}

const continuation = (node: Node, nodes: Nodes): Node | undefined =>
  node.children.map((child) => nodes.get(child)!).find(({ is_branch }) => !is_branch);

/** The checkpoints of a line, and after each the branches that are still to draw. */
function lineParts({ first, depth }: PendingLine, tree: Tree, nodes: Nodes): (PendingLine | TreeItem)[] {
  const parts: (PendingLine | TreeItem)[] = [];
  let unremarkable: TreeItem[] = [];
  for (let node = nodes.get(first); node; ) {
    const next = continuation(node, nodes);
    const branches = node.children.filter((child) => child !== next?.checkpoint_id);
    const isLatest = node.checkpoint_id === tree.latest_checkpoint_id;
    const item = checkpointItem(node, tree, depth);
    if (node.checkpoint_id === first || !next || isLatest || node.name !== null || branches.length > 0) {
      if (unremarkable.length < COLLAPSE_FROM) parts.push(...unremarkable);
      else parts.push({ depth, label: `… ${withCommas(unremarkable.length)} more` });
      unremarkable = [];
      parts.push(item, ...branches.map((branch) => ({ first: branch, depth: depth + 1 })));
    } else unremarkable.push(item);
    node = next;
  }
  return parts;
}

function checkpointItem(node: Node, { latest_checkpoint_id, roots }: Tree, depth: number): TreeItem {
  const { checkpoint_id, step_number, checkpoint_reason, tokens_used, name, branch_reason } = node;
  const details = [grey(`${plain(checkpoint_reason)}, ${withCommas(tokens_used)} tokens`)];
  if (name !== null) details.push(color(36, `"${brief(name)}"`));
  if (branch_reason !== null) details.push(brief(branch_reason));
  if (roots.indexOf(checkpoint_id) > 0) details.push(grey('a new root'));
  const sign = checkpoint_id === latest_checkpoint_id ? '●' : node.is_branch ? '↳' : '○';
  return { depth, sign: [sign, sign === '●' ? 32 : 34], label: `step ${step_number}`, details, id: checkpoint_id };
}

export async function readExecution(cairn: Api, execution: Execution, depth: number): Promise<TreeItem[]> {
  const { execution_id } = execution;
  const tree = await cairn.executions.tree({ execution_id }).catch((error: unknown) => {
    if (error instanceof CairnError && error.code === 'TOO_LARGE') return null;
    throw error;
  });
  return executionItems(execution, tree, depth);
}

export async function executionsOf(
  cairn: Api,
  trajectory_id: string,
  depth: number,
  limit: number,
): Promise<TreeItem[]> {
  const { executions, total } = await cairn.executions.list({ trajectory_id, limit });
  const items: TreeItem[] = [];
  for (const execution of executions) for (const item of await readExecution(cairn, execution, depth)) items.push(item);
  const more = total! - executions.length;
  if (more > 0) items.push({ depth, label: `… ${withCommas(more)} more executions; --limit shows more` });
  return items;
}

const PAGES = 5;

/** The newest executions without a trajectory, among the first 2,500 executions. */
export async function looseExecutions(cairn: Api, limit: number): Promise<Execution[]> {
  const loose: Execution[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES; page++) {
    const { executions, next_cursor }: Out<'executions.list'> = await cairn.executions.list({
      limit: 500,
      ...(cursor === null ? {} : { cursor }),
    });
    loose.push(...executions.filter(({ trajectory_id }) => trajectory_id === null));
    cursor = next_cursor;
    if (cursor === null) break;
  }
  return loose.sort((a, b) => (a.created_at < b.created_at ? -1 : 1)).slice(-limit);
}
