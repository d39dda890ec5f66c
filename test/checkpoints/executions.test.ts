import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { uuid } from '#cairn/kernel/contract.js';
import { numbered, someExecution, take } from '../support/nouns/checkpoints.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { eventsOf, someTrajectory } from '../support/nouns/scopes.js';
import { inFuture, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const HOUR = 60 * 60_000;
const notFound = { code: 'EXECUTION_NOT_FOUND', status: 404 };
const finished = ['completed', 'failed', 'cancelled'] as const;

onEveryTarget('executions', (test) => {
  it('EXEC-1 an execution is read back with every field as it was written', async () => {
    const cairn = await test().freshTenant();
    const sent = {
      execution_id: 'run/1 ü',
      agent_id: 'coder',
      name: 'Fix the login',
      status: 'pending' as const,
      trajectory_id: await someTrajectory(cairn),
      thread_id: 'a thread',
      namespace: 'sub|graph',
      subject_ids: ['user-7'],
      metadata: { a: [1, { b: null }] },
    };
    const made = await cairn.executions.create(sent);
    expect(made).toEqual({
      ...sent,
      checkpoints: 0,
      latest_checkpoint_id: null,
      created_at: made.updated_at,
      updated_at: expect.stringMatching(/Z$/),
      finished_at: null,
    });
    expect(await cairn.executions.get({ execution_id: sent.execution_id })).toEqual(made);
    const { packets } = await cairn.packets.thread({ thread_id: sent.trajectory_id });
    expect(packets.at(-1)).toMatchObject({
      packet_type: 'cairn.execution.created',
      payload: { entity: { id: sent.execution_id }, agent_id: 'coder', status: 'pending' },
    });
    expect(JSON.stringify(packets)).not.toMatch(/Fix the login|sub\|graph/);
  });

  it('EXEC-1 nothing is needed', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.executions.create({});
    expect(made).toMatchObject({
      agent_id: 'agent',
      name: null,
      status: 'running',
      trajectory_id: null,
      thread_id: null,
      namespace: '',
      metadata: {},
    });
    expect(uuid.safeParse(made.execution_id).success).toBe(true);
  });

  it('EXEC-2 the same execution_id with the same body gives the execution that is there, as it is now', async () => {
    const cairn = await test().freshTenant();
    const sent = { execution_id: 'run', name: 'n', metadata: { b: 1, a: 2 } };
    await cairn.executions.create(sent);
    const { id } = await take(cairn, 'run', numbered(1));
    await cairn.executions.update({ execution_id: 'run', name: 'm', status: 'paused' });
    const before = await latestToken(cairn);
    expect(await cairn.executions.create({ ...sent, metadata: { a: 2, b: 1 } })).toMatchObject({
      name: 'm',
      status: 'paused',
      checkpoints: 1,
      latest_checkpoint_id: id,
    });
    expect(await latestToken(cairn)).toBe(before);
  });

  it('EXEC-2 with another body or from another agent it is refused; of one that was deleted it is gone', async () => {
    const cairn = await test().freshTenant();
    const ann = await test().as({ tenant: await tenantOf(cairn), agent: 'ann' });
    const sent = { execution_id: 'run', name: 'n' };
    await cairn.executions.create(sent);
    const refused = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
    expect(await refusalOf(cairn.executions.create({ ...sent, name: 'm' }))).toMatchObject(refused);
    expect(await refusalOf(cairn.executions.create({ ...sent, metadata: {} }))).toMatchObject(refused);
    expect(await refusalOf(ann.executions.create(sent))).toMatchObject(refused);
    await cairn.executions.delete({ execution_id: 'run' });
    expect(await refusalOf(cairn.executions.create(sent))).toMatchObject({ code: 'ENTITY_GONE', status: 410 });
    expect((await cairn.executions.list({})).total).toBe(0);
  });

  it('EXEC-3 an execution that does not exist or is of another tenant is not found', async () => {
    const cairn = await test().freshTenant();
    const other = await test().freshTenant();
    const foreign = await someExecution(other);
    const { id } = await take(other, foreign, numbered(1));
    for (const execution_id of ['nobody', foreign])
      for (const call of [
        () => cairn.executions.get({ execution_id }),
        () => cairn.executions.update({ execution_id, name: 'n' }),
        () => cairn.executions.delete({ execution_id }),
        () => cairn.executions.tree({ execution_id }),
        () => cairn.executions.stats({ execution_id }),
        () => cairn.executions.prune({ execution_id }),
        () => cairn.executions.export({ execution_id }),
        () => cairn.checkpoints.latest({ execution_id }),
        () => take(cairn, execution_id, numbered(1)),
      ])
        expect(await refusalOf(call())).toMatchObject(notFound);
    expect((await other.executions.get({ execution_id: foreign })).latest_checkpoint_id).toBe(id);
    expect((await cairn.checkpoints.list({ execution_id: foreign })).checkpoints).toEqual([]);
  });

  it('EXEC-4 an execution may be part of a trajectory that exists and is not finished', async () => {
    const cairn = await test().freshTenant();
    const foreign = await someTrajectory(await test().freshTenant());
    for (const trajectory_id of [randomUUID(), foreign])
      expect(await refusalOf(cairn.executions.create({ trajectory_id }))).toMatchObject({
        code: 'UNKNOWN_ENTITY',
        status: 400,
      });
    const trajectory_id = await someTrajectory(cairn);
    const execution_id = await someExecution(cairn, { trajectory_id });
    await cairn.trajectories.update({ trajectory_id, status: 'Completed' });
    expect(await refusalOf(cairn.executions.create({ trajectory_id }))).toMatchObject({
      code: 'STATE_CONFLICT',
      status: 409,
    });
    expect((await cairn.executions.list({})).executions).toMatchObject([{ execution_id }]);
  });

  it('EXEC-5 executions are listed by status, agent, trajectory, thread, namespace and times', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await someTrajectory(cairn);
    await cairn.executions.create({ execution_id: 'a', trajectory_id, agent_id: 'ann', status: 'paused' });
    await cairn.executions.create({ execution_id: 'B', thread_id: 't' });
    await cairn.executions.create({ execution_id: 'c', thread_id: 't', namespace: 'sub' });
    const middle = inFuture(test(), HOUR / 2);
    test().advance(HOUR);
    await cairn.executions.create({ execution_id: 'd', trajectory_id, thread_id: 'u' });
    await cairn.executions.update({ execution_id: 'c', name: 'later' });
    const listed = async (filter: object) => {
      const { executions, total } = await cairn.executions.list(filter);
      expect(total).toBe(executions.length);
      return executions.map(({ execution_id }) => execution_id).join('');
    };
    expect(await listed({})).toBe('Bacd');
    expect(await listed({ status: 'paused' })).toBe('a');
    expect(await listed({ agent_id: 'ann' })).toBe('a');
    expect(await listed({ agent_id: 'agent', thread_id: 't' })).toBe('Bc');
    expect(await listed({ trajectory_id })).toBe('ad');
    expect(await listed({ thread_id: 't' })).toBe('Bc');
    expect(await listed({ thread_id: 't', namespace: '' })).toBe('B');
    expect(await listed({ namespace: 'sub' })).toBe('c');
    expect(await listed({ created_after: middle })).toBe('d');
    expect(await listed({ created_before: middle })).toBe('Bac');
    expect(await listed({ updated_after: middle })).toBe('cd');
  });

  it('EXEC-5 executions are listed in the order of their ids, page by page', async () => {
    const cairn = await test().freshTenant();
    const ids = ['é', '10', '9', 'a/b', 'Z', '😀', 'z'];
    for (const execution_id of ids) await cairn.executions.create({ execution_id, metadata: { execution_id } });
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await cairn.executions.list({ limit: 3, ...(cursor ? { cursor } : {}) });
      expect(page.total).toBe(cursor ? null : 7);
      found.push(...page.executions.map(({ execution_id }) => execution_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(found).toEqual(['10', '9', 'Z', 'a/b', 'z', 'é', '😀']);
    const { next_cursor } = await cairn.executions.list({ limit: 3 });
    expect(await refusalOf(cairn.executions.list({ status: 'running', cursor: next_cursor! }))).toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });

  it('EXEC-6 a change sets the fields that are given and leaves the others', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.executions.create({ name: 'n', metadata: { a: 1 } });
    const { execution_id } = made;
    test().advance(1000);
    const changed = await cairn.executions.update({ execution_id, name: 'm', status: 'paused' });
    expect(changed).toEqual({ ...made, name: 'm', status: 'paused', updated_at: changed.updated_at });
    expect(changed.updated_at > made.updated_at).toBe(true);
    const cleared = await cairn.executions.update({ execution_id, name: null, metadata: {} });
    expect(cleared).toMatchObject({ name: null, status: 'paused', metadata: {} });
    expect(await cairn.executions.get({ execution_id })).toEqual(cleared);
    const told = await eventsOf(cairn, 'cairn.execution.updated', execution_id);
    expect(told).toMatchObject([
      { fields: ['name', 'status'], status: 'paused' },
      { fields: ['name', 'metadata'], status: 'paused' },
    ]);
  });

  it('EXEC-6 a change that changes nothing appends no event; one of no field is refused', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.executions.create({ name: 'n', metadata: { b: 1, a: 2 } });
    const { execution_id } = made;
    const before = await latestToken(cairn);
    test().advance(1000);
    const same = { name: 'n', metadata: { a: 2, b: 1 }, status: 'running' as const };
    expect(await cairn.executions.update({ execution_id, ...same })).toEqual(made);
    expect(await refusalOf(cairn.executions.update({ execution_id }))).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await latestToken(cairn)).toBe(before);
  });

  it.each(finished)('EXEC-7 a %s execution takes no checkpoint until it is taken up again', async (status) => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const { id } = await take(cairn, execution_id, numbered(1));
    const ended = await cairn.executions.update({ execution_id, status });
    expect(ended.finished_at).toBe(ended.updated_at);
    const refusal = await refusalOf(take(cairn, execution_id, numbered(2)));
    expect(refusal).toMatchObject({
      code: 'STATE_CONFLICT',
      status: 409,
      details: { execution_id, status },
      message: expect.stringContaining('running'),
    });
    expect(await cairn.executions.get({ execution_id })).toEqual(ended);
    expect(await cairn.checkpoints.latest({ execution_id })).toMatchObject({ id });
    const resumed = await cairn.executions.update({ execution_id, status: 'running' });
    expect(resumed.finished_at).toBeNull();
    expect(await take(cairn, execution_id, numbered(2))).toMatchObject({ parent: { checkpoint_id: id } });
    await cairn.executions.update({ execution_id, status });
    await cairn.checkpoints.restore({ checkpoint_id: id });
    const running = { status: 'running', finished_at: null };
    expect(await cairn.executions.get({ execution_id })).toMatchObject(running);
    await cairn.executions.update({ execution_id, status });
    await cairn.checkpoints.branch({ checkpoint_id: id, reason: 'again' });
    expect(await cairn.executions.get({ execution_id })).toMatchObject({ ...running, checkpoints: 3 });
  });

  it('EXEC-7 one finished state may become another, and keeps the time at which it finished', async () => {
    const cairn = await test().freshTenant();
    const { execution_id, finished_at } = await cairn.executions.create({ status: 'failed' });
    expect(finished_at).not.toBeNull();
    test().advance(1000);
    expect(await cairn.executions.update({ execution_id, status: 'cancelled' })).toMatchObject({
      status: 'cancelled',
      finished_at,
    });
  });

  it.each(['pending', 'paused'] as const)('EXEC-7 a checkpoint sets a %s execution running', async (status) => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn, { status });
    await take(cairn, execution_id, numbered(1));
    expect(await cairn.executions.get({ execution_id })).toMatchObject({ status: 'running', checkpoints: 1 });
  });

  it('EXEC-8 an execution stands at its newest checkpoint, or at the one that was restored', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    expect(await refusalOf(cairn.checkpoints.latest({ execution_id }))).toMatchObject({
      code: 'CHECKPOINT_NOT_FOUND',
      status: 404,
    });
    const first = await take(cairn, execution_id, numbered(1));
    const second = await take(cairn, execution_id, numbered(2));
    const stands = async () => (await cairn.executions.get({ execution_id })).latest_checkpoint_id;
    expect(await stands()).toBe(second.id);
    await cairn.checkpoints.restore({ checkpoint_id: first.id });
    expect(await stands()).toBe(first.id);
    expect(await cairn.checkpoints.latest({ execution_id })).toEqual({ ...first, snapshot: numbered(1) });
  });

  it('EXEC-9 a key with an agent acts as it, and reads and changes what others of its tenant run', async () => {
    const admin = await test().freshTenant();
    const tenant = await tenantOf(admin);
    const [ann, bob] = [await test().as({ tenant, agent: 'ann' }), await test().as({ tenant, agent: 'bob' })];
    expect(await ann.executions.create({ execution_id: 'run' })).toMatchObject({ agent_id: 'ann' });
    expect(await ann.executions.create({ agent_id: 'ann' })).toMatchObject({ agent_id: 'ann' });
    const refused = { code: 'FORBIDDEN', status: 403 };
    expect(await refusalOf(ann.executions.create({ agent_id: 'bob' }))).toMatchObject(refused);
    const first = await take(bob, 'run', numbered(1));
    const second = await take(ann, 'run', numbered(2));
    const third = await take(admin, 'run', numbered(3));
    expect([first, second, third].map(({ agent_id }) => agent_id)).toEqual(['ann', 'ann', 'ann']);
    expect(await bob.checkpoints.get({ checkpoint_id: third.id })).toMatchObject({ snapshot: numbered(3) });
    expect((await bob.checkpoints.list({ agent_id: 'ann' })).checkpoints).toEqual([first, second, third]);
    expect((await bob.checkpoints.list({ agent_id: 'bob' })).checkpoints).toEqual([]);
    expect(await bob.executions.get({ execution_id: 'run' })).toMatchObject({ agent_id: 'ann', checkpoints: 3 });
  });

  it('EXEC-16 concurrent checkpoints all land, each from the one before', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const made = await Promise.all(Array.from({ length: 6 }, (_, n) => take(cairn, execution_id, numbered(n))));
    const { nodes, roots, latest_checkpoint_id } = await cairn.executions.tree({ execution_id });
    expect(nodes).toHaveLength(6);
    expect(roots).toHaveLength(1);
    for (const [i, node] of nodes.entries()) {
      expect(node).toMatchObject({ is_branch: false, parent_checkpoint_id: nodes[i - 1]?.checkpoint_id ?? null });
      expect(node.children).toHaveLength(i === nodes.length - 1 ? 0 : 1);
    }
    expect(latest_checkpoint_id).toBe(nodes.at(-1)!.checkpoint_id);
    for (const [n, { id }] of made.entries())
      expect(await cairn.checkpoints.get({ checkpoint_id: id })).toMatchObject({ snapshot: numbered(n) });
  });
});
