/** Policies: how they are made, changed and deleted, and by whom. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { accessTo } from '#cairn/engine/contract.js';
import { someScope, someTrajectory } from '../../support/nouns/scopes.js';
import { jobsOf, somePolicy, talk } from '../../support/nouns/summaries.js';
import { until } from '../../support/server.js';
import { onEveryTarget, refusalOf } from '../../support/targets.js';

const CLOSE = { type: 'ScopeClose' as const };

onEveryTarget('summarization policies', (test) => {
  it('SUM-1 has what is given, and else the defaults', async () => {
    const cairn = await test().freshTenant();
    const policy = await somePolicy(cairn, { type: 'DosageThreshold', percent: 80 });
    expect(policy).toMatchObject({
      trajectory_id: null,
      scope_id: null,
      trigger: { type: 'DosageThreshold', percent: 80 },
      source_level: 'L0',
      target_level: 'L1',
      max_sources: 200,
      max_tokens: 500,
      create_edges: true,
      actions: ['summarize'],
      enabled: true,
    });
    const { policy_id } = policy;
    expect(await cairn.summarization_policies.get({ policy_id })).toEqual(policy);
    const { scope_id, trajectory_id } = await someScope(cairn);
    const own = await somePolicy(
      cairn,
      { type: 'TurnCount', count: 20 },
      { scope_id, name: 'mine', actions: ['summarize', 'extract'], max_sources: 20, enabled: false },
    );
    expect(own).toMatchObject({ scope_id, trajectory_id, name: 'mine', actions: ['extract', 'summarize'] });
    const principles = await somePolicy(cairn, { type: 'ArtifactCount', count: 5 }, { target_level: 'L2' });
    expect(principles).toMatchObject({ source_level: 'L1', target_level: 'L2' });
    const { list } = cairn.summarization_policies;
    expect(await list({})).toMatchObject({ summarization_policies: [policy, own, principles], total: 3 });
    expect((await list({ trajectory_id })).summarization_policies).toEqual([own]);
    expect((await list({ scope_id })).summarization_policies).toEqual([own]);
    const { next_cursor } = await list({ limit: 2 });
    expect((await list({ limit: 2, cursor: next_cursor! })).summarization_policies).toEqual([principles]);
  });

  it('SUM-2 goes one level upward, and extracts from turns alone', async () => {
    const { cairn } = test();
    const { scope_id } = await someScope(cairn);
    const { trajectory_id } = await someScope(cairn);
    const refused = async (more: object) =>
      (await refusalOf(cairn.summarization_policies.create({ trigger: CLOSE, ...more }))).code;
    expect(await refused({ source_level: 'L0', target_level: 'L2' })).toBe('INVALID_INPUT');
    expect(await refused({ source_level: 'L1', target_level: 'L1' })).toBe('INVALID_INPUT');
    expect(await refused({ source_level: 'L1', actions: ['extract'] })).toBe('INVALID_INPUT');
    expect(await refused({ scope_id, trajectory_id })).toBe('INVALID_INPUT');
    expect(await refused({ trigger: { type: 'TurnCount' } })).toBe('INVALID_INPUT');
    expect(await refused({ trigger: { type: 'TurnCount', n: 3 } })).toBe('INVALID_INPUT');
    expect(await refused({ trigger: { type: 'DosageThreshold', percent: 101 } })).toBe('INVALID_INPUT');
    expect(await refused({ scope_id: randomUUID() })).toBe('UNKNOWN_ENTITY');
    expect(await refused({ trajectory_id: randomUUID() })).toBe('UNKNOWN_ENTITY');
  });

  it('SUM-3 is changed and deleted; the same again changes nothing', async () => {
    const cairn = await test().freshTenant();
    const policy_id = randomUUID();
    const made = await somePolicy(cairn, CLOSE, { policy_id, name: 'a' });
    expect(await somePolicy(cairn, CLOSE, { policy_id, name: 'a' })).toEqual(made);
    expect((await refusalOf(somePolicy(cairn, CLOSE, { policy_id, name: 'b' }))).code).toBe('ENTITY_ALREADY_EXISTS');
    const { update } = cairn.summarization_policies;
    expect((await refusalOf(update({ policy_id }))).code).toBe('INVALID_INPUT');
    expect(await update({ policy_id, name: 'a' })).toEqual(made);
    const changed = await update({ policy_id, trigger: { type: 'TurnCount', count: 7 }, name: null, max_tokens: 99 });
    expect(changed).toMatchObject({ trigger: { type: 'TurnCount', count: 7 }, name: null, max_tokens: 99 });
    await cairn.summarization_policies.delete({ policy_id });
    await cairn.summarization_policies.delete({ policy_id });
    expect((await refusalOf(update({ policy_id, name: 'c' }))).code).toBe('POLICY_NOT_FOUND');
    expect((await refusalOf(cairn.summarization_policies.get({ policy_id }))).code).toBe('POLICY_NOT_FOUND');
    expect((await refusalOf(somePolicy(cairn, CLOSE, { policy_id, name: 'a' }))).code).toBe('ENTITY_GONE');
    const { packets } = await cairn.packets.list({ order: 'asc', limit: 500 });
    const told = packets.filter(({ packet_type }) => packet_type.startsWith('cairn.summarization_policy'));
    expect(told.map(({ packet_type }) => packet_type.split('.')[2])).toEqual(['created', 'updated', 'deleted']);
  });

  it('SUM-4 is for the tenant by a key without an agent alone; an agent changes those where it writes Turns', async () => {
    const store = test();
    const tenant = `t-${randomUUID()}`;
    const admin = await store.as({ tenant });
    const ann = await store.as({ tenant, agent: 'ann', role: 'write' });
    const bob = await store.as({ tenant, agent: 'bob', role: 'write' });
    const trajectory_id = await someTrajectory(ann);
    expect((await refusalOf(somePolicy(ann, CLOSE))).code).toBe('FORBIDDEN');
    const { policy_id } = await somePolicy(ann, CLOSE, { trajectory_id });
    await admin.agents.update({ agent_id: 'bob', memory_access: accessTo('own_trajectory') });
    expect((await refusalOf(bob.summarization_policies.update({ policy_id, enabled: false }))).code).toBe('FORBIDDEN');
    expect((await refusalOf(bob.summarization_policies.delete({ policy_id }))).code).toBe('FORBIDDEN');
    const common = await somePolicy(admin, CLOSE);
    for (const agent of [ann, bob])
      expect(await refusalOf(agent.summarization_policies.delete({ policy_id: common.policy_id }))).toMatchObject({
        code: 'FORBIDDEN',
        details: { rule: 'key_agent' },
      });
    expect(await ann.summarization_policies.update({ policy_id, enabled: false })).toMatchObject({ agent_id: 'ann' });
    const own = { read: [], write: [{ memory_type: 'Artifact' as const, scope: 'own' as const }] };
    await admin.agents.register({ agent_id: 'cat', agent_type: 'a', capabilities: ['x'], memory_access: own });
    const cat = await store.as({ tenant, agent: 'cat', role: 'write' });
    expect((await refusalOf(somePolicy(cat, CLOSE, { trajectory_id }))).code).toBe('FORBIDDEN');
  });

  it('SUM-4 shows an agent those of the tenant, its own and those within its reach', async () => {
    const store = test();
    const tenant = `t-${randomUUID()}`;
    const admin = await store.as({ tenant });
    const memory_access = { read: [{ memory_type: '*' as const, scope: 'own_trajectory' as const }] };
    for (const agent_id of ['ann', 'bob'])
      await admin.agents.register({ agent_id, agent_type: 'a', capabilities: ['x'], memory_access });
    const ann = await store.as({ tenant, agent: 'ann', role: 'write' });
    const bob = await store.as({ tenant, agent: 'bob', role: 'write' });
    const common = await somePolicy(admin, CLOSE);
    const { scope_id } = await someScope(ann);
    const hers = await somePolicy(ann, CLOSE, { scope_id, name: 'secret' });
    const set = await somePolicy(admin, CLOSE, { scope_id });
    const { get, list } = bob.summarization_policies;
    expect(await list({})).toMatchObject({ summarization_policies: [common], total: 1 });
    expect((await refusalOf(get({ policy_id: hers.policy_id }))).code).toBe('FORBIDDEN');
    expect(await get({ policy_id: common.policy_id })).toEqual(common);
    expect((await refusalOf(get({ policy_id: randomUUID() }))).code).toBe('POLICY_NOT_FOUND');
    expect((await ann.summarization_policies.list({})).summarization_policies).toEqual([common, hers, set]);
    for (let i = 2; i < 20; i++) await somePolicy(admin, CLOSE, { scope_id });
    expect(await refusalOf(somePolicy(admin, CLOSE, { scope_id }))).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('at most 20'),
    });
    await admin.summarization_policies.delete({ policy_id: set.policy_id });
    await somePolicy(admin, CLOSE, { scope_id });
  });

  it('SUM-6 goes with its trajectory, and so do the jobs that wait', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someScope(cairn);
    const { policy_id } = await somePolicy(cairn, { type: 'TurnCount', count: 2 }, { scope_id });
    await talk(cairn, scope_id, 2);
    expect(await jobsOf(cairn, scope_id)).toMatchObject([{ state: 'waiting', policy_id }]);
    await cairn.trajectories.delete({ trajectory_id, wait: true });
    expect((await refusalOf(cairn.summarization_policies.get({ policy_id }))).code).toBe('POLICY_NOT_FOUND');
    expect(await jobsOf(cairn, scope_id)).toMatchObject([{ state: 'failed', made: [] }]);
  });

  it('SUM-30 keeps the turns of what is to be made of an ended scope for so long, and no longer', async () => {
    const cairn = await test().freshTenant();
    await somePolicy(cairn, CLOSE);
    const { scope_id, trajectory_id } = await someScope(cairn);
    await talk(cairn, scope_id, 3);
    const update = { operation: 'update' as const, trajectory_id, update: { status: 'Failed' as const } };
    await cairn.trajectories.batch({ atomic: true, items: [update] });
    const erasure = async () => (await cairn.scopes.get({ scope_id })).erasure;
    await until('the erasure', async () => (await erasure())!.state === 'done');
    expect(await erasure()).toEqual({ state: 'done', erased: 0, kept: 3 });
    expect((await cairn.scopes.turns({ scope_id })).turns).toEqual([]);
    test().advance(61_000);
    await cairn.lifetime.sweep();
    expect(await erasure()).toEqual({ state: 'done', erased: 3, kept: 0 });
    expect(await jobsOf(cairn, scope_id)).toMatchObject([{ state: 'failed', made: [] }]);
  });

  describe('jobs', () => {
    it('SUM-21 can be read and listed, by those who reach their scope', async () => {
      const store = test();
      const tenant = `t-${randomUUID()}`;
      const admin = await store.as({ tenant });
      const { scope_id } = await someScope(admin);
      const { policy_id } = await somePolicy(admin, { type: 'TurnCount', count: 1 });
      await talk(admin, scope_id, 1);
      const [job] = await jobsOf(admin, scope_id);
      expect(await admin.jobs.get({ job_id: job!.job_id })).toEqual(job);
      expect((await admin.jobs.list({ policy_id, state: 'waiting' })).jobs).toEqual([job]);
      expect((await admin.jobs.list({ state: 'done' })).jobs).toEqual([]);
      expect((await refusalOf(admin.jobs.get({ job_id: randomUUID() }))).code).toBe('JOB_NOT_FOUND');
      const none = { read: [{ memory_type: 'Artifact' as const, scope: 'own_trajectory' as const }], write: [] };
      await admin.agents.register({ agent_id: 'dan', agent_type: 'a', capabilities: ['x'], memory_access: none });
      const dan = await store.as({ tenant, agent: 'dan' });
      expect((await dan.jobs.list({})).jobs).toEqual([]);
      expect((await refusalOf(dan.jobs.get({ job_id: job!.job_id }))).code).toBe('FORBIDDEN');
    });
  });
});
