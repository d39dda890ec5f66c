/** Executions in `cairn tree`: a run with its checkpoints, of which the steps between are left out where they are many. */
import type { Api } from '../api/index.js';
import { CairnError } from '../kernel/index.js';
import type { Line } from './drawing.js';
import { color, grey, plain, shorten } from './terminal.js';

type Execution = Awaited<ReturnType<Api['executions']['get']>>;
type Tree = Awaited<ReturnType<Api['executions']['tree']>>;
type Node = Tree['nodes'][number];

const TEXT = 60;
/** So many steps in a row that are nothing special are drawn as one line. */
const FEW = 3;

/** What follows a checkpoint without a branch is drawn at the same depth; a branch is drawn below what it came from. */
interface Run {
  readonly first: string;
  readonly depth: number;
}

export function drawExecution(execution: Execution, tree: Tree | null, depth: number, ids: boolean): Line[] {
  const { execution_id, name, status, checkpoints } = execution;
  const count = checkpoints === 1 ? '1 checkpoint' : `${checkpoints.toLocaleString('en')} checkpoints`;
  const label = `${color(34, '▶')} ${shorten(plain(name ?? execution_id), TEXT)}`;
  const head = `${label}  ${grey(`${status}, ${count}`)}${ids ? grey(`  ${execution_id}`) : ''}`;
  const lines: Line[] = [{ depth, text: head }];
  if (tree === null) lines.push({ depth: depth + 1, text: grey('… more checkpoints than can be drawn') });
  else drawCheckpoints(tree, depth + 1, ids, lines);
  return lines;
}

function drawCheckpoints(tree: Tree, depth: number, ids: boolean, lines: Line[]): void {
  const nodes = new Map(tree.nodes.map((node) => [node.checkpoint_id, node]));
  // A stack of its own: branches may lie deeper in each other than calls can.
  const todo: (Run | Line)[] = tree.roots.map((first) => ({ first, depth })).reverse();
  for (let next = todo.pop(); next; next = todo.pop()) {
    if ('text' in next) lines.push(next);
    else for (const part of parts(runOf(next.first, nodes), next.depth, tree, nodes, ids).reverse()) todo.push(part);
  }
}

/** From a checkpoint on, as long as it goes on without a branch. */
function runOf(first: string, nodes: ReadonlyMap<string, Node>): Node[] {
  const run: Node[] = [];
  for (let node = nodes.get(first); node; ) {
    run.push(node);
    const next = continuation(node, nodes);
    node = next === undefined ? undefined : nodes.get(next);
  }
  return run;
}

const continuation = (node: Node, nodes: ReadonlyMap<string, Node>): string | undefined =>
  node.children.find((child) => !nodes.get(child)!.is_branch);

/** The lines of a run, and between them the branches that are yet to be drawn. */
function parts(
  run: readonly Node[],
  depth: number,
  tree: Tree,
  nodes: ReadonlyMap<string, Node>,
  ids: boolean,
): (Run | Line)[] {
  const made: (Run | Line)[] = [];
  let plainOnes: Line[] = [];
  const settle = () => {
    if (plainOnes.length < FEW) made.push(...plainOnes);
    else made.push({ depth, text: grey(`… ${plainOnes.length.toLocaleString('en')} more`) });
    plainOnes = [];
  };
  for (const [i, node] of run.entries()) {
    const line = { depth, text: describe(node, tree, ids) };
    const next = continuation(node, nodes);
    const branches = node.children.filter((child) => child !== next);
    const stands = node.checkpoint_id === tree.latest_checkpoint_id;
    const special = i === 0 || i === run.length - 1 || stands || node.name !== null || branches.length > 0;
    if (!special) plainOnes.push(line);
    else {
      settle();
      made.push(line);
      for (const first of branches) made.push({ first, depth: depth + 1 });
    }
  }
  return made;
}

function describe(node: Node, { latest_checkpoint_id, roots }: Tree, ids: boolean): string {
  const { checkpoint_id, is_branch, step_number, checkpoint_reason, tokens_used, name } = node;
  const stands = checkpoint_id === latest_checkpoint_id;
  const sign = color(stands ? 32 : 34, stands ? '●' : is_branch ? '↳' : '○');
  const facts = `${plain(checkpoint_reason)}, ${tokens_used.toLocaleString('en')} tokens`;
  const named = name === null ? '' : `  ${color(36, `"${shorten(plain(name), TEXT)}"`)}`;
  const why = node.branch_reason === null ? '' : `  ${shorten(plain(node.branch_reason), TEXT)}`;
  const anew = roots.indexOf(checkpoint_id) > 0 ? grey('  a beginning of its own') : '';
  return `${sign} step ${step_number}  ${grey(facts)}${named}${why}${anew}${ids ? grey(`  ${checkpoint_id}`) : ''}`;
}

/** An execution with its checkpoints; one that has more of them than an answer holds is shown without. */
export async function executionLines(cairn: Api, execution: Execution, depth: number, ids: boolean): Promise<Line[]> {
  const { execution_id } = execution;
  const tree = await cairn.executions.tree({ execution_id }).catch((error: unknown) => {
    if (error instanceof CairnError && error.code === 'TOO_LARGE') return null;
    throw error;
  });
  return drawExecution(execution, tree, depth, ids);
}

/** The runs of a task. */
export async function executionsOf(
  cairn: Api,
  trajectory_id: string,
  depth: number,
  options: { readonly ids: boolean; readonly limit: number },
): Promise<Line[]> {
  const { executions, total } = await cairn.executions.list({ trajectory_id, limit: options.limit });
  const lines: Line[] = [];
  for (const execution of executions)
    for (const line of await executionLines(cairn, execution, depth, options.ids)) lines.push(line);
  const more = total! - executions.length;
  if (more > 0) lines.push({ depth, text: grey(`… ${more.toLocaleString('en')} more executions; --limit shows more`) });
  return lines;
}

const PAGES = 5;
const PAGE = 500;

/** The newest runs that belong to no task, among the first few thousand runs. */
export async function looseExecutions(cairn: Api, limit: number): Promise<Execution[]> {
  const loose: Execution[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES; page++) {
    const { executions, next_cursor }: Awaited<ReturnType<Api['executions']['list']>> = await cairn.executions.list({
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    });
    loose.push(...executions.filter(({ trajectory_id }) => trajectory_id === null));
    cursor = next_cursor;
    if (cursor === null) break;
  }
  return loose.sort((a, b) => (a.created_at < b.created_at ? -1 : 1)).slice(-limit);
}
