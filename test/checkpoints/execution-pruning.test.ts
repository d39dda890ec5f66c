import { expect, it } from 'vitest';
import type { Snapshot } from '#cairn/checkpoints/checkpoints/model.js';
import type { Api } from '#cairn/client/index.js';
import { illnesses } from '../support/inspect/audit.js';
import {
  idsOf,
  message,
  numbered,
  parentsOf,
  snapshotOf,
  someExecution,
  someRun,
  state,
  take,
  thought,
  toolCall,
} from '../support/nouns/checkpoints.js';
import { eventsOf } from '../support/nouns/scopes.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const DAY = 86_400_000;
const notFound = { code: 'CHECKPOINT_NOT_FOUND', status: 404 };

const remaining = async (cairn: Api, execution_id: string): Promise<string> =>
  idsOf(await cairn.checkpoints.list({ execution_id, limit: 500 })).join('');

/** Of two states: each has what the other one has not, and something that both have. */
const rich = (n: number): Snapshot =>
  state({
    steps: [thought('same'), thought(`t${n}`), thought('edited', { content: `${n}` })],
    messages: Array.from({ length: 3 + n }, (_, i) => message(`${i}`.padEnd(600, '.'))),
    variables: { n, plan: { text: 'p'.repeat(3000), steps: [`${n}`.repeat(2000), 'same'.repeat(500)] } },
    completed: [toolCall('shell', { timestamp: n })],
  });

