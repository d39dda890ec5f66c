import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Checkpoint } from '#cairn/checkpoints/checkpoints/model.js';
import { checkpointText } from '#cairn/checkpoints/checkpoints/versions.js';
import { bundleText } from '#cairn/checkpoints/executions/bundle.js';
import type { Api } from '#cairn/client/index.js';
import type { JsonObject } from '#cairn/kernel/contract.js';
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
import { latestToken } from '../support/nouns/stream.js';
import { ROOT } from '../support/run.js';
import { onEveryTarget, refusalOf, type TestStore } from '../support/targets.js';

const invalid = { code: 'INVALID_INPUT', status: 400 };
const exists = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
const RUN = ['a', 'b', 'c', 'd', 'e'];

/** Two lines and a root of their own, a branch with a reason, names, labels, writes; it stands at b. */
async function fullRun(cairn: Api): Promise<string> {
  const execution_id = await someExecution(cairn, {
    execution_id: 'run',
    agent_id: 'coder',
    name: 'Fix it',
    thread_id: 'th',
    namespace: 'ns',
    metadata: { z: 1, a: [null] },
  });
  const plan = (n: number) => ({ text: 'x'.repeat(5000), steps: [n, { deep: 'y'.repeat(2000) }] });
  const rich = (n: number) =>
    state({
      steps: [thought('t', { confidence: n / 10 }), thought(`t${n}`)],
      messages: Array.from({ length: n + 1 }, (_, i) => message(`${i}`)),
      variables: { plan: plan(n), '': n, 'a/b~': { é: '😀' } },
      memory: [{ key: 'k', value: n, importance: 1 }],
      completed: [toolCall('shell', { timestamp: n }), toolCall('shell', { timestamp: n })],
    });
  const add = (checkpoint_id: string, n: number, more: object = {}) =>
    take(cairn, execution_id, rich(n), { checkpoint_id, timestamp: n * 1000 + 0.5, ...more });
  await add('a', 1);
  await add('b', 2, { name: 'named', description: 'why', labels: { z: 1, a: { b: 2.5 } } });
  await add('c', 3, { metadata: { step_number: 3, tokens_used: 5, duration_ms: 1.5, total_steps_estimate: 9 } });
  await cairn.checkpoints.branch({ checkpoint_id: 'a', reason: 'another way', branch_checkpoint_id: 'd' });
  await add('e', 4, { root: true });
  const writes = [{ task_id: 't', index: -1, channel: 'c', value: { n: [1] } }];
  await cairn.checkpoints.write({ checkpoint_id: 'd', writes });
  await cairn.checkpoints.restore({ checkpoint_id: 'b' });
  return execution_id;
}

const everything = (cairn: Api): Promise<Checkpoint[]> =>
  Promise.all(RUN.map((checkpoint_id) => cairn.checkpoints.get({ checkpoint_id })));

const importOf = (cairn: Api, checkpoint: Checkpoint | JsonObject) =>
  cairn.checkpoints.import({ checkpoint: checkpoint as unknown as JsonObject });

/** A document of another system: with members of its own wherever there is an object. */
function document(id: string): JsonObject {
  const extra = { extra: { z: [1, null], a: 'x' } };
  const { result: _, ...call } = toolCall('shell', { id: 'c' });
  return {
    version: '1.0.0',
    id,
    timestamp: 1,
    execution_id: `run-${id}`,
    agent_id: 'coder',
    ...extra,
    changes: 'named as a member of a bundle',
    metadata: { step_number: 1, tokens_used: 2, duration_ms: 3, checkpoint_reason: 'manual', ...extra },
    parent: { checkpoint_id: 'elsewhere', is_branch: false, ...extra },
    snapshot: {
      ...extra,
      thought_chain: { ...extra, steps: [{ ...thought('t'), ...extra }], current_step_id: 't' },
      context: {
        ...extra,
        messages: [{ ...message('m'), ...extra }],
        variables: { v: 1 },
        memory: [{ key: 'k', importance: 1, ...extra }],
      },
      tool_state: { ...extra, pending: ['p'], completed: [{ ...call, ...extra }] },
    },
  } as unknown as JsonObject;
}

