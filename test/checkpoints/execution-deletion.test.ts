import { expect, it } from 'vitest';
import { removeCheckpoints } from '#cairn/checkpoints/checkpoints/removal.js';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { contentsOf } from '../support/inspect/contents.js';
import {
  idsOf,
  message,
  numbered,
  snapshotOf,
  someExecution,
  state,
  take,
  thought,
  toolCall,
} from '../support/nouns/checkpoints.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { eventsOf, someTrajectory } from '../support/nouns/scopes.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf, type TestStore } from '../support/targets.js';

const noExecution = { code: 'EXECUTION_NOT_FOUND', status: 404 };
const noCheckpoint = { code: 'CHECKPOINT_NOT_FOUND', status: 404 };
const SECRET = 'the-word-that-goes';
const writes = [{ task_id: 't', index: 0, channel: 'c', value: SECRET }];

/** A run with a branch, pending writes, and something in every table; its checkpoints are <name>1 to <name>3. */
async function fullRun(cairn: Api, name: string, more: object = {}): Promise<string> {
  const execution_id = await someExecution(cairn, {
    execution_id: name,
    name: SECRET,
    thread_id: SECRET,
    metadata: { SECRET },
    ...more,
  });
  const given = state({
    steps: [thought('t', { content: SECRET })],
    messages: [message(SECRET)],
    variables: { x: SECRET.repeat(400) },
    memory: [{ key: SECRET, value: SECRET, importance: 1 }],
    completed: [toolCall('shell', { result: SECRET })],
  });
  await take(cairn, execution_id, given, { checkpoint_id: `${name}1`, name: SECRET, labels: { SECRET } });
  await take(cairn, execution_id, numbered(1), { checkpoint_id: `${name}2`, description: SECRET });
  const branch = { checkpoint_id: `${name}1`, reason: SECRET, branch_checkpoint_id: `${name}3` };
  await cairn.checkpoints.branch(branch);
  await cairn.checkpoints.write({ checkpoint_id: `${name}3`, writes });
  return execution_id;
}

/** Rows of a tenant by table, of those that hold states. */
async function rowsLeft(test: TestStore, cairn: Api): Promise<Record<string, number>> {
  const tenant = await tenantOf(cairn);
  const tables = {
    checkpoints: sql`SELECT COUNT(*) AS n FROM checkpoints WHERE tenant_id = ${tenant}`,
    execution_lines: sql`SELECT COUNT(*) AS n FROM execution_lines WHERE tenant_id = ${tenant}`,
    checkpoint_items: sql`SELECT COUNT(*) AS n FROM checkpoint_items WHERE tenant_id = ${tenant}`,
    thoughts: sql`SELECT COUNT(*) AS n FROM thoughts WHERE tenant_id = ${tenant}`,
    tool_calls: sql`SELECT COUNT(*) AS n FROM tool_calls WHERE tenant_id = ${tenant}`,
    checkpoint_writes: sql`SELECT COUNT(*) AS n FROM checkpoint_writes WHERE tenant_id = ${tenant}`,
  };
  const counts: Record<string, number> = {};
  for (const [table, count] of Object.entries(tables)) {
    const [row] = await test.store.driver.long<{ n: number }>(tenant, count);
    if (row!.n > 0) counts[table] = row!.n;
  }
  return counts;
}

