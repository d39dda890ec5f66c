/** The doctor on executions: nothing to say of a healthy one, and each of its questions finds what it is for. */
import { beforeAll, expect, it } from 'vitest';
import { checkpointChecks } from '#cairn/checkpoints/checkpoints/doctor.js';
import type { Snapshot } from '#cairn/checkpoints/checkpoints/model.js';
import type { Api } from '#cairn/client/index.js';
import { type Sql, sql } from '#cairn/driver/index.js';
import { checks } from '#cairn/maintenance/index.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { onEveryTarget } from '../support/targets.js';

const EXECUTION = { execution_id: 'run' };
const large = (text: string) => ({ title: 'x'.repeat(5000), text });

function snapshotAt(n: number): Snapshot {
  const thought = { type: 'planning' as const, content: `thought ${n}`, confidence: 0.5, children: [] };
  const call = { tool_id: 'shell', arguments: {}, result: n, success: n % 2 === 0, duration_ms: 1.5 };
  return {
    thought_chain: {
      steps: [
        { ...thought, id: 'first', timestamp: 0 },
        { ...thought, id: `t${n}`, timestamp: n },
      ],
    },
    context: {
      messages: [{ role: 'user', content: `message ${n}` }],
      variables: { same: 1, plan: large(`${n}`), [`only ${n}`]: n },
    },
    tool_state: {
      pending: [],
      completed: [
        { ...call, timestamp: 1 },
        { ...call, timestamp: 1 },
        { ...call, id: `own ${n}`, timestamp: 2 },
      ],
    },
  };
}

/** A run with branches, of which some is pruned, and one that was deleted. */
async function someRuns(api: Api): Promise<void> {
  await api.executions.create({ execution_id: 'gone', name: 'gone' });
  await api.checkpoints.create({ execution_id: 'gone', snapshot: snapshotAt(0) });
  await api.executions.delete({ execution_id: 'gone', wait: true });
  await api.executions.create(EXECUTION);
  const keep = (checkpoint_id: string, n: number, parent?: string | null) =>
    api.checkpoints.create({
      ...EXECUTION,
      checkpoint_id,
      snapshot: snapshotAt(n),
      ...(parent === undefined ? {} : parent === null ? { root: true } : { parent_checkpoint_id: parent }),
    });
  await keep('a1', 1);
  await keep('a2', 2);
  await keep('a3', 3);
  await keep('b1', 4, 'a2');
  await keep('b2', 5);
  await keep('c1', 6, 'b1');
  await keep('r1', 7, null);
  await api.checkpoints.import({
    checkpoint: {
      ...(await api.checkpoints.get({ checkpoint_id: 'r1' })),
      id: 'file',
      parent: { checkpoint_id: 'elsewhere', is_branch: false },
    } as never,
  });
  const task = { task_id: 'task', index: 0, channel: 'c', value: 1 };
  await api.checkpoints.write({ checkpoint_id: 'c1', writes: [task] });
  await api.executions.prune({ ...EXECUTION, keep_newest: 6 });
}