onEveryTarget('carrying executions', (test) => {
  it('FILE-1 checkpoints that are read here are imported elsewhere as they were, and make their execution', async () => {
    const [from, to] = [await test().freshTenant(), await test().freshTenant()];
    const execution_id = await fullRun(from);
    const all = await everything(from);
    for (const { snapshot, ...summary } of all) expect(await importOf(to, { ...summary, snapshot })).toEqual(summary);
    expect(await everything(to)).toEqual(all);
    expect(await to.executions.get({ execution_id })).toMatchObject({
      agent_id: 'coder',
      status: 'paused',
      name: null,
      checkpoints: 5,
    });
    expect(await to.executions.tree({ execution_id })).toMatchObject({ roots: ['a', 'e'] });
    // What is here goes on where it stands, and an import does not move it back.
    const { latest_checkpoint_id } = await to.executions.get({ execution_id });
    const next = await take(to, execution_id, numbered(1));
    expect(next.parent?.checkpoint_id).toBe(latest_checkpoint_id);
  });

  it('FILE-1 an import has an event of its own', async () => {
    const [from, to] = [await test().freshTenant(), await test().freshTenant()];
    await someRun(from, ['a', 'b']);
    await importOf(to, await from.checkpoints.get({ checkpoint_id: 'b' }));
    const { packets } = await to.packets.list({ packet_type: 'cairn.checkpoint.imported' });
    expect(packets).toHaveLength(1);
  });

  it('FILE-12 a document keeps the diff that it came with, to the last byte', async () => {
    const [from, to, back] = [await test().freshTenant(), await test().freshTenant(), await test().freshTenant()];
    const execution_id = await someRun(from, ['a', 'b', 'c']);
    const files = await Promise.all(
      ['a', 'b', 'c'].map((checkpoint_id) => from.checkpoints.get({ checkpoint_id, diff: true })),
    );
    expect(files.map(({ diff }) => diff?.from_checkpoint_id)).toEqual([undefined, 'a', 'b']);
    for (const file of files) await importOf(to, file);
    const textsOf = async (cairn: Api) =>
      Promise.all(files.map(async ({ id }) => checkpointText(await cairn.checkpoints.get({ checkpoint_id: id }))));
    expect(await textsOf(to)).toEqual(files.map(checkpointText));
    // By a bundle, too, which imported again is the same.
    const bundle = await to.executions.export({ execution_id });
    await back.executions.import({ bundle: bundle as unknown as JsonObject });
    expect(await textsOf(back)).toEqual(files.map(checkpointText));
    expect(bundleText(await back.executions.export({ execution_id }))).toBe(bundleText(bundle));
    // With or without a diff it is the same checkpoint; a reader may leave it out.
    const before = await latestToken(to);
    for (const { diff: _, ...file } of files) await importOf(to, file);
    for (const file of files) await importOf(from, file);
    expect(await latestToken(to)).toBe(before);
    expect(await to.checkpoints.get({ checkpoint_id: 'b', diff: false })).not.toHaveProperty('diff');
    expect((await to.checkpoints.latest({ execution_id })).diff).toEqual(files[2]!.diff);
  });

  it('FILE-12 a diff of another system, from a checkpoint that is not here, stays as it is', async () => {
    const cairn = await test().freshTenant();
    const a = await importable(test());
    const diff = {
      from_checkpoint_id: 'elsewhere',
      changes: { 'context.variables.x': { before: 1, after: { y: 2 }, by: 'hand' }, empty: {} },
      summary: 'x moved',
      tool: 'other',
    };
    await importOf(cairn, { ...a, diff } as unknown as JsonObject);
    expect((await cairn.checkpoints.get({ checkpoint_id: a.id })).diff).toEqual(diff);
    expect((await cairn.checkpoints.get({ checkpoint_id: a.id, diff: true })).diff).toEqual(diff);
  });

  it('FILE-13 members that Cairn does not know are kept at every level and given back', async () => {
    const [from, to, back] = [await test().freshTenant(), await test().freshTenant(), await test().freshTenant()];
    const file = document('x');
    await importOf(from, file);
    const read = await from.checkpoints.get({ checkpoint_id: 'x' });
    expect(read).toEqual(file);
    const before = await latestToken(from);
    await importOf(from, file);
    expect(await latestToken(from)).toBe(before);
    for (const other of [
      { ...file, extra: 2 },
      { ...file, metadata: { ...(file.metadata as JsonObject), extra: 2 } },
      { ...file, snapshot: { ...(file.snapshot as JsonObject), extra: 2 } },
    ])
      expect(await refusalOf(importOf(from, other))).toMatchObject(exists);
    await importOf(to, read);
    const text = checkpointText(await to.checkpoints.get({ checkpoint_id: 'x' }));
    expect(text).toBe(checkpointText(read));
    // In a bundle, whose own unknown members come back as well.
    const execution_id = 'run-x';
    const bundle = await to.executions.export({ execution_id });
    const more = { ...bundle, extra: [1], execution: { ...bundle.execution, extra: { b: 1, a: 2 } } };
    await back.executions.import({ bundle: more as unknown as JsonObject });
    expect(await back.checkpoints.get({ checkpoint_id: 'x' })).toEqual(file);
    expect(bundleText(await back.executions.export({ execution_id }))).toBe(bundleText(more));
    await back.executions.import({ bundle: more as unknown as JsonObject });
  });

  it('FILE-13 a run goes on from a state with members that Cairn does not know', async () => {
    const cairn = await test().freshTenant();
    await importOf(cairn, document('x'));
    const { snapshot } = await cairn.checkpoints.restore({ checkpoint_id: 'x' });
    const branched = await cairn.checkpoints.branch({ checkpoint_id: 'x', reason: 'another way' });
    expect((await cairn.checkpoints.get({ checkpoint_id: branched.id })).snapshot).toEqual(snapshot);
    const messages = [...snapshot.context.messages, { ...message('next'), extra: 'too' } as never];
    const next = { ...snapshot, context: { ...snapshot.context, messages } };
    await cairn.checkpoints.create({ execution_id: 'run-x', checkpoint_id: 'y', snapshot: next });
    const read = await cairn.checkpoints.get({ checkpoint_id: 'y' });
    expect(read.snapshot).toEqual(next);
    // What the document says of itself is not said of the next one.
    expect(read).not.toHaveProperty('extra');
    const misspelt = { ...next, context: { ...next.context, memroy: [] } };
    const refusal = await refusalOf(cairn.checkpoints.create({ execution_id: 'run-x', snapshot: misspelt as never }));
    expect(refusal).toMatchObject(invalid);
    expect(refusal.message).toBe('unknown field "memroy" in snapshot.context');
    expect((await cairn.checkpoints.diff({ checkpoint_id: 'x', to: 'y' })).messages).toEqual({
      appended: 1,
      changed: false,
    });
  });

  it('FILE-13 a completed call without a result and a memory without a value stay without', async () => {
    const [from, to] = [await test().freshTenant(), await test().freshTenant()];
    const { result: _, ...call } = toolCall('shell', { id: 'c' });
    const bare = state({ completed: [call as never], memory: [{ key: 'k', importance: 1 } as never] });
    const execution_id = await someExecution(from);
    const { id } = await take(from, execution_id, bare);
    const read = await from.checkpoints.get({ checkpoint_id: id });
    expect(read.snapshot).toEqual(bare);
    await importOf(to, read);
    expect(await to.checkpoints.get({ checkpoint_id: id })).toEqual(read);
    expect((await to.checkpoints.tool_calls({ checkpoint_id: id })).tool_calls[0]).not.toHaveProperty('result');
  });

  it('FILE-2 a parent that is not here is only named; it may be imported later', async () => {
    const [from, to] = [await test().freshTenant(), await test().freshTenant()];
    const execution_id = await someRun(from, ['a', 'b', 'c']);
    const files = await Promise.all(['a', 'b', 'c'].map((checkpoint_id) => from.checkpoints.get({ checkpoint_id })));
    await importOf(to, files[1]!);
    expect(await to.checkpoints.get({ checkpoint_id: 'b' })).toEqual(files[1]);
    expect(await to.checkpoints.get({ checkpoint_id: 'b', diff: true })).not.toHaveProperty('diff');
    expect(await to.executions.tree({ execution_id })).toMatchObject({ roots: ['b'] });
    await importOf(to, files[2]!);
    await importOf(to, files[0]!);
    for (const file of files) expect(await to.checkpoints.get({ checkpoint_id: file.id })).toEqual(file);
    expect(await parentsOf(to, execution_id)).toEqual({ a: null, b: 'a', c: 'b' });
    expect((await to.executions.get({ execution_id })).latest_checkpoint_id).toBe('c');
  });

  it('FILE-3 the same file again changes nothing; another with its id is refused', async () => {
    const [from, to] = [await test().freshTenant(), await test().freshTenant()];
    await fullRun(from);
    const all = await everything(from);
    for (const file of all) await importOf(to, file);
    const before = await latestToken(to);
    for (const { snapshot, ...summary } of all) expect(await importOf(to, { ...summary, snapshot })).toEqual(summary);
    const d = all[3]!;
    for (const other of [
      { ...d, name: 'other' },
      { ...d, snapshot: numbered(1) },
      { ...d, parent: { ...d.parent!, branch_reason: 'other' } },
      { ...d, parent: { checkpoint_id: 'b', is_branch: true, branch_reason: 'another way' } },
      { ...d, execution_id: 'other' },
    ])
      expect(await refusalOf(importOf(to, other))).toMatchObject(exists);
    expect(await latestToken(to)).toBe(before);
    expect((await to.executions.list({})).total).toBe(1);
    // Into the store that it came from, too.
    for (const { snapshot, ...summary } of all) expect(await importOf(from, { ...summary, snapshot })).toEqual(summary);
  });

  it('FILE-4 a file of version 0.9.0 is read as one of 1.0.0; an unknown version is refused by name', async () => {
    const cairn = await test().freshTenant();
    const fixture = (name: string) =>
      JSON.parse(readFileSync(join(ROOT, 'test/fixtures/checkpoints', name), 'utf8')) as JsonObject;
    const old = await test().freshTenant();
    const { id } = await importOf(old, fixture('0.9.0.json'));
    expect(await old.checkpoints.get({ checkpoint_id: id })).toEqual(fixture('0.9.0-as-1.0.0.json'));
    const a = await importable(test());
    for (const [version, said] of [
      ['2.0.0', '"2.0.0"'],
      [undefined, 'version'],
      [1, '1'],
    ] as const) {
      const { version: _, ...rest } = a;
      const sent = { ...rest, ...(version === undefined ? {} : { version }) } as unknown as JsonObject;
      const refusal = await refusalOf(importOf(cairn, sent));
      expect(refusal).toMatchObject({ code: 'UNSUPPORTED_VERSION', status: 400 });
      expect(refusal.message).toContain(said);
    }
    expect((await cairn.executions.list({})).total).toBe(0);
  });

  it('FILE-5 what is no checkpoint is refused by the name of the field, and nothing is made', async () => {
    const cairn = await test().freshTenant();
    const a = await importable(test());
    for (const [sent, field] of [
      [{ ...a, timestamp: 'now' }, 'timestamp'],
      [{ ...a, extra: '\u0000' }, 'extra'],
      [{ ...a, snapshot: { ...a.snapshot, extra: ['\ud800'] } }, 'extra'],
      [
        { ...a, snapshot: { ...a.snapshot, context: { messages: [{ role: 'boss', content: '' }], variables: {} } } },
        'role',
      ],
      [{ ...a, metadata: { ...a.metadata, checkpoint_reason: 'whim' } }, 'checkpoint_reason'],
      [{ ...a, metadata: { ...a.metadata, step_number: -1 } }, 'step_number'],
      [{ ...a, parent: { checkpoint_id: '' } }, 'parent'],
      [{ ...a, id: undefined }, 'id'],
    ] as const) {
      const refusal = await refusalOf(importOf(cairn, sent as unknown as JsonObject));
      expect(refusal, field).toMatchObject(invalid);
      expect(refusal.message).toContain(field);
    }
    expect((await cairn.executions.list({})).total).toBe(0);
  });

  it('FILE-6 a bundle carries a whole execution with all branches, and comes back the same', async () => {
    const [from, to, back] = [await test().freshTenant(), await test().freshTenant(), await test().freshTenant()];
    const execution_id = await fullRun(from);
    const bundle = await from.executions.export({ execution_id });
    expect(bundle.checkpoints.map((one) => ('snapshot' in one ? one.id : '-')).join('')).toBe('a---e');
    const made = await to.executions.import({ bundle: bundle as unknown as JsonObject });
    const { updated_at, trajectory_id, ...expected } = await from.executions.get({ execution_id });
    expect(made).toMatchObject(expected);
    expect(await everything(to)).toEqual(await everything(from));
    expect(await to.checkpoints.writes({ checkpoint_id: 'd' })).toEqual(
      await from.checkpoints.writes({ checkpoint_id: 'd' }),
    );
    expect(await to.executions.tree({ execution_id })).toEqual(await from.executions.tree({ execution_id }));
    const again = await to.executions.export({ execution_id });
    expect(JSON.stringify(again)).toBe(JSON.stringify(bundle));
    await back.executions.import({ bundle: again as unknown as JsonObject });
    expect(JSON.stringify(await back.executions.export({ execution_id }))).toBe(JSON.stringify(bundle));
    for (const filter of [{ tool_id: 'shell' }, { confidence_below: 0.3, inherited: true }])
      expect(await to.checkpoints.list(filter)).toEqual(await from.checkpoints.list(filter));
    // It goes on from where it stood, also there.
    const next = await take(to, execution_id, numbered(7));
    expect(next.parent).toEqual({ checkpoint_id: 'b', is_branch: true });
    expect(await snapshotOf(to, 'c')).toEqual(await snapshotOf(from, 'c'));
  });

  it('FILE-6 an execution without checkpoints and a pruned one are carried as well', async () => {
    const [from, to] = [await test().freshTenant(), await test().freshTenant()];
    await from.executions.create({ execution_id: 'empty', status: 'failed' });
    await fullRun(from);
    await from.executions.prune({ execution_id: 'run' });
    for (const execution_id of ['empty', 'run']) {
      const bundle = await from.executions.export({ execution_id });
      await to.executions.import({ bundle: bundle as unknown as JsonObject });
      expect(await to.executions.export({ execution_id })).toEqual(bundle);
    }
    expect(await to.executions.get({ execution_id: 'empty' })).toMatchObject({ status: 'failed', checkpoints: 0 });
    expect(await parentsOf(to, 'run')).toEqual(await parentsOf(from, 'run'));
    for (const id of Object.keys(await parentsOf(from, 'run')))
      expect(await snapshotOf(to, id)).toEqual(await snapshotOf(from, id));
  });

  it('FILE-7 the same bundle again changes nothing; one of an execution that is another is refused', async () => {
    const [from, to] = [await test().freshTenant(), await test().freshTenant()];
    const execution_id = await fullRun(from);
    const bundle = (await from.executions.export({ execution_id })) as unknown as JsonObject;
    const made = await to.executions.import({ bundle });
    const before = await latestToken(to);
    expect(await to.executions.import({ bundle })).toEqual(made);
    expect(await from.executions.import({ bundle })).toMatchObject({ execution_id });
    expect(await latestToken(to)).toBe(before);
    await take(to, execution_id, numbered(1));
    expect(await refusalOf(to.executions.import({ bundle }))).toMatchObject({
      ...exists,
      message: `execution ${execution_id} already exists with different content: import into another store`,
    });
    await to.executions.delete({ execution_id });
    expect(await refusalOf(to.executions.import({ bundle }))).toMatchObject({ code: 'ENTITY_GONE', status: 410 });
    const third = await test().freshTenant();
    await someRun(third, ['x', 'c']);
    expect(await refusalOf(third.executions.import({ bundle }))).toMatchObject({
      ...exists,
      details: { checkpoint_ids: ['c'] },
    });
    expect((await third.executions.list({})).total).toBe(1);
  });

  it('FILE-8 what is no bundle is refused by the checkpoint that is wrong, and nothing is made', async () => {
    const [from, to] = [await test().freshTenant(), await test().freshTenant()];
    const execution_id = await fullRun(from);
    const bundle = await from.executions.export({ execution_id });
    const [a, b, c, d, e] = bundle.checkpoints;
    const wrong: [object, string, string][] = [
      [{ ...bundle, format: 'other' }, 'INVALID_INPUT', 'format'],
      [{ ...bundle, version: '3.0.0' }, 'UNSUPPORTED_VERSION', '"3.0.0"'],
      [{ ...bundle, checkpoints: [b, a, c, d, e] }, 'INVALID_INPUT', 'checkpoint b'],
      [{ ...bundle, checkpoints: [a, a, b, c, d, e] }, 'INVALID_INPUT', 'same id'],
      [{ ...bundle, checkpoints: [a, c, d, e] }, 'INVALID_INPUT', 'checkpoint c'],
      [
        { ...bundle, checkpoints: [a, { ...b, changes: { '/no/where': { after: 1 } } }, c, d, e] },
        'INVALID_INPUT',
        'checkpoint b',
      ],
      [{ ...bundle, checkpoints: [a, { ...b, execution_id: 'x' }, c, d, e] }, 'INVALID_INPUT', 'checkpoint b'],
      [{ ...bundle, checkpoints: [a, b, c, d, { ...e, snapshot: {} }] }, 'INVALID_INPUT', 'checkpoint e'],
      [{ ...bundle, execution: { ...bundle.execution, latest_checkpoint_id: 'zz' } }, 'INVALID_INPUT', 'zz'],
    ];
    for (const [sent, code, said] of wrong) {
      const refusal = await refusalOf(to.executions.import({ bundle: sent as JsonObject }));
      expect(refusal.message).toContain(said);
      expect(refusal).toMatchObject({ code, status: 400 });
    }
    expect((await to.executions.list({})).total).toBe(0);
    expect((await to.checkpoints.list({})).total).toBe(0);
  });

  it('FILE-9 a key with an agent brings in what is of that agent, and nothing of another', async () => {
    const from = await test().freshTenant();
    const to = await test().freshTenant();
    const execution_id = await fullRun(from);
    const bundle = (await from.executions.export({ execution_id })) as unknown as JsonObject;
    const a = await from.checkpoints.get({ checkpoint_id: 'a' });
    const tenant = await tenantOf(to);
    const [ann, coder] = [await test().as({ tenant, agent: 'ann' }), await test().as({ tenant, agent: 'coder' })];
    const forbidden = { code: 'FORBIDDEN', status: 403 };
    expect(await refusalOf(ann.executions.import({ bundle }))).toMatchObject(forbidden);
    expect(await refusalOf(importOf(ann, a))).toMatchObject(forbidden);
    expect((await to.executions.list({})).total).toBe(0);
    await importOf(coder, a);
    const b = await from.checkpoints.get({ checkpoint_id: 'b' });
    expect(await refusalOf(importOf(ann, b))).toMatchObject(forbidden);
    expect((await to.checkpoints.list({})).total).toBe(1);
    const other = await test().freshTenant();
    const theirs = await test().as({ tenant: await tenantOf(other), agent: 'coder' });
    const [first, ...rest] = bundle.checkpoints as JsonObject[];
    const mixed = { ...bundle, checkpoints: [first!, ...rest.with(1, { ...rest[1]!, agent_id: 'bob' })] };
    expect(await refusalOf(theirs.executions.import({ bundle: mixed }))).toMatchObject(invalid);
    expect(await theirs.executions.import({ bundle })).toMatchObject({ agent_id: 'coder', checkpoints: 5 });
  });
});

/** A checkpoint of another tenant, to be imported. */
async function importable(test: TestStore): Promise<Checkpoint> {
  const cairn = await test.freshTenant();
  await someRun(cairn, ['a']);
  return cairn.checkpoints.get({ checkpoint_id: 'a' });
}
