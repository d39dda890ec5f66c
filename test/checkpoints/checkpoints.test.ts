import { expect, it } from 'vitest';
import type { Snapshot } from '#cairn/checkpoints/checkpoints/model.js';
import { applyChanges } from '#cairn/checkpoints/states/patch.js';
import type { Api } from '#cairn/client/index.js';
import type { Json } from '#cairn/kernel/contract.js';
import {
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
import { tenantOf } from '../support/nouns/hierarchy.js';
import { eventsOf } from '../support/nouns/scopes.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const notFound = { code: 'CHECKPOINT_NOT_FOUND', status: 404 };
const exists = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
const gone = { code: 'ENTITY_GONE', status: 410 };

/** Nothing is written, and no row changes by it. */
async function unchanged(cairn: Api, work: () => Promise<void>): Promise<void> {
  const before = await latestToken(cairn);
  await work();
  expect(await latestToken(cairn)).toBe(before);
}

onEveryTarget('checkpoints', (test) => {
  it('CKPT-2 the same checkpoint_id with the same body gives the checkpoint that is there', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const sent = {
      execution_id,
      checkpoint_id: 'cp',
      snapshot: state({ messages: [message('m')], variables: { b: 1, a: [{ d: 1, c: 2 }] } }),
      name: 'n',
      labels: { y: 1, x: 2 },
      metadata: { step_number: 2 },
    };
    const made = await cairn.checkpoints.create(sent);
    await take(cairn, execution_id, numbered(1));
    await unchanged(cairn, async () => {
      const turned = {
        ...sent,
        labels: { x: 2, y: 1 },
        snapshot: state({ messages: [message('m')], variables: { a: [{ c: 2, d: 1 }], b: 1 } }),
      };
      expect(await cairn.checkpoints.create(turned)).toEqual(made);
      expect(await cairn.checkpoints.create({ ...sent, timestamp: made.timestamp })).toEqual(made);
      expect(await cairn.checkpoints.create({ ...sent, root: true })).toEqual(made);
    });
    expect((await cairn.executions.get({ execution_id })).checkpoints).toBe(2);
  });

  it('CKPT-2 with any other field it is refused', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const other = await someExecution(cairn);
    const { id: root } = await take(cairn, execution_id, numbered(0));
    const sent = { execution_id, checkpoint_id: 'cp', snapshot: numbered(1), name: 'n', timestamp: 5 };
    await cairn.checkpoints.create({ ...sent, parent_checkpoint_id: root });
    const others: Partial<Parameters<Api['checkpoints']['create']>[0]>[] = [
      { snapshot: numbered(2) },
      { snapshot: { ...numbered(1), thought_chain: { current_step_id: 'x', steps: [] } } },
      { snapshot: state({ variables: { n: 1 }, pending: ['x'] }) },
      { snapshot: state({ variables: { n: 1 }, memory: [] }) },
      { execution_id: other },
      { name: 'm' },
      { description: 'd' },
      { labels: { a: 1 } },
      { timestamp: 6 },
      { metadata: { step_number: 1 } },
      { metadata: { total_steps_estimate: 1 } },
      { metadata: { tokens_used: 1 } },
      { metadata: { duration_ms: 1 } },
      { metadata: { checkpoint_reason: 'auto' } },
      { root: true },
    ];
    await unchanged(cairn, async () => {
      for (const more of others)
        expect(await refusalOf(cairn.checkpoints.create({ ...sent, ...more })), JSON.stringify(more)).toMatchObject(
          exists,
        );
    });
    expect(await snapshotOf(cairn, 'cp')).toEqual(numbered(1));
  });

  it('CKPT-2 an id that was pruned or deleted is gone, also for a branch and for an import', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someRun(cairn, ['a', 'b', 'c']);
    const b = await cairn.checkpoints.get({ checkpoint_id: 'b' });
    await cairn.executions.prune({ execution_id });
    const doomed = await someRun(cairn, ['d']);
    await cairn.executions.delete({ execution_id: doomed, wait: true });
    for (const checkpoint_id of ['a', 'd'])
      expect(await refusalOf(take(cairn, execution_id, numbered(9), { checkpoint_id }))).toMatchObject(gone);
    const branch = { checkpoint_id: 'c', reason: 'r', branch_checkpoint_id: 'a' };
    expect(await refusalOf(cairn.checkpoints.branch(branch))).toMatchObject(gone);
    expect(await refusalOf(cairn.checkpoints.import({ checkpoint: { ...b } }))).toMatchObject(gone);
    expect((await cairn.executions.get({ execution_id })).checkpoints).toBe(1);
  });

  it('CKPT-6 a checkpoint goes on from where the execution stands, or from the parent that is named', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const root = await take(cairn, execution_id, numbered(0));
    expect(root.parent).toBeUndefined();
    const second = await take(cairn, execution_id, numbered(1));
    expect(second.parent).toEqual({ checkpoint_id: root.id, is_branch: false });
    const third = await take(cairn, execution_id, numbered(2), { parent_checkpoint_id: second.id });
    expect(third.parent).toEqual({ checkpoint_id: second.id, is_branch: false });
    const another = await take(cairn, execution_id, numbered(3), { root: true });
    expect(another.parent).toBeUndefined();
    const next = await take(cairn, execution_id, numbered(4));
    expect(next.parent).toEqual({ checkpoint_id: another.id, is_branch: false });
    const { roots } = await cairn.executions.tree({ execution_id });
    expect(roots).toEqual([root.id, another.id]);
    for (const [n, { id }] of [root, second, third, another, next].entries())
      expect(await snapshotOf(cairn, id)).toEqual(numbered(n));
  });

  it('CKPT-6 a parent that is unknown, of another execution or tenant, or was pruned is refused', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someRun(cairn, ['a', 'b']);
    await someRun(cairn, ['other']);
    await someRun(await test().freshTenant(), ['foreign']);
    await cairn.executions.prune({ execution_id });
    await unchanged(cairn, async () => {
      for (const parent_checkpoint_id of ['nobody', 'other', 'foreign', 'a']) {
        const refusal = await refusalOf(take(cairn, execution_id, numbered(9), { parent_checkpoint_id }));
        expect(refusal).toMatchObject({ code: 'UNKNOWN_ENTITY', status: 400 });
        expect(refusal.message).toContain(`has no checkpoint ${parent_checkpoint_id}`);
      }
    });
  });

  it('CKPT-7 an older parent makes a branch, and neither side sees what the other does', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const steps = [thought('a'), thought('b')];
    const base = state({ steps, messages: [message('1'), message('2')], variables: { x: 1, y: { z: [1] } } });
    const root = await take(cairn, execution_id, base);
    const states: Snapshot[] = [
      state({ steps: [...steps, thought('c')], messages: base.context.messages, variables: { x: 2 } }),
      state({ steps: [thought('b')], messages: [message('2'), message('3')], variables: { y: { z: [1, 2] } } }),
      state({ steps: [thought('a', { content: 'edited' })], variables: base.context.variables }),
      base,
    ];
    const made: [string, Snapshot][] = [[root.id, base]];
    for (const [i, given] of states.entries()) {
      const one = await take(cairn, execution_id, given, { parent_checkpoint_id: root.id });
      expect(one.parent).toEqual({ checkpoint_id: root.id, is_branch: i > 0 });
      made.push([one.id, given]);
      const two = await take(cairn, execution_id, states[(i + 1) % states.length]!);
      expect(two.parent).toEqual({ checkpoint_id: one.id, is_branch: false });
      made.push([two.id, states[(i + 1) % states.length]!]);
    }
    const off = await take(cairn, execution_id, states[0]!, { parent_checkpoint_id: made[3]![0] });
    made.push([off.id, states[0]!]);
    for (const [id, given] of made) expect(await snapshotOf(cairn, id)).toEqual(given);
  });

  it('CKPT-7 branch adds the same state once more, with a reason, and the execution goes on from it', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn, { agent_id: 'ann' });
    const given = state({ steps: [thought('a')], variables: { x: 'y'.repeat(5000) }, memory: [] });
    const metadata = { step_number: 4, tokens_used: 9, duration_ms: 1.5, total_steps_estimate: 8 };
    const root = await take(cairn, execution_id, given, { metadata, labels: { l: 1 }, name: 'root' });
    await take(cairn, execution_id, numbered(1));
    const branch = await cairn.checkpoints.branch({ checkpoint_id: root.id, reason: 'without cache', name: 'b' });
    expect(branch).toMatchObject({
      name: 'b',
      labels: { l: 1 },
      agent_id: 'ann',
      metadata: { ...metadata, checkpoint_reason: 'manual' },
      parent: { checkpoint_id: root.id, is_branch: true, branch_reason: 'without cache' },
    });
    expect(branch.id).not.toBe(root.id);
    expect(await cairn.checkpoints.latest({ execution_id })).toEqual({ ...branch, snapshot: given });
    const [told] = await eventsOf(cairn, 'cairn.checkpoint.branched', branch.id);
    expect(told).toMatchObject({ execution_id, parent: root.id, bytes: 0 });
    const next = await take(cairn, execution_id, numbered(2));
    expect(next.parent).toEqual({ checkpoint_id: branch.id, is_branch: false });
    // Also where nothing has followed yet it is a branch, since that is what was asked for.
    const tip = await cairn.checkpoints.branch({ checkpoint_id: next.id, reason: 'r' });
    expect(tip.parent).toMatchObject({ checkpoint_id: next.id, is_branch: true });
    expect(await snapshotOf(cairn, next.id)).toEqual(numbered(2));
  });

  it('CKPT-7 the same branch_checkpoint_id again gives the branch that is there, or is refused', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someRun(cairn, ['a', 'b']);
    const sent = { checkpoint_id: 'a', reason: 'r', branch_checkpoint_id: 'c' };
    const made = await cairn.checkpoints.branch(sent);
    await unchanged(cairn, async () => {
      expect(await cairn.checkpoints.branch(sent)).toEqual(made);
      for (const more of [{ reason: 'another' }, { name: 'n' }, { checkpoint_id: 'b' }])
        expect(await refusalOf(cairn.checkpoints.branch({ ...sent, ...more })), JSON.stringify(more)).toMatchObject(
          exists,
        );
    });
    expect((await cairn.executions.get({ execution_id })).checkpoints).toBe(3);
  });

  it('CKPT-8 restore gives the checkpoint, and what the execution does next goes on from there', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someRun(cairn, ['a', 'b', 'c']);
    const restored = await cairn.checkpoints.restore({ checkpoint_id: 'a' });
    expect(restored).toEqual(await cairn.checkpoints.get({ checkpoint_id: 'a' }));
    expect(restored.snapshot).toEqual(numbered(0));
    expect(await eventsOf(cairn, 'cairn.execution.restored', execution_id)).toMatchObject([
      { checkpoint_id: 'a', from: 'c' },
    ]);
    await unchanged(cairn, async () => void (await cairn.checkpoints.restore({ checkpoint_id: 'a' })));
    await take(cairn, execution_id, numbered(7), { checkpoint_id: 'd' });
    await cairn.checkpoints.restore({ checkpoint_id: 'c' });
    await take(cairn, execution_id, numbered(8), { checkpoint_id: 'e' });
    expect(await parentsOf(cairn, execution_id)).toEqual({ a: null, b: 'a', c: 'b', d: 'a', e: 'c' });
    expect(await snapshotOf(cairn, 'c')).toEqual(numbered(2));
    expect((await cairn.checkpoints.get({ checkpoint_id: 'd' })).parent).toMatchObject({ is_branch: true });
    expect((await cairn.checkpoints.get({ checkpoint_id: 'e' })).parent).toMatchObject({ is_branch: false });
  });

  it('CKPT-9 a checkpoint that does not exist or is of another tenant is not found', async () => {
    const cairn = await test().freshTenant();
    await someRun(cairn, ['mine']);
    await someRun(await test().freshTenant(), ['foreign']);
    for (const checkpoint_id of ['nobody', 'foreign'])
      for (const call of [
        () => cairn.checkpoints.get({ checkpoint_id }),
        () => cairn.checkpoints.get({ checkpoint_id, diff: true }),
        () => cairn.checkpoints.diff({ checkpoint_id, to: 'mine' }),
        () => cairn.checkpoints.diff({ checkpoint_id: 'mine', to: checkpoint_id }),
        () => cairn.checkpoints.restore({ checkpoint_id }),
        () => cairn.checkpoints.branch({ checkpoint_id, reason: 'r' }),
        () => cairn.checkpoints.writes({ checkpoint_id }),
        () => cairn.checkpoints.write({ checkpoint_id, writes: [write('t', 0)] }),
        () => cairn.checkpoints.thoughts({ checkpoint_id }),
        () => cairn.checkpoints.tool_calls({ checkpoint_id }),
      ])
        expect(await refusalOf(call())).toMatchObject(notFound);
  });

  it('CKPT-14 a diff tells in an agent’s words what moved, and applied gives the other state', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const a = state({
      steps: [thought('a'), thought('b'), thought('c')],
      messages: [message('1')],
      variables: { plan: { title: 'x', n: 1 }, old: 1, same: [1] },
    });
    const b = state({
      steps: [thought('a'), thought('b', { confidence: 0.9 }), thought('d')],
      messages: [message('1'), message('2'), message('3')],
      variables: { plan: { title: 'y', n: 1 }, same: [1], new: null },
      completed: [toolCall('shell', { success: false })],
    });
    const from = await take(cairn, execution_id, a);
    const to = await take(cairn, execution_id, b);
    const diff = await cairn.checkpoints.diff({ checkpoint_id: from.id, to: to.id });
    expect(diff).toMatchObject({
      from_checkpoint_id: from.id,
      to_checkpoint_id: to.id,
      thoughts: { added: ['d'], changed: ['b'], removed: ['c'] },
      messages: { appended: 2, changed: false },
      variables: {
        added: ['new'],
        changed: [{ name: 'plan', before: { title: 'x', n: 1 }, after: { title: 'y', n: 1 } }],
        removed: ['old'],
      },
      tools: { run: [{ id: 'shell@1', tool_id: 'shell', success: false }] },
    });
    expect(diff.changes).toMatchObject({
      '/context/messages/1:1': { before: [], after: [message('2'), message('3')] },
      '/context/variables/plan/title': { before: 'x', after: 'y' },
      '/context/variables/new': { after: null },
      '/context/variables/old': { before: 1 },
    });
    expect(diff.summary).toBe(
      '1 thought added, 1 changed, 1 removed; 2 messages appended; variable "new" added; variable "plan" {"n":1,"title":"x"} → {"n":1,"title":"y"}; variable "old" removed; tool shell run (failed)',
    );
    expect(applyChanges(a as unknown as Json, diff.changes)).toEqual(b);
    const back = await cairn.checkpoints.diff({ checkpoint_id: to.id, to: from.id });
    expect(applyChanges(b as unknown as Json, back.changes)).toEqual(a);
    const { diff: own, ...read } = await cairn.checkpoints.get({ checkpoint_id: to.id, diff: true });
    expect(own).toEqual({ from_checkpoint_id: from.id, changes: diff.changes, summary: diff.summary });
    expect(read).toEqual(await cairn.checkpoints.get({ checkpoint_id: to.id }));
  });

  it('CKPT-14 a diff is between any two, also of different executions, and empty where nothing differs', async () => {
    const cairn = await test().freshTenant();
    await someRun(cairn, ['a', 'b']);
    await someRun(cairn, ['x']);
    const nothing = await cairn.checkpoints.diff({ checkpoint_id: 'a', to: 'x' });
    expect(nothing).toMatchObject({ summary: 'nothing changed', changes: {} });
    const other = await cairn.checkpoints.diff({ checkpoint_id: 'b', to: 'x' });
    expect(other.changes).toEqual({ '/context/variables/n': { before: 1, after: 0 } });
    const root = await cairn.checkpoints.get({ checkpoint_id: 'a', diff: true });
    expect(root).not.toHaveProperty('diff');
  });

  it('CKPT-15 writes of steps under way are kept beside a checkpoint, in their order', async () => {
    const cairn = await test().freshTenant();
    await someRun(cairn, ['a', 'b']);
    const first = [write('t1', 0, { deep: [null] }), write('t2', 0, 'x'), write('t1', 1, '__proto__')];
    expect(await cairn.checkpoints.write({ checkpoint_id: 'a', writes: first })).toEqual({
      checkpoint_id: 'a',
      stored: 3,
    });
    // A place that is taken keeps what it has, but for those below zero.
    const more = [write('t1', 0, 'other'), write('t1', -1, 'error'), write('t3', 2, 1)];
    expect(await cairn.checkpoints.write({ checkpoint_id: 'a', writes: more })).toMatchObject({ stored: 2 });
    const last = { checkpoint_id: 'a', writes: [write('t1', -1, 'last word')] };
    expect(await cairn.checkpoints.write(last)).toMatchObject({ stored: 0 });
    expect(await cairn.checkpoints.writes({ checkpoint_id: 'a' })).toEqual({
      writes: [...first, write('t1', -1, 'last word'), write('t3', 2, 1)],
    });
    expect(await cairn.checkpoints.writes({ checkpoint_id: 'b' })).toEqual({ writes: [] });
    expect(await snapshotOf(cairn, 'a')).toEqual(numbered(0));
    expect(await eventsOf(cairn, 'cairn.checkpoint.written', 'a')).toMatchObject([
      { stored: 3 },
      { stored: 2 },
      { stored: 0 },
    ]);
  });

  it('CKPT-15 what one execution wrote early is not beside the checkpoint of another', async () => {
    const cairn = await test().freshTenant();
    const [mine, other] = [await someExecution(cairn), await someExecution(cairn)];
    const checkpoint_id = 'future';
    const early = { checkpoint_id, writes: [write('t', 0, 'early'), write('t', -1, 'early')] };
    await cairn.checkpoints.write({ ...early, execution_id: mine });
    await take(cairn, other, numbered(1), { checkpoint_id });
    const bundled = async () =>
      (await cairn.executions.export({ execution_id: other })).checkpoints.map(
        ({ pending_writes = [] }) => pending_writes,
      );
    expect(await cairn.checkpoints.writes({ checkpoint_id })).toEqual({ writes: [] });
    expect(await bundled()).toEqual([[]]);
    const own = [write('t', 0, 'own'), write('t', -1, 'own')];
    expect(await cairn.checkpoints.write({ checkpoint_id, writes: own })).toMatchObject({ stored: 2 });
    await cairn.checkpoints.write({ checkpoint_id, writes: [write('t', -1, 'last word')] });
    const left = [own[0]!, write('t', -1, 'last word')];
    await cairn.executions.delete({ execution_id: mine, wait: true });
    expect(await cairn.checkpoints.writes({ checkpoint_id })).toEqual({ writes: left });
    expect(await bundled()).toEqual([left]);
  });

  it('CKPT-18 two tenants have executions and checkpoints of the same ids, and share nothing', async () => {
    const [one, two] = [await test().freshTenant(), await test().freshTenant()];
    expect(await tenantOf(one)).not.toBe(await tenantOf(two));
    for (const [n, cairn] of [one, two].entries()) {
      await cairn.executions.create({ execution_id: 'run', name: `of ${n}` });
      const tools = { completed: [toolCall('shell', { result: n })], steps: [thought('t', { content: `of ${n}` })] };
      await take(cairn, 'run', state({ ...tools, variables: { n } }), { checkpoint_id: 'a' });
      await cairn.checkpoints.write({ checkpoint_id: 'a', writes: [write('t', 0, n)] });
    }
    await two.executions.update({ execution_id: 'run', status: 'failed' });
    await take(one, 'run', numbered(7), { checkpoint_id: 'b' });
    for (const [n, cairn] of [one, two].entries()) {
      expect((await snapshotOf(cairn, 'a')).context.variables).toEqual({ n });
      expect(await cairn.checkpoints.writes({ checkpoint_id: 'a' })).toEqual({ writes: [write('t', 0, n)] });
      expect((await cairn.checkpoints.tool_calls({ tool_id: 'shell' })).tool_calls).toMatchObject([{ result: n }]);
      expect((await cairn.checkpoints.thoughts({})).thoughts).toMatchObject([{ content: `of ${n}` }]);
    }
    await one.executions.delete({ execution_id: 'run', wait: true });
    expect(await two.executions.get({ execution_id: 'run' })).toMatchObject({ name: 'of 1', checkpoints: 1 });
    expect((await snapshotOf(two, 'a')).context.variables).toEqual({ n: 1 });
  });
});

const write = (task_id: string, index: number, value: Json = null) => ({
  task_id,
  index,
  channel: `to ${task_id}`,
  value,
});
