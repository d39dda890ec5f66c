/** A run as a picture: which checkpoints are drawn, which are only counted, and where branches hang. */
import { describe, expect, it } from 'vitest';
import { executionItems } from '#cairn/cli/execution-tree.js';
import { drawTree } from '#cairn/cli/tree-drawing.js';

type Execution = Parameters<typeof executionItems>[0];
type Tree = NonNullable<Parameters<typeof executionItems>[1]>;
type Node = Tree['nodes'][number];

type Given = readonly [id: string, parent: string | null, more?: Partial<Node>];

function treeOf(given: readonly Given[], latest: string | null = null): Tree {
  const nodes = given.map(
    ([checkpoint_id, parent_checkpoint_id, more], i): Node => ({
      checkpoint_id,
      parent_checkpoint_id,
      is_branch: false,
      branch_reason: null,
      name: null,
      step_number: i + 1,
      checkpoint_reason: 'step_complete',
      tokens_used: (i + 1) * 1000,
      timestamp: 0,
      children: given.filter(([, parent]) => parent === checkpoint_id).map(([id]) => id),
      ...more,
    }),
  );
  const roots = given.filter(([, parent]) => parent === null).map(([id]) => id);
  return { execution_id: 'run', latest_checkpoint_id: latest, roots, nodes };
}

const execution: Execution = {
  execution_id: 'run',
  agent_id: 'agent',
  name: null,
  status: 'running',
  trajectory_id: null,
  thread_id: null,
  namespace: '',
  subject_ids: [],
  metadata: {},
  checkpoints: 1,
  latest_checkpoint_id: null,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
  finished_at: null,
};

const line = (length: number): Given[] => Array.from({ length }, (_, i) => [`${i}`, i === 0 ? null : `${i - 1}`]);

/** The checkpoints without what is the same for all. */
const drawn = (tree: Tree): string[] =>
  drawTree(executionItems(execution, tree, 0))
    .slice(1)
    .map((text) => text.replace(/ {2}step_complete, [\d,]+ tokens/, ''));

describe('a run in cairn tree', () => {
  it('is one line with its name or id, how it is, and how many checkpoints it has', () => {
    expect(drawTree(executionItems(execution, treeOf([]), 0))).toEqual(['▶ run  running, 1 checkpoint']);
    const named = { ...execution, name: 'A\nrun', status: 'failed', checkpoints: 1234 } as const;
    expect(drawTree(executionItems(named, null, 1), { ids: true })).toEqual([
      '└─ ▶ A\ufffdrun  failed, 1,234 checkpoints  run',
      '   └─ … more checkpoints than can be drawn',
    ]);
  });

  it('shows the first and the last of a long line, and counts those between', () => {
    expect(drawn(treeOf(line(1000)))).toEqual(['├─ ○ step 1', '├─ … 998 more', '└─ ○ step 1000']);
    expect(drawn(treeOf(line(4)))).toHaveLength(4);
    expect(drawn(treeOf(line(5)))).toHaveLength(3);
    expect(drawn(treeOf(line(1)))).toEqual(['└─ ○ step 1']);
  });

  it('always shows what has a name, where it stands, and what branches', () => {
    const nodes = line(12);
    nodes[4] = ['4', '3', { name: 'here' }];
    nodes.push(['b', '8', { is_branch: true, branch_reason: 'otherwise', checkpoint_reason: 'manual' }]);
    expect(drawn(treeOf(nodes, '6'))).toEqual([
      '├─ ○ step 1',
      '├─ … 3 more',
      '├─ ○ step 5  "here"',
      '├─ ○ step 6',
      '├─ ● step 7',
      '├─ ○ step 8',
      '├─ ○ step 9',
      '│  └─ ↳ step 13  manual, 13,000 tokens  otherwise',
      '├─ ○ step 10',
      '├─ ○ step 11',
      '└─ ○ step 12',
    ]);
  });

  it('draws a branch of a branch below it, and marks each further root', () => {
    const branch = { is_branch: true };
    const nodes: Given[] = [
      ['a', null],
      ['b', 'a', branch],
      ['c', 'b', branch],
      ['d', 'b'],
      ['e', null],
      ['f', 'e'],
    ];
    expect(drawn(treeOf(nodes, 'f'))).toEqual([
      '├─ ○ step 1',
      '│  ├─ ↳ step 2',
      '│  │  └─ ↳ step 3',
      '│  └─ ○ step 4',
      '├─ ○ step 5  a new root',
      '└─ ● step 6',
    ]);
  });

  it('shows every checkpoint at most once, however deep branches lie in each other', () => {
    const deep = Array.from(
      { length: 500 },
      (_, i): Given => [`${i}`, i === 0 ? null : `${i - 1}`, { is_branch: i > 0 }],
    );
    const lines = drawn(treeOf(deep));
    expect(lines).toHaveLength(500);
    expect(lines[499]).toBe(`${'   '.repeat(499)}└─ ↳ step 500`);
  });
});