onEveryTarget('pruning', (test) => {
  it('EXEC-10 prune keeps the newest, and of those before it the named ones and the branch points', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const add = (checkpoint_id: string, more: object = {}) =>
      take(cairn, execution_id, numbered(checkpoint_id.charCodeAt(0)), { checkpoint_id, ...more });
    for (const id of ['a', 'b', 'c']) await add(id);
    await add('d', { name: 'good' });
    await add('e', { parent_checkpoint_id: 'b' });
    for (const id of ['f', 'g']) await add(id);
    const dry = async (rules: object) => {
      const { removed_checkpoint_ids, removed, kept } = await cairn.executions.prune({
        execution_id,
        dry_run: true,
        ...rules,
      });
      expect([removed, kept]).toEqual([removed_checkpoint_ids.length, 7 - removed]);
      return removed_checkpoint_ids.join('');
    };
    expect(await dry({})).toBe('acef');
    expect(await dry({ keep_newest: 3 })).toBe('ac');
    expect(await dry({ keep_newest: 7 })).toBe('');
    expect(await dry({ keep_newest: 100_000 })).toBe('');
    expect(await dry({ keep_named: false })).toBe('acdef');
    expect(await dry({ keep_branch_points: false })).toBe('abcef');
    expect(await dry({ keep_branch_points: false, keep_named: false })).toBe('abcdef');
    expect(await remaining(cairn, execution_id)).toBe('abcdefg');
  });

  it('EXEC-10 with keep_daily, the last of every day in UTC stays', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const taken = [0.1, 0.9, 1.0, 1.99, 2.5, 4.0, 4.1].map((days) => days * DAY);
    for (const [i, timestamp] of taken.entries())
      await take(cairn, execution_id, numbered(i), { checkpoint_id: `${i}`, timestamp });
    await cairn.executions.prune({ execution_id, keep_daily: true });
    expect(await remaining(cairn, execution_id)).toBe('1346');
    expect(await parentsOf(cairn, execution_id)).toEqual({ 1: null, 3: '1', 4: '3', 6: '4' });
  });

  it('EXEC-10 where the execution stands always stays', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someRun(cairn, ['a', 'b', 'c', 'd']);
    await cairn.checkpoints.restore({ checkpoint_id: 'b' });
    expect(await cairn.executions.prune({ execution_id })).toMatchObject({ kept: 2, removed: 2 });
    expect(await remaining(cairn, execution_id)).toBe('bd');
    expect(await cairn.checkpoints.latest({ execution_id })).toMatchObject({ id: 'b', snapshot: numbered(1) });
    expect((await cairn.executions.get({ execution_id })).checkpoints).toBe(2);
  });

  it('EXEC-11 what stays is unchanged, and descends from the nearest ancestor that stays', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const add = (n: number, parent_checkpoint_id?: string) =>
      take(cairn, execution_id, rich(n), {
        checkpoint_id: String.fromCharCode(97 + n),
        labels: { n },
        ...(n % 4 === 3 ? { name: `named ${n}` } : {}),
        ...(parent_checkpoint_id === undefined ? {} : { parent_checkpoint_id }),
      });
    for (let n = 0; n < 5; n++) await add(n);
    await add(5, 'b');
    await add(6);
    await add(7);
    await add(8, 'g');
    await add(9, 'c');
    const read = (id: string) => cairn.checkpoints.get({ checkpoint_id: id });
    const before = new Map(await Promise.all([...'abcdefghij'].map(async (id) => [id, await read(id)] as const)));
    await cairn.executions.prune({ execution_id, keep_branch_points: false });
    expect(await parentsOf(cairn, execution_id)).toEqual({ d: null, h: null, j: null });
    for (const id of 'dhj') {
      const { parent, ...rest } = before.get(id)!;
      expect(parent).toBeDefined();
      expect(await read(id)).toEqual(rest);
    }
    for (const id of 'abcefgi') expect(await refusalOf(read(id))).toMatchObject(notFound);
    const { nodes, roots } = await cairn.executions.tree({ execution_id });
    expect(nodes.map(({ checkpoint_id }) => checkpoint_id)).toEqual(['d', 'h', 'j']);
    expect(roots).toEqual(['d', 'h', 'j']);
  });

  it('EXEC-11 never an orphan: branches that stay are put below what stays of their way', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someRun(cairn, ['a', 'b', 'c', 'd', 'e']);
    const off = (checkpoint_id: string, parent_checkpoint_id: string, name?: string) =>
      take(cairn, execution_id, numbered(checkpoint_id.charCodeAt(0)), {
        checkpoint_id,
        parent_checkpoint_id,
        ...(name ? { name } : {}),
      });
    await off('f', 'b');
    await off('g', 'f', 'named');
    await off('h', 'd');
    await off('i', 'h');
    await cairn.executions.prune({ execution_id });
    expect(await parentsOf(cairn, execution_id)).toEqual({ b: null, d: 'b', g: 'b', i: 'd' });
    expect((await cairn.checkpoints.get({ checkpoint_id: 'g' })).snapshot).toEqual(numbered(103));
    // What is pruned again has fewer branch points than before.
    await cairn.executions.prune({ execution_id });
    expect(await parentsOf(cairn, execution_id)).toEqual({ b: null, g: 'b', i: 'b' });
  });

  it('EXEC-11 the execution goes on after it, from what it stands at and from what stayed', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    for (let n = 0; n < 4; n++) await take(cairn, execution_id, rich(n), { checkpoint_id: `${n}` });
    await take(cairn, execution_id, rich(7), { checkpoint_id: '4', root: true });
    await cairn.checkpoints.restore({ checkpoint_id: '1' });
    await cairn.executions.prune({ execution_id });
    expect(await remaining(cairn, execution_id)).toBe('14');
    // Its only child is gone, so that it is no branch; what the child had is not seen.
    const next = await take(cairn, execution_id, rich(5), { checkpoint_id: '5' });
    expect(next.parent).toEqual({ checkpoint_id: '1', is_branch: false });
    const side = await take(cairn, execution_id, rich(2), { checkpoint_id: '6', parent_checkpoint_id: '1' });
    expect(side.parent).toEqual({ checkpoint_id: '1', is_branch: true });
    await take(cairn, execution_id, rich(0), { checkpoint_id: '7', parent_checkpoint_id: '5' });
    for (const [id, n] of [
      ['1', 1],
      ['4', 7],
      ['5', 5],
      ['6', 2],
      ['7', 0],
    ] as const)
      expect(await snapshotOf(cairn, id)).toEqual(rich(n));
    await cairn.executions.prune({ execution_id, keep_branch_points: false });
    expect(await snapshotOf(cairn, '7')).toEqual(rich(0));
    expect(await remaining(cairn, execution_id)).toBe('7');
  });

  it('EXEC-12 prune says what it freed, and a dry run says the same and changes nothing', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    for (let n = 0; n < 6; n++) await take(cairn, execution_id, rich(n), { checkpoint_id: `${n}` });
    await take(cairn, execution_id, rich(9), { checkpoint_id: '6', parent_checkpoint_id: '2' });
    const token = await latestToken(cairn);
    const said = await cairn.executions.prune({ execution_id, dry_run: true });
    expect(await latestToken(cairn)).toBe(token);
    expect(said).toMatchObject({ execution_id, kept: 2, removed: 5 });
    expect(said.freed_bytes).toBeGreaterThan(2000);
    expect(said.freed_rows).toBeGreaterThan(5);
    const before = await cairn.executions.stats({ execution_id });
    expect(await cairn.executions.prune({ execution_id })).toEqual(said);
    const after = await cairn.executions.stats({ execution_id });
    expect(before.stored_bytes - after.stored_bytes).toBe(said.freed_bytes);
    const told = await eventsOf(cairn, 'cairn.execution.pruned', execution_id);
    expect(told).toMatchObject([{ removed: 5 }]);
    expect((told[0]!.checkpoint_ids as string[]).toSorted()).toEqual(said.removed_checkpoint_ids.toSorted());
    const nothing = { kept: 2, removed: 0, removed_checkpoint_ids: [], freed_bytes: 0, freed_rows: 0 };
    expect(await cairn.executions.prune({ execution_id, keep_newest: 2 })).toMatchObject(nothing);
    expect(await eventsOf(cairn, 'cairn.execution.pruned', execution_id)).toHaveLength(1);
  });

  it('EXEC-11 a branch that is left without an ancestor is none any more', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someRun(cairn, ['a', 'b']);
    const branch = { branch_checkpoint_id: 'c', reason: 'another way' };
    expect(await cairn.checkpoints.branch({ checkpoint_id: 'a', ...branch })).toMatchObject({
      parent: { is_branch: true, branch_reason: 'another way' },
    });
    await take(cairn, execution_id, numbered(3), { checkpoint_id: 'd' });
    await cairn.checkpoints.branch({ checkpoint_id: 'c', branch_checkpoint_id: 'e', reason: 'back' });
    expect((await cairn.executions.stats({ execution_id })).branches).toBe(2);
    await cairn.executions.prune({ execution_id, keep_newest: 3, keep_branch_points: false });
    expect(await parentsOf(cairn, execution_id)).toEqual({ c: null, d: 'c', e: 'c' });
    const { nodes } = await cairn.executions.tree({ execution_id });
    expect(nodes.map(({ checkpoint_id, is_branch }) => [checkpoint_id, is_branch])).toEqual([
      ['c', false],
      ['d', false],
      ['e', true],
    ]);
    const stats = await cairn.executions.stats({ execution_id });
    expect(stats.branches).toBe(1);
    const other = await test().freshTenant();
    await other.executions.import({ bundle: await cairn.executions.export({ execution_id }) });
    expect((await other.executions.tree({ execution_id })).nodes).toEqual(nodes);
    expect((await other.executions.stats({ execution_id })).branches).toBe(stats.branches);
  });

  it('EXEC-12 every prune tells only what it erased itself', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const rows: number[] = [];
    for (let n = 0; n < 6; n++) {
      await take(cairn, execution_id, rich(n), { checkpoint_id: `${n}` });
      if (n % 2 === 1) rows.push((await cairn.executions.prune({ execution_id })).freed_rows);
    }
    const told = await eventsOf(cairn, 'cairn.lifetime.erased', execution_id);
    expect(told.map(({ parts_erased }) => parts_erased)).toEqual(rows);
    expect(Math.min(...rows)).toBeGreaterThan(0);
  });

  it('EXEC-12 what is pruned takes its writes along, and leaves no part that nobody sees', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someRun(cairn, ['a', 'b', 'c']);
    const value = 'w'.repeat(1000);
    for (const checkpoint_id of ['a', 'c'])
      await cairn.checkpoints.write({ checkpoint_id, writes: [{ task_id: 't', index: 0, channel: 'c', value }] });
    await cairn.executions.prune({ execution_id });
    expect(await refusalOf(cairn.checkpoints.writes({ checkpoint_id: 'a' }))).toMatchObject(notFound);
    expect((await cairn.checkpoints.writes({ checkpoint_id: 'c' })).writes).toHaveLength(1);
    expect((await cairn.executions.stats({ execution_id })).stored_bytes).toBeLessThan(20);
  });

  it('EXEC-15 what a pruned checkpoint brought counts as brought by the first of the remaining that has it', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const [p, q] = [thought('p'), thought('q')];
    const late = { ...p, confidence: 0.9 };
    const [old, recent] = [toolCall('shell'), toolCall('fetch', { success: false })];
    const add = (checkpoint_id: string, steps: (typeof p)[], completed: (typeof old)[], parent?: string) =>
      take(cairn, execution_id, state({ steps, completed }), {
        checkpoint_id,
        ...(parent === undefined ? {} : { parent_checkpoint_id: parent }),
      });
    await add('a', [p], [old]);
    await add('b', [p, q], [old, old]);
    await add('c', [late, q], [old, old, recent]);
    await add('d', [late], [old, old, recent]);
    await add('e', [q], [old, old], 'b');
    await add('f', [q], [old, old]);
    await cairn.executions.prune({ execution_id, keep_branch_points: false, keep_newest: 3 });
    expect(await remaining(cairn, execution_id)).toBe('def');
    const found = async (filter: object) => idsOf(await cairn.checkpoints.list({ execution_id, ...filter })).join('');
    expect(await found({ tool_id: 'fetch' })).toBe('d');
    expect(await found({ tool_id: 'shell' })).toBe('d');
    expect(await found({ tool_id: 'shell', inherited: true })).toBe('def');
    expect(await found({ thought_text: 'thought q' })).toBe('e');
    expect(await found({ thought_text: 'thought q', inherited: true })).toBe('ef');
    const { thoughts } = await cairn.checkpoints.thoughts({ execution_id });
    expect(thoughts.map(({ checkpoint_id, id, confidence }) => [checkpoint_id, id, confidence])).toEqual([
      ['d', 'p', 0.9],
      ['e', 'q', 0.5],
    ]);
    const { tool_calls } = await cairn.checkpoints.tool_calls({ execution_id, agent_id: 'agent' });
    expect(tool_calls.map(({ checkpoint_id, id }) => `${checkpoint_id} ${id}`)).toEqual([
      'd fetch@1',
      'd shell@1',
      'd shell@1#2',
    ]);
    await cairn.executions.prune({ execution_id });
    expect(await found({ thought_text: 'thought q' })).toBe('f');
    expect(await found({ tool_id: 'shell' })).toBe('f');
    expect((await cairn.checkpoints.tool_calls({})).total).toBe(2);
  });

  it('EXEC-12 more than fit in one go are pruned, while others restore and add', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const many = Array.from({ length: 125 }, (_, i) => `${1000 + i}`);
    for (const checkpoint_id of many)
      await take(cairn, execution_id, numbered(Number(checkpoint_id)), { checkpoint_id });
    const [pruned] = await Promise.all([
      cairn.executions.prune({ execution_id, keep_newest: 3 }),
      cairn.checkpoints.restore({ checkpoint_id: many[60]! }).catch(() => undefined),
      take(cairn, execution_id, numbered(1), { checkpoint_id: '2000' }),
      cairn.checkpoints.restore({ checkpoint_id: many[20]! }).catch(() => undefined),
    ]);
    expect(pruned.removed_checkpoint_ids.length).toBe(pruned.removed);
    const parents = await parentsOf(cairn, execution_id);
    for (const [id, parent] of Object.entries(parents))
      if (parent !== null) expect(parents, `${id} descends from ${parent}`).toHaveProperty(parent);
    expect((await cairn.executions.get({ execution_id })).checkpoints).toBe(Object.keys(parents).length);
    for (const id of Object.keys(parents))
      expect(await snapshotOf(cairn, id)).toEqual(numbered(id === '2000' ? 1 : Number(id)));
  });

  it('EXEC-27 after a prune the search finds every thought that is left, in the checkpoint that has it now', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const words = ['heron', 'walrus', 'osprey', 'badger', 'lynx'];
    // Ids that have what a content id might be parted by.
    const checkpoint_ids = words.map((word) => `run/${word}`);
    for (const [i, checkpoint_id] of checkpoint_ids.entries()) {
      const steps = words
        .slice(0, i + 1)
        .filter((word) => word !== 'walrus' || i === 1)
        .map((word) => thought(`t/${word}`, { content: `a ${word} by the lake` }));
      await take(cairn, execution_id, state({ steps }), { checkpoint_id });
    }
    const hits = async (word: string) =>
      (await cairn.search.query({ query: word, entity_types: ['Thought'] })).results.map(
        ({ id, checkpoint_id, snippet }) => [id, checkpoint_id, snippet],
      );
    const whole = (word: string) => expect.stringContaining(word);
    expect(await hits('heron')).toEqual([['t/heron', 'run/heron', whole('heron')]]);
    expect(await hits('walrus')).toEqual([['t/walrus', 'run/walrus', whole('walrus')]]);
    await cairn.executions.prune({ execution_id, keep_newest: 2 });
    for (const [word, by] of [
      ['heron', 'run/badger'],
      ['osprey', 'run/badger'],
      ['badger', 'run/badger'],
      ['lynx', 'run/lynx'],
    ] as const)
      expect(await hits(word)).toEqual([[`t/${word}`, by, whole(word)]]);
    expect(await hits('walrus')).toEqual([]);
    expect(await illnesses(test().store.driver.location)).toEqual([]);
    await cairn.executions.delete({ execution_id, wait: true });
    for (const word of words) expect(await hits(word)).toEqual([]);
    expect(await illnesses(test().store.driver.location)).toEqual([]);
  });
});
