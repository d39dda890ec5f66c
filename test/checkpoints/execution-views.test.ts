import { expect, it } from 'vitest';
import { beginRun, call, thought } from '../support/nouns/executions.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

onEveryTarget('views of executions', (test) => {
  it('EXEC-20 the tree has every checkpoint, in the order in which they came, a parent before its children', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    const metadata = { step_number: 1, tokens_used: 7, checkpoint_reason: 'step_complete' as const };
    await add('z', {}, { metadata, timestamp: 5 });
    await add('y', {}, { name: 'the middle' });
    await add('x');
    await cairn.checkpoints.branch({ checkpoint_id: 'z', reason: 'otherwise', branch_checkpoint_id: 'b' });
    await add('a');
    await add('c', {}, { parent_checkpoint_id: 'y' });
    const tree = await cairn.executions.tree({ execution_id: 'run' });
    expect(tree).toMatchObject({ execution_id: 'run', latest_checkpoint_id: 'c', roots: ['z'] });
    expect(tree.nodes.map(({ checkpoint_id }) => checkpoint_id)).toEqual(['z', 'y', 'x', 'b', 'a', 'c']);
    expect(tree.nodes.map(({ children }) => children)).toEqual([['y', 'b'], ['x', 'c'], [], ['a'], [], []]);
    expect(tree.nodes[0]).toEqual({
      checkpoint_id: 'z',
      parent_checkpoint_id: null,
      is_branch: false,
      branch_reason: null,
      name: null,
      ...metadata,
      timestamp: 5,
      children: ['y', 'b'],
    });
    expect(tree.nodes[1]).toMatchObject({ parent_checkpoint_id: 'z', name: 'the middle' });
    expect(tree.nodes[3]).toMatchObject({ is_branch: true, branch_reason: 'otherwise' });
    expect(tree.nodes[5]).toMatchObject({ is_branch: true, branch_reason: null });
  });

  it('EXEC-21 an execution may have several roots, or none yet', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    expect(await cairn.executions.tree({ execution_id: 'run' })).toEqual({
      execution_id: 'run',
      latest_checkpoint_id: null,
      roots: [],
      nodes: [],
    });
    await add('a');
    await add('b', {}, { root: true });
    const { roots, nodes } = await cairn.executions.tree({ execution_id: 'run' });
    expect(roots).toEqual(['a', 'b']);
    expect(nodes).toHaveLength(2);
  });

  it('EXEC-21 a checkpoint from a file whose parent is not here is a root, until the parent is brought in', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    await add('a');
    await add('b');
    const [a, b] = await Promise.all(['a', 'b'].map((checkpoint_id) => cairn.checkpoints.get({ checkpoint_id })));
    const elsewhere = await test().freshTenant();
    await elsewhere.checkpoints.import({ checkpoint: { ...b! } });
    const alone = await elsewhere.executions.tree({ execution_id: 'run' });
    expect(alone).toMatchObject({ roots: ['b'], nodes: [{ parent_checkpoint_id: 'a', children: [] }] });
    await elsewhere.checkpoints.import({ checkpoint: { ...a! } });
    const { roots, nodes } = await elsewhere.executions.tree({ execution_id: 'run' });
    expect(roots).toEqual(['a']);
    expect(nodes.map(({ checkpoint_id, children }) => [checkpoint_id, children])).toEqual([
      ['a', ['b']],
      ['b', []],
    ]);
  });

  it('EXEC-22 an execution that is not there, or is of another tenant, has neither tree nor figures', async () => {
    const cairn = await test().freshTenant();
    await beginRun(await test().freshTenant(), 'run');
    for (const read of [cairn.executions.tree, cairn.executions.stats]) {
      expect(await refusalOf(read({ execution_id: 'run' }))).toMatchObject({
        code: 'EXECUTION_NOT_FOUND',
        status: 404,
      });
    }
  });

  it('EXEC-23 tools are counted with their failures and exact percentiles, the most called first', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    // 1 to 40 in no order: half of the calls kept within 20, 95 of 100 within 38.
    const shell = Array.from({ length: 40 }, (_, i) => call('shell', `s${i}`, ((i * 7) % 40) + 1, i % 10 > 0));
    await add('a', { calls: [...shell.slice(0, 15), call('fetch', 'f1', 0.5)] });
    await add('b', { calls: [...shell, call('fetch', 'f1', 0.5), call('fetch', 'f2', 2.25, false)] });
    await add('c', {
      calls: [...shell, call('fetch', 'f1', 0.5), call('fetch', 'f2', 2.25, false), call('fetch', 'f3', 0.25)],
    });
    const { tools } = await cairn.executions.stats({ execution_id: 'run' });
    expect(tools).toEqual([
      { tool_id: 'shell', calls: 40, failures: 4, p50_ms: 20, p95_ms: 38 },
      { tool_id: 'fetch', calls: 3, failures: 1, p50_ms: 0.5, p95_ms: 2.25 },
    ]);
  });

  it('EXEC-24 what was edited counts once, as it is now; what only another branch has, or was taken out, counts too', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    const first = thought('t1', 0.5, 'planning');
    await add('a', { thoughts: [first], calls: [call('shell', 's1', 10, false)] });
    await add('b', { thoughts: [thought('t1', 1, 'decision')], calls: [call('shell', 's1', 30)] });
    await add('c', { thoughts: [thought('t1', 1, 'decision'), thought('t2', 0.25)] });
    await add(
      'other',
      { thoughts: [first, thought('t3', 0.25)], calls: [call('fetch', 'f1', 1)] },
      { parent_checkpoint_id: 'a' },
    );
    const { tools, thoughts } = await cairn.executions.stats({ execution_id: 'run' });
    expect(tools).toEqual([
      { tool_id: 'fetch', calls: 1, failures: 0, p50_ms: 1, p95_ms: 1 },
      { tool_id: 'shell', calls: 1, failures: 0, p50_ms: 30, p95_ms: 30 },
    ]);
    expect(thoughts).toEqual({
      count: 3,
      by_type: { decision: 1, reasoning: 2 },
      mean_confidence: 0.5,
      lowest_confidence: 0.25,
    });
  });

  it('EXEC-25 steps lead from the first checkpoint to where the run stands, with tokens and the confidence of what each brought', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    const at = (step_number: number) => ({ metadata: { step_number, tokens_used: step_number * 100 } });
    const [one, two, three] = [thought('1', 0.5), thought('2', 1), thought('3', 0.25)];
    await add('a', { thoughts: [one, two] }, at(1));
    await add('b', { thoughts: [one, two, three] }, at(2));
    await add('c', { thoughts: [one, two, three] }, at(3));
    await cairn.checkpoints.branch({ checkpoint_id: 'b', reason: 'again', branch_checkpoint_id: 'b2' });
    await add('d', { thoughts: [one, two, three, thought('4', 0.75)] }, { ...at(3), timestamp: 9 });
    const stats = await cairn.executions.stats({ execution_id: 'run' });
    expect(stats).toMatchObject({ checkpoints: 5, branches: 1, tokens_used: 300 });
    expect(stats.steps).toEqual([
      { checkpoint_id: 'a', step_number: 1, tokens_used: 100, mean_confidence: 0.75 },
      { checkpoint_id: 'b', step_number: 2, tokens_used: 200, mean_confidence: 0.25 },
      { checkpoint_id: 'b2', step_number: 2, tokens_used: 200, mean_confidence: null },
      { checkpoint_id: 'd', step_number: 3, tokens_used: 300, mean_confidence: 0.75 },
    ]);
    await cairn.checkpoints.restore({ checkpoint_id: 'a' });
    const back = await cairn.executions.stats({ execution_id: 'run' });
    expect(back).toMatchObject({ checkpoints: 5, tokens_used: 100 });
    expect(back.steps.map(({ checkpoint_id }) => checkpoint_id)).toEqual(['a']);
  });

  it('EXEC-26 stored_bytes follow what was stored, not what the states have', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    const bytes = async () => (await cairn.executions.stats({ execution_id: 'run' })).stored_bytes;
    expect(await cairn.executions.stats({ execution_id: 'run' })).toEqual({
      execution_id: 'run',
      checkpoints: 0,
      branches: 0,
      stored_bytes: 0,
      tokens_used: 0,
      duration_ms: 0,
      tools: [],
      thoughts: { count: 0, by_type: {}, mean_confidence: null, lowest_confidence: null },
      steps: [],
    });
    await add('a', { messages: ['x'.repeat(5000)] });
    const first = await bytes();
    expect(first).toBeGreaterThan(5000);
    await add('b', { messages: ['x'.repeat(5000), 'short'] });
    const more = (await bytes()) - first;
    expect(more).toBeGreaterThan(5);
    expect(more).toBeLessThan(200);
    await cairn.checkpoints.branch({ checkpoint_id: 'a', reason: 'r' });
    expect((await bytes()) - first - more).toBeLessThan(200);
  });
});