onEveryTarget('the doctor of checkpoints', (test) => {
  const ofRun = sql`execution_id = 'run'`;
  const breaks: readonly { name: RegExp; by: string; how: (tenant: string) => Sql }[] = [
    {
      name: /^the checkpoint count/,
      by: 'a wrong count',
      how: (t) => sql`UPDATE executions SET checkpoints = checkpoints - 1 WHERE tenant_id = ${t} AND ${ofRun}`,
    },
    {
      name: /^the checkpoint count/,
      by: 'a revision behind its checkpoints',
      how: (t) => sql`UPDATE executions SET revision = 7 WHERE tenant_id = ${t} AND ${ofRun}`,
    },
    {
      name: /^the checkpoint count/,
      by: 'a place that is gone',
      how: (t) => sql`UPDATE executions SET head_id = 'a1' WHERE tenant_id = ${t} AND ${ofRun}`,
    },
    {
      name: /^every checkpoint is on a line/,
      by: 'a line that is missing',
      how: (t) => sql`DELETE FROM execution_lines WHERE tenant_id = ${t} AND ${ofRun} AND line = 7`,
    },
    {
      name: /^every checkpoint is on a line/,
      by: 'two at one revision',
      how: (t) => sql`UPDATE checkpoints SET revision = 5, line = 4 WHERE tenant_id = ${t} AND checkpoint_id = 'c1'`,
    },
    {
      name: /^a line ends where it says/,
      by: 'one that goes on behind its end',
      how: (t) => sql`UPDATE execution_lines SET last = 4 WHERE tenant_id = ${t} AND ${ofRun} AND line = 4`,
    },
    {
      name: /^a line ends where it says/,
      by: 'one that others left without a word',
      how: (t) => sql`UPDATE execution_lines SET last = NULL WHERE tenant_id = ${t} AND ${ofRun} AND line = 4`,
    },
    {
      name: /^the base of a line/,
      by: 'a base that is missing',
      how: (t) => sql`UPDATE execution_lines SET base_line = 2 WHERE tenant_id = ${t} AND ${ofRun} AND line = 6`,
    },
    {
      name: /^the base of a line/,
      by: 'a base at no revision of it',
      how: (t) => sql`UPDATE execution_lines SET base_revision = 6 WHERE tenant_id = ${t} AND ${ofRun} AND line = 6`,
    },
    {
      name: /^the parent of a checkpoint/,
      by: 'a parent that is not the one before',
      how: (t) => sql`UPDATE checkpoints SET parent_id = 'a3' WHERE tenant_id = ${t} AND checkpoint_id = 'b2'`,
    },
    {
      name: /^the parent of a checkpoint/,
      by: 'no parent where the line branched off',
      how: (t) => sql`UPDATE checkpoints SET parent_id = NULL WHERE tenant_id = ${t} AND checkpoint_id = 'c1'`,
    },
    {
      name: /^nothing remains of removed checkpoints/,
      by: 'an id that is gone',
      how: (t) => sql`UPDATE checkpoints_gone SET checkpoint_id = 'b1' WHERE tenant_id = ${t} AND checkpoint_id = 'a1'`,
    },
    {
      name: /^nothing remains of removed checkpoints/,
      by: 'a pending write of nothing',
      how: (t) => sql`UPDATE checkpoint_writes SET checkpoint_id = 'a1' WHERE tenant_id = ${t}`,
    },
    {
      name: /^nothing remains of removed checkpoints/,
      by: 'a name that a deleted execution kept',
      how: (t) => sql`UPDATE executions SET name = 'gone' WHERE tenant_id = ${t} AND execution_id = 'gone'`,
    },
    {
      name: /^nothing remains of removed checkpoints/,
      by: 'a part that a deleted execution kept',
      how: (t) => sql`UPDATE thoughts SET execution_id = 'gone' WHERE tenant_id = ${t} AND ${ofRun} AND line = 7`,
    },
    {
      name: /^every part is on/,
      by: 'a part of no line',
      how: (t) =>
        sql`UPDATE checkpoint_items SET line = 99 WHERE tenant_id = ${t} AND ${ofRun} AND line = 7 AND ordinal = 8`,
    },
    {
      name: /^every part is on/,
      by: 'a part that ends before it begins',
      how: (t) => sql`UPDATE tool_calls SET removed = added WHERE tenant_id = ${t} AND ${ofRun} AND line = 7`,
    },
    {
      name: /^one part at a time is visible/,
      by: 'a part that did not end',
      how: (t) =>
        sql`UPDATE checkpoint_items SET removed = 9007199254740991 WHERE tenant_id = ${t} AND ${ofRun} AND line = 4 AND added = 4`,
    },
    {
      name: /^one part at a time is visible/,
      by: 'two thoughts in one place',
      how: (t) => sql`UPDATE thoughts SET position = 0 WHERE tenant_id = ${t} AND ${ofRun} AND line = 7`,
    },
    {
      name: /^exactly one part stands for/,
      by: 'parts of a container that is missing',
      how: (t) =>
        sql`UPDATE checkpoint_items SET child = 99 WHERE tenant_id = ${t} AND ${ofRun} AND line = 7 AND child IS NOT NULL`,
    },
    {
      name: /^exactly one part stands for/,
      by: 'a container that two stand for',
      how: (
        t,
      ) => sql`UPDATE checkpoint_items SET child = (SELECT MIN(child) FROM checkpoint_items WHERE tenant_id = ${t} AND ${ofRun})
        WHERE tenant_id = ${t} AND ${ofRun} AND line = 7 AND child IS NOT NULL`,
    },
    {
      name: /^thoughts and tool calls match/,
      by: 'another id',
      how: (t) => sql`UPDATE thoughts SET id = 'another' WHERE tenant_id = ${t} AND ${ofRun} AND id = 't5'`,
    },
    {
      name: /^thoughts and tool calls match/,
      by: 'another confidence',
      how: (t) => sql`UPDATE thoughts SET confidence = 0.25 WHERE tenant_id = ${t} AND ${ofRun} AND id = 't5'`,
    },
    {
      name: /^thoughts and tool calls match/,
      by: 'another derived id',
      how: (t) => sql`UPDATE tool_calls SET id = 'shell@2' WHERE tenant_id = ${t} AND ${ofRun} AND id = 'shell@1#2'`,
    },
    {
      name: /^thoughts and tool calls match/,
      by: 'another outcome',
      how: (t) => sql`UPDATE tool_calls SET success = 1 - success WHERE tenant_id = ${t} AND ${ofRun} AND line = 7`,
    },
    {
      name: /^thoughts and tool calls match/,
      by: 'another checkpoint',
      how: (t) => sql`UPDATE thoughts SET checkpoint_id = 'b2' WHERE tenant_id = ${t} AND ${ofRun} AND id = 't6'`,
    },
  ];

  let tenant: string;
  beforeAll(async () => {
    const cairn = await test().freshTenant();
    tenant = await tenantOf(cairn);
    await someRuns(cairn);
    expect((await cairn.executions.get(EXECUTION)).checkpoints).toBe(7);
  });

  it('CKPT-26 has nothing to say of a healthy run', async () => {
    for (const { name, broken } of checks) expect(await test().store.driver.long(tenant, broken()), name).toEqual([]);
  });

  it.each(breaks)('CKPT-26 finds $by', async ({ name, how }) => {
    const found: string[] = [];
    const examined = test().store.driver.write(tenant, async (tx) => {
      found.length = 0;
      expect(await tx.run(how(tenant))).toBeGreaterThan(0);
      for (const check of checkpointChecks)
        for (const { what } of await tx.all<{ what: string }>(check.broken())) found.push(`${check.name}: ${what}`);
      // So that the next finds a healthy run again.
      throw new Error('taken back');
    });
    await expect(examined).rejects.toThrow('taken back');
    expect(found.join('\n')).toMatch(new RegExp(name.source, 'm'));
  });
});