onEveryTarget('deleting executions', (test) => {
  it('EXEC-13 a deleted execution is gone from every read and list, with all its checkpoints', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await fullRun(cairn, 'run');
    const kept = await fullRun(cairn, 'other');
    await cairn.executions.delete({ execution_id });
    for (const call of [
      () => cairn.executions.get({ execution_id }),
      () => cairn.executions.update({ execution_id, name: 'n' }),
      () => cairn.executions.tree({ execution_id }),
      () => cairn.executions.stats({ execution_id }),
      () => cairn.executions.prune({ execution_id }),
      () => cairn.executions.export({ execution_id }),
      () => cairn.checkpoints.latest({ execution_id }),
      () => take(cairn, execution_id, numbered(5)),
    ])
      expect(await refusalOf(call())).toMatchObject(noExecution);
    for (const checkpoint_id of ['run1', 'run2', 'run3'])
      for (const call of [
        () => cairn.checkpoints.get({ checkpoint_id }),
        () => cairn.checkpoints.diff({ checkpoint_id: 'other1', to: checkpoint_id }),
        () => cairn.checkpoints.restore({ checkpoint_id }),
        () => cairn.checkpoints.branch({ checkpoint_id, reason: 'r' }),
        () => cairn.checkpoints.writes({ checkpoint_id }),
        () => cairn.checkpoints.write({ checkpoint_id, writes }),
        () => cairn.checkpoints.thoughts({ checkpoint_id }),
        () => cairn.checkpoints.tool_calls({ checkpoint_id }),
      ])
        expect(await refusalOf(call())).toMatchObject(noCheckpoint);
    const { executions } = await cairn.executions.list({});
    expect(executions.map((one) => one.execution_id)).toEqual([kept]);
    expect((await cairn.executions.list({ thread_id: SECRET })).total).toBe(1);
    const others = ['other1', 'other2', 'other3'];
    expect(idsOf(await cairn.checkpoints.list({}))).toEqual(others);
    expect(idsOf(await cairn.checkpoints.list({ thread_id: SECRET }))).toEqual(others);
    expect(idsOf(await cairn.checkpoints.list({ tool_id: 'shell' }))).toEqual(['other1']);
    expect(idsOf(await cairn.checkpoints.list({ tool_id: 'shell', inherited: true }))).toEqual(['other1', 'other3']);
    expect((await cairn.checkpoints.list({ execution_id })).total).toBe(0);
    expect((await cairn.checkpoints.thoughts({})).thoughts).toMatchObject([{ checkpoint_id: 'other1' }]);
    expect((await cairn.checkpoints.tool_calls({})).tool_calls).toMatchObject([{ checkpoint_id: 'other1' }]);
    expect((await snapshotOf(cairn, 'other3')).context.messages).toEqual([message(SECRET)]);
  });

  it('EXEC-13 with wait, nothing of it is left when the answer comes, but its ids', async () => {
    const cairn = await test().freshTenant();
    await fullRun(cairn, 'run');
    expect(Object.keys(await rowsLeft(test(), cairn))).toHaveLength(6);
    await cairn.executions.delete({ execution_id: 'run', wait: true });
    expect(await rowsLeft(test(), cairn)).toEqual({});
    const tenant = await tenantOf(cairn);
    const rows = await test().store.driver.long(tenant, sql`SELECT * FROM executions WHERE tenant_id = ${tenant}`);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
    const gone = { code: 'ENTITY_GONE', status: 410 };
    expect(await refusalOf(cairn.executions.create({ execution_id: 'run' }))).toMatchObject(gone);
    const execution_id = await someExecution(cairn);
    for (const checkpoint_id of ['run1', 'run2', 'run3'])
      expect(await refusalOf(take(cairn, execution_id, numbered(1), { checkpoint_id }))).toMatchObject(gone);
    const { packets } = await cairn.packets.list({ limit: 500 });
    expect(JSON.stringify(packets)).not.toContain(SECRET);
  });

  it('EXEC-13 what a document brought besides goes with it', async () => {
    const [from, cairn] = [await test().freshTenant(), await test().freshTenant()];
    const tenant = await tenantOf(cairn);
    const execution_id = await someExecution(from, { execution_id: 'run' });
    for (const n of [1, 2]) await take(from, execution_id, numbered(n), { checkpoint_id: `c${n}` });
    const bundle = await from.executions.export({ execution_id });
    const diff = { from_checkpoint_id: 'x', changes: {}, summary: SECRET };
    const marked = {
      ...bundle,
      extra: SECRET,
      checkpoints: bundle.checkpoints.map((one, i) => (i === 0 ? { ...one, diff, extra: SECRET } : one)),
    };
    await cairn.executions.import({ bundle: marked as never });
    const holds = async () => (await contentsOf(test().store, tenant)).split(SECRET).length - 1;
    expect(await holds()).toBe(3);
    // Its row is emptied at once, and deleted only when nothing that goes with it has any content.
    await test().store.driver.write(tenant, (tx) => removeCheckpoints(tx, ['c1']));
    expect(await holds()).toBe(1);
    await cairn.executions.delete({ execution_id, wait: true });
    expect(await holds()).toBe(0);
  });

  it('EXEC-13 ids stay taken from the moment of the deletion, not from that of the erasure', async () => {
    const cairn = await test().freshTenant();
    await fullRun(cairn, 'run');
    const execution_id = await someExecution(cairn);
    await cairn.executions.delete({ execution_id: 'run' });
    expect(await refusalOf(take(cairn, execution_id, numbered(1), { checkpoint_id: 'run1' }))).toMatchObject({
      code: 'ENTITY_GONE',
      status: 410,
    });
  });

  it('EXEC-13 deleting again changes nothing; one that was never there is not found', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await fullRun(cairn, 'run');
    await cairn.executions.delete({ execution_id, wait: true });
    const before = await latestToken(cairn);
    await cairn.executions.delete({ execution_id });
    await cairn.executions.delete({ execution_id, wait: true });
    expect(await latestToken(cairn)).toBe(before);
    expect(await eventsOf(cairn, 'cairn.execution.deleted', execution_id)).toHaveLength(1);
    expect(await refusalOf(cairn.executions.delete({ execution_id: 'nobody' }))).toMatchObject(noExecution);
  });

  it('EXEC-14 deleting a trajectory deletes its executions and those of its parts', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await someTrajectory(cairn);
    const part = await cairn.trajectories.create({ name: 'part', parent_trajectory_id: trajectory_id });
    await fullRun(cairn, 'run', { trajectory_id });
    await fullRun(cairn, 'nested', { trajectory_id: part.trajectory_id });
    await fullRun(cairn, 'apart', { trajectory_id: await someTrajectory(cairn) });
    await cairn.trajectories.delete({ trajectory_id, wait: true });
    const { executions } = await cairn.executions.list({});
    expect(executions.map(({ execution_id }) => execution_id)).toEqual(['apart']);
    expect(await refusalOf(cairn.checkpoints.get({ checkpoint_id: 'run1' }))).toMatchObject(noCheckpoint);
    expect(await refusalOf(cairn.checkpoints.get({ checkpoint_id: 'nested1' }))).toMatchObject(noCheckpoint);
    expect(await eventsOf(cairn, 'cairn.execution.deleted', 'run')).toHaveLength(1);
    expect(await eventsOf(cairn, 'cairn.execution.deleted', 'nested')).toHaveLength(1);
    expect((await rowsLeft(test(), cairn)).checkpoints).toBe(3);
    expect((await snapshotOf(cairn, 'apart3')).context.messages).toEqual([message(SECRET)]);
  });
});
