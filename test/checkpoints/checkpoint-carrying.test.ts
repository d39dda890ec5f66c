/** What the stored size of a run is, and files of checkpoints that come in a bad order. */
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const snapshotOf = (content: string) => ({
  thought_chain: { steps: [] },
  context: { messages: [{ role: 'user' as const, content }], variables: {} },
  tool_state: { pending: [], completed: [] },
});

const fileOf = (id: string, parent?: string) => ({
  version: '1.0.0',
  id,
  timestamp: 1,
  execution_id: 'run',
  agent_id: 'agent',
  snapshot: snapshotOf(id),
  metadata: { step_number: 0, tokens_used: 0, duration_ms: 0, checkpoint_reason: 'manual' as const },
  ...(parent === undefined ? {} : { parent: { checkpoint_id: parent, is_branch: false } }),
});

const bring = (api: Api, ...of: Parameters<typeof fileOf>) => api.checkpoints.import({ checkpoint: fileOf(...of) });

onEveryTarget('carried checkpoints', (test) => {
  it('CKPT-28 a file may come before that of its parent, and is bundled behind it', async () => {
    const [api, other] = [await test().freshTenant(), await test().freshTenant()];
    await bring(api, 'third', 'second');
    await bring(api, 'second', 'first');
    await bring(api, 'first');
    const { roots, nodes } = await api.executions.tree({ execution_id: 'run' });
    expect(roots).toEqual(['first']);
    expect(nodes.map(({ checkpoint_id }) => checkpoint_id)).toEqual(['first', 'second', 'third']);
    const bundle = await api.executions.export({ execution_id: 'run' });
    expect(bundle.checkpoints.map(({ id }) => id)).toEqual(['first', 'second', 'third']);
    await other.executions.import({ bundle: bundle as never });
    expect(await other.executions.export({ execution_id: 'run' })).toEqual(bundle);
    expect((await other.checkpoints.get({ checkpoint_id: 'third' })).snapshot).toEqual(snapshotOf('third'));
  });

  it('CKPT-28 a parent of another execution is no parent here, though it is known by its id', async () => {
    const api = await test().freshTenant();
    await bring(api, 'elsewhere');
    const checkpoint = { ...fileOf('child', 'elsewhere'), execution_id: 'other' };
    await api.checkpoints.import({ checkpoint });
    const { roots, nodes } = await api.executions.tree({ execution_id: 'other' });
    expect([roots, nodes.map(({ checkpoint_id }) => checkpoint_id)]).toEqual([['child'], ['child']]);
    const read = await api.checkpoints.get({ checkpoint_id: 'child' });
    expect(read).toMatchObject({ execution_id: 'other', parent: { checkpoint_id: 'elsewhere' } });
    expect(read.snapshot).toEqual(snapshotOf('child'));
    expect((await api.executions.tree({ execution_id: 'run' })).nodes).toHaveLength(1);
  });

  it('CKPT-28 what a file brought along goes with its checkpoint when that is pruned', async () => {
    const api = await test().freshTenant();
    const { tenant_id } = await api.auth.whoami();
    const whisper = 'what another system wrote beside it';
    for (const [id, parent] of [['first'], ['second', 'first'], ['third', 'second']] as const)
      await api.checkpoints.import({ checkpoint: { ...fileOf(id, parent), extra: { said: whisper, id } } as never });
    const carried = sql`SELECT carried FROM checkpoints WHERE tenant_id = ${tenant_id} AND carried IS NOT NULL`;
    const left = async () => (await test().store.driver.at(tenant_id).all(carried)).length;
    expect(await left()).toBe(3);
    expect(await api.checkpoints.get({ checkpoint_id: 'first' })).toMatchObject({ extra: { said: whisper } });
    await api.executions.prune({ execution_id: 'run', keep_newest: 1 });
    await api.lifetime.sweep();
    expect(await left()).toBe(1);
    expect(await api.checkpoints.get({ checkpoint_id: 'third' })).toMatchObject({ extra: { id: 'third' } });
  });

  it('CKPT-28 unknown members of thoughts and tool calls do not hide the ids that a list gives them', async () => {
    const api = await test().freshTenant();
    const foreign = { execution_id: 'foreign run', checkpoint_id: 'foreign checkpoint' };
    const thought = { id: 'idea', type: 'planning', content: 'so', confidence: 1, children: [], timestamp: 1 };
    const call = { id: 'call', tool_id: 'shell', arguments: {}, success: true, duration_ms: 1, timestamp: 1 };
    const snapshot = {
      ...snapshotOf('first'),
      thought_chain: { steps: [{ ...thought, ...foreign }] },
      tool_state: { pending: [], completed: [{ ...call, ...foreign }] },
    };
    await api.checkpoints.import({ checkpoint: { ...fileOf('first'), snapshot } as never });
    const own = { execution_id: 'run', checkpoint_id: 'first' };
    for (const filter of [{}, { checkpoint_id: 'first' }]) {
      expect((await api.checkpoints.thoughts(filter)).thoughts).toMatchObject([{ id: 'idea', ...own }]);
      expect((await api.checkpoints.tool_calls(filter)).tool_calls).toMatchObject([{ id: 'call', ...own }]);
    }
    expect((await api.checkpoints.get({ checkpoint_id: 'first' })).snapshot).toEqual(snapshot);
  });

  it('CKPT-28 files that descend from themselves are refused, and nothing is stored of them', async () => {
    const api = await test().freshTenant();
    const refused = { code: 'INVALID_INPUT', status: 400 };
    expect(await refusalOf(bring(api, 'own', 'own'))).toMatchObject(refused);
    await bring(api, 'c', 'b');
    await bring(api, 'b', 'a');
    const refusal = await refusalOf(bring(api, 'a', 'c'));
    expect(refusal).toMatchObject(refused);
    expect(refusal.message).toContain('a would descend from itself');
    expect(await refusalOf(api.checkpoints.get({ checkpoint_id: 'a' }))).toMatchObject({ status: 404 });
    const { kept, removed } = await api.executions.prune({ execution_id: 'run', keep_newest: 1 });
    expect([kept, removed]).toEqual([2, 0]);
  });

  it('CKPT-28 one that is made under the id of a parent that was absent can be pruned like others', async () => {
    const api = await test().freshTenant();
    await bring(api, 'c', 'b');
    await bring(api, 'd', 'c');
    const execution_id = 'run';
    await api.checkpoints.create({ execution_id, checkpoint_id: 'b', snapshot: snapshotOf('b') });
    await api.executions.prune({ execution_id, keep_newest: 1 });
    const { roots, nodes } = await api.executions.tree({ execution_id });
    expect([roots, nodes.length]).toEqual([['b'], 1]);
    expect((await api.checkpoints.get({ checkpoint_id: 'b' })).snapshot).toEqual(snapshotOf('b'));
  });

  it('CKPT-29 the stored bytes are those of what is stored, shared once, also after pruning', async () => {
    const api = await test().freshTenant();
    const execution_id = 'run';
    await api.executions.create({ execution_id });
    const stored = async () => (await api.executions.stats({ execution_id })).stored_bytes;
    expect(await stored()).toBe(0);
    const messages: { role: 'user'; content: string }[] = [];
    const sizes: number[] = [];
    for (const content of ['é'.repeat(1000), 'b'.repeat(3000), 'c'.repeat(500)]) {
      messages.push({ role: 'user', content });
      const variables = { now: content };
      const snapshot = { ...snapshotOf(''), context: { messages, variables } };
      await api.checkpoints.create({ execution_id, snapshot });
      sizes.push(await stored());
    }
    const text = (content: string) => Buffer.byteLength(JSON.stringify(content));
    const message = (content: string) => Buffer.byteLength(JSON.stringify([{ content, role: 'user' }]));
    const all = messages.reduce((sum, { content }) => sum + text(content) + message(content), 0);
    expect(sizes[2]).toBe(all);
    const { freed_bytes } = await api.executions.prune({ execution_id, keep_newest: 1 });
    // Of the two that went, the variable that was set anew; all messages are in the one that stays.
    expect(freed_bytes).toBe(text(messages[0]!.content) + text(messages[1]!.content));
    expect(await stored()).toBe(all - freed_bytes);
  });
});
