/** Summaries by hand and by policies: what they are made from, once each, and how they are expanded. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { countTokens } from '#cairn/text/index.js';
import { contentsOf, say, someScope, someTrajectory } from '../../support/nouns/scopes.js';
import {
  endedJobs,
  jobsOf,
  sentence,
  somePolicy,
  summariesOf,
  synthesizedFrom,
  talk,
} from '../../support/nouns/summaries.js';
import { onEveryTarget, refusalOf } from '../../support/targets.js';

onEveryTarget('summaries', (test) => {
  describe('by hand', () => {
    it('SUM-7 makes a Summary of the turns since the last one, linked to all of them', async () => {
      const { cairn } = test();
      const { scope_id, trajectory_id } = await someScope(cairn);
      const first = await talk(cairn, scope_id, 12);
      const { made, artifact, sources } = await cairn.scopes.summarize({ scope_id, max_tokens: 60 });
      expect({ made, sources }).toEqual({ made: true, sources: 12 });
      expect(artifact).toMatchObject({
        artifact_type: 'Summary',
        abstraction_level: 'L1',
        trajectory_id,
        scope_id,
        provenance: { extraction_method: 'Inferred', source_turn: null },
        metadata: {
          method: 'offline',
          model: null,
          trigger: 'Manual',
          summary_of: { scope_id, from_sequence: 1, to_sequence: 12, turns: 12 },
        },
      });
      expect(await countTokens(artifact!.content as string)).toBeLessThanOrEqual(60);
      expect(artifact!.content).not.toBe('');
      expect((await synthesizedFrom(cairn, artifact!.artifact_id)).sort()).toEqual([...first].sort());
      const more = await talk(cairn, scope_id, 3, 12);
      const second = await cairn.scopes.summarize({ scope_id });
      expect(await synthesizedFrom(cairn, second.artifact!.artifact_id)).toEqual(more);
      const third = await cairn.scopes.summarize({ scope_id });
      expect(third).toMatchObject({ made: false, artifact: null, reason: expect.stringContaining('nothing new') });
      // The turns stay as they were.
      expect(await contentsOf(cairn, scope_id)).toHaveLength(15);
    });

    it('SUM-8 never parts a tool call from its result, and leaves a call that waits for later', async () => {
      const { cairn } = test();
      const { scope_id } = await someScope(cairn);
      await talk(cairn, scope_id, 2);
      await say(cairn, scope_id, 'I look it up.', {
        role: 'Assistant',
        tool_calls: [{ id: 'c1', name: 'look', arguments: { about: 'invoices' } }],
      });
      const summarized = async (max_sources = 200) => (await cairn.scopes.summarize({ scope_id, max_sources })).sources;
      expect(await summarized()).toBe(2);
      expect(await summarized()).toBe(0);
      const result = { role: 'Tool', tool_results: [{ tool_call_id: 'c1', content: 'Three invoices are open.' }] };
      await say(cairn, scope_id, '', result as never);
      await talk(cairn, scope_id, 1, 7);
      // One source at a time, and still both.
      expect(await summarized(1)).toBe(2);
      expect(await summarized(1)).toBe(1);
    });

    it('SUM-8 waits for each of several results, however they name their call and whatever is said between', async () => {
      const { cairn } = test();
      const { scope_id } = await someScope(cairn);
      const summarized = async (max_sources = 200) => (await cairn.scopes.summarize({ scope_id, max_sources })).sources;
      const called = (...ids: string[]) =>
        say(cairn, scope_id, 'I look it up.', {
          role: 'Assistant',
          tool_calls: ids.map((id) => ({ id, name: 'look', arguments: {} })),
        });
      const answered = (tool_call_id: string) =>
        say(cairn, scope_id, `Found by ${tool_call_id}.`, { role: 'Tool', metadata: { tool_call_id } });
      await called('a', 'b');
      await answered('a');
      expect(await summarized()).toBe(0);
      await talk(cairn, scope_id, 1);
      expect(await summarized()).toBe(0);
      await called('c');
      await answered('b');
      // The first call is answered, behind another that is not.
      expect(await summarized()).toBe(0);
      await answered('c');
      expect(await summarized(1)).toBe(6);
      // What never comes is not waited for without end.
      await called('d');
      await talk(cairn, scope_id, 63);
      expect(await summarized()).toBe(0);
      await say(cairn, scope_id, sentence(64));
      expect(await summarized()).toBe(65);
    });

    it('SUM-9 takes the settings of the nearest Manual policy, else those that are given', async () => {
      const cairn = await test().freshTenant();
      const { scope_id } = await someScope(cairn);
      await somePolicy(cairn, { type: 'Manual' }, { max_sources: 3, create_edges: false });
      await somePolicy(cairn, { type: 'Manual' }, { scope_id, max_sources: 2, create_edges: false });
      const turns = await talk(cairn, scope_id, 9);
      const own = await cairn.scopes.summarize({ scope_id });
      expect(own.sources).toBe(2);
      expect(await synthesizedFrom(cairn, own.artifact!.artifact_id)).toEqual([]);
      const { sources } = await cairn.artifacts.expand({ artifact_id: own.artifact!.artifact_id });
      expect(sources.map(({ id }) => id)).toEqual(turns.slice(0, 2));
      expect((await cairn.scopes.summarize({ scope_id, max_sources: 5 })).sources).toBe(5);
    });

    it('SUM-10 answers the same request again with what it made', async () => {
      const { cairn } = test();
      const { scope_id } = await someScope(cairn);
      await talk(cairn, scope_id, 4);
      const options = { idempotency_key: randomUUID() };
      const first = await cairn.scopes.summarize({ scope_id }, options);
      await talk(cairn, scope_id, 2, 4);
      expect(await cairn.scopes.summarize({ scope_id }, options)).toEqual(first);
      expect(await summariesOf(cairn, scope_id)).toHaveLength(1);
    });

    it('SUM-11 refuses a closed scope and one that is not there', async () => {
      const { cairn } = test();
      const { scope_id } = await someScope(cairn);
      await talk(cairn, scope_id, 2);
      await cairn.scopes.close({ scope_id });
      expect((await refusalOf(cairn.scopes.summarize({ scope_id }))).code).toBe('SCOPE_CLOSED');
      expect((await refusalOf(cairn.scopes.extract({ scope_id }))).code).toBe('SCOPE_CLOSED');
      expect((await refusalOf(cairn.scopes.summarize({ scope_id: randomUUID() }))).code).toBe('SCOPE_NOT_FOUND');
    });

    it('SUM-12 needs to read turns and to write artifacts', async () => {
      const store = test();
      const tenant = `t-${randomUUID()}`;
      const admin = await store.as({ tenant });
      const { scope_id } = await someScope(admin);
      await talk(admin, scope_id, 3);
      const all = { memory_type: '*' as const, scope: 'all' as const };
      const turns = { memory_type: 'Turn' as const, scope: 'all' as const };
      const agents = { reader: { read: [all], write: [] }, writer: { read: [], write: [all] } };
      for (const [agent_id, memory_access] of Object.entries(agents)) {
        await admin.agents.register({ agent_id, agent_type: 'a', capabilities: ['x'], memory_access });
        const api = await store.as({ tenant, agent: agent_id, role: 'write' });
        expect((await refusalOf(api.scopes.summarize({ scope_id }))).code).toBe('FORBIDDEN');
        expect((await refusalOf(api.scopes.extract({ scope_id }))).code).toBe('FORBIDDEN');
      }
      const artifacts = { memory_type: 'Artifact' as const, scope: 'all' as const };
      const memory_access = { read: [turns, artifacts], write: [artifacts] };
      await admin.agents.register({ agent_id: 'both', agent_type: 'a', capabilities: ['x'], memory_access });
      const both = await store.as({ tenant, agent: 'both', role: 'write' });
      expect((await both.scopes.summarize({ scope_id })).artifact).toMatchObject({ agent_id: 'both' });
      expect((await refusalOf(both.scopes.summarize({ scope_id, target_level: 'L2' }))).code).toBe('FORBIDDEN');
    });
  });

  describe('expanding', () => {
    it('SUM-13 gives the sources while they are there, and names what is gone', async () => {
      const { cairn } = test();
      const { scope_id } = await someScope(cairn);
      const turns = await talk(cairn, scope_id, 4);
      const { artifact } = await cairn.scopes.summarize({ scope_id });
      const { artifact_id } = artifact!;
      const { sources } = await cairn.artifacts.expand({ artifact_id });
      expect(sources.map(({ id, content, sequence, role }) => ({ id, content, sequence, role }))).toEqual(
        turns.map((id, i) => ({ id, content: sentence(i), sequence: i + 1, role: 'User' })),
      );
      await cairn.scopes.close({ scope_id, wait: true });
      expect(await refusalOf(cairn.artifacts.expand({ artifact_id }))).toMatchObject({
        code: 'CONTENT_ERASED',
        status: 410,
        details: { sources: turns.map((entity_id) => ({ entity_type: 'Turn', entity_id })), left: 0 },
      });
      expect(await cairn.artifacts.expand({ artifact_id, left: true })).toEqual({ sources: [] });
    });

    it('SUM-14 gives what an artifact or note of a caller was derived from, or nothing', async () => {
      const { cairn } = test();
      const trajectory_id = await someTrajectory(cairn);
      const artifact = { trajectory_id, artifact_type: 'Fact', name: 'a', content: 'one' };
      const { artifact_id } = await cairn.artifacts.create(artifact);
      expect(await cairn.artifacts.expand({ artifact_id })).toEqual({ sources: [] });
      const { note_id } = await cairn.notes.create({
        note_type: 'Fact',
        title: 'n',
        content: 'two',
        source_trajectory_ids: [trajectory_id],
        source_artifact_ids: [artifact_id],
      });
      const { sources } = await cairn.notes.expand({ note_id });
      expect(sources).toMatchObject([{ entity_type: 'Artifact', id: artifact_id, content: 'one' }]);
      // A source that is deleted takes its edges with it.
      await cairn.artifacts.delete({ artifact_id });
      expect(await cairn.notes.expand({ note_id })).toEqual({ sources: [] });
    });
  });

  it('ACCESS-21 shows summaries and principles to those who may read the turns behind them', async () => {
    const store = test();
    const tenant = `t-${randomUUID()}`;
    const admin = await store.as({ tenant });
    type Reach = 'own' | 'own_trajectory' | 'all';
    const agentOf = async (agent_id: string, turns: Reach, others: Reach) => {
      const rules = (['Turn', 'Artifact', 'Note', 'Card'] as const).map((memory_type) => ({
        memory_type,
        scope: memory_type === 'Turn' ? turns : others,
      }));
      const memory_access = { read: rules };
      await admin.agents.register({ agent_id, agent_type: 'a', capabilities: ['x'], memory_access });
      return store.as({ tenant, agent: agent_id, role: 'write' });
    };
    const eve = await agentOf('eve', 'own_trajectory', 'own_trajectory');
    const bob = await agentOf('bob', 'own_trajectory', 'own_trajectory');
    const deaf = await agentOf('deaf', 'own', 'own_trajectory');
    const wide = await agentOf('wide', 'own', 'all');
    const common = 'Inputs must always be validated at the boundary of the service.';
    const summarized = async (agent: Api, trajectory_id?: string) => {
      const { scope_id } = await someScope(agent, trajectory_id === undefined ? {} : { trajectory_id });
      await say(agent, scope_id, common);
      return (await admin.scopes.summarize({ scope_id })).artifact!;
    };
    const seen = async (agent: Api) => {
      const { results } = await agent.search.query({ query: common, limit: 50 });
      const lists = [
        ...(await agent.artifacts.list({})).artifacts.map((one) => one.artifact_id),
        ...(await agent.notes.list({})).notes.map((one) => one.note_id),
      ];
      const found = results.filter(({ entity_type }) => entity_type !== 'Turn').map(({ id }) => id);
      expect(found.sort()).toEqual([...lists].sort());
      return lists;
    };
    const trajectory_id = await someTrajectory(deaf);
    const foreign = await summarized(bob, trajectory_id);
    const { artifact_id } = foreign;
    expect([await seen(deaf), await seen(wide), await seen(bob)]).toEqual([[], [], [artifact_id]]);
    const refusal = await refusalOf(deaf.artifacts.get({ artifact_id }));
    expect(refusal).toMatchObject({ code: 'FORBIDDEN', details: { memory_type: 'Turn', scope: 'own' } });
    const assembled = await deaf.context.assemble({ trajectory_id, token_budget: 500, format: 'markdown' });
    expect(assembled.text).not.toContain('boundary');
    const own = await summarized(deaf, trajectory_id);
    expect(await seen(deaf)).toEqual([own.artifact_id]);
    // A principle rests on the trajectories of several: whoever has one of them has not read it all.
    const first = await summarized(eve);
    const { note } = await admin.scopes.summarize({ scope_id: first.scope_id!, target_level: 'L2' });
    expect(note).toMatchObject({ agent_id: null, title: expect.stringMatching(/^\w/) });
    expect(note!.source_artifact_ids).toEqual(await synthesizedFrom(admin, note!.note_id));
    const { note_id } = note!;
    for (const agent of [eve, deaf, wide]) expect(await seen(agent)).not.toContain(note_id);
    expect((await refusalOf(eve.notes.get({ note_id }))).code).toBe('FORBIDDEN');
    // But one of its own trajectories alone is an agent's.
    for (let i = 0; i < 2; i++) await summarized(eve);
    const { note: mine } = await admin.scopes.summarize({ scope_id: first.scope_id!, target_level: 'L2' });
    expect(mine).toMatchObject({ agent_id: 'eve' });
    expect(await seen(eve)).toContain(mine!.note_id);
  });
});

onEveryTarget(
  'summaries in the background',
  (test) => {
    it('SUM-15 fires at every so many turns, and summarises those since the last time', async () => {
      const cairn = await test().freshTenant();
      const { policy_id } = await somePolicy(cairn, { type: 'TurnCount', count: 4 });
      const { scope_id } = await someScope(cairn);
      const turns = await talk(cairn, scope_id, 4);
      const [job] = await endedJobs(cairn, scope_id);
      expect(job).toMatchObject({ state: 'done', policy_id, action: 'summarize', trigger: 'TurnCount', sources: 4 });
      expect(job!.cost).toMatchObject({ provider: 'offline', model: null });
      const [summary] = await summariesOf(cairn, scope_id);
      expect(job!.made).toEqual([{ kind: 'summary', id: summary!.artifact_id }]);
      expect(await synthesizedFrom(cairn, summary!.artifact_id)).toEqual(turns);
      const more = await talk(cairn, scope_id, 5, 4);
      await endedJobs(cairn, scope_id, 2);
      const [, second] = await summariesOf(cairn, scope_id);
      expect(await synthesizedFrom(cairn, second!.artifact_id)).toEqual(expect.arrayContaining(more.slice(0, 4)));
      expect(await jobsOf(cairn, scope_id)).toHaveLength(2);
    });

    it('SUM-16 fires once when a share of the token budget is used, and again when a larger budget is', async () => {
      const cairn = await test().freshTenant();
      await somePolicy(cairn, { type: 'DosageThreshold', percent: 50 });
      const { scope_id } = await someScope(cairn, { token_budget: 10 });
      await talk(cairn, scope_id, 4);
      expect(await jobsOf(cairn, scope_id)).toEqual([]);
      await talk(cairn, scope_id, 3, 4);
      await endedJobs(cairn, scope_id);
      await talk(cairn, scope_id, 2, 7);
      expect(await jobsOf(cairn, scope_id)).toHaveLength(1);
      await cairn.scopes.update({ scope_id, token_budget: 30 });
      expect(await jobsOf(cairn, scope_id)).toHaveLength(1);
      await talk(cairn, scope_id, 6, 9);
      const jobs = await endedJobs(cairn, scope_id, 2);
      expect(jobs.map(({ made }) => made.length)).toEqual([1, 1]);
      await cairn.scopes.update({ scope_id, token_budget: 20 });
      expect(await endedJobs(cairn, scope_id, 3)).toHaveLength(3);
    });

    it('SUM-16 a policy made above its threshold fires with the next turn, once', async () => {
      const cairn = await test().freshTenant();
      for (const renamed of [false, true]) {
        const { scope_id } = await someScope(cairn, { token_budget: 10 });
        await talk(cairn, scope_id, 6);
        // Later than the last turn also by the millisecond, and before the next.
        test().advance(10);
        await somePolicy(cairn, { type: 'DosageThreshold', percent: 50 }, { scope_id });
        test().advance(10);
        expect(await jobsOf(cairn, scope_id)).toEqual([]);
        if (renamed) await cairn.scopes.update({ scope_id, name: 'renamed' });
        test().advance(10);
        expect(await jobsOf(cairn, scope_id)).toEqual([]);
        await talk(cairn, scope_id, 1, 6);
        const [job] = await endedJobs(cairn, scope_id);
        expect(job).toMatchObject({ trigger: 'DosageThreshold', state: 'done', sources: 7 });
        await talk(cairn, scope_id, 2, 7);
        expect(await jobsOf(cairn, scope_id)).toHaveLength(1);
      }
    });

    it('SUM-17 fires at every so many artifacts of a scope, and makes a summary of those', async () => {
      const cairn = await test().freshTenant();
      const { scope_id, trajectory_id } = await someScope(cairn);
      const add = (i: number) =>
        cairn.artifacts.create({ scope_id, artifact_type: 'Fact', name: `fact ${i}`, content: sentence(i) });
      const first = await add(0);
      await somePolicy(cairn, { type: 'ArtifactCount', count: 3 }, { trajectory_id });
      const ids = [first.artifact_id, (await add(1)).artifact_id];
      expect(await jobsOf(cairn, scope_id)).toEqual([]);
      ids.push((await add(2)).artifact_id);
      const [job] = await endedJobs(cairn, scope_id);
      const { id } = job!.made[0]!;
      expect((await synthesizedFrom(cairn, id)).sort()).toEqual(ids.sort());
      const { sources } = await cairn.artifacts.expand({ artifact_id: id });
      expect(sources.map(({ entity_type }) => entity_type)).toEqual(['Artifact', 'Artifact', 'Artifact']);
      // The summary is of another level, and is not counted.
      await add(3);
      await add(4);
      expect(await jobsOf(cairn, scope_id)).toHaveLength(1);
    });

    it('SUM-18 makes a principle of what summaries of several trajectories say, and none of what one says', async () => {
      const cairn = await test().freshTenant();
      await somePolicy(cairn, { type: 'TurnCount', count: 3 });
      await somePolicy(cairn, { type: 'ArtifactCount', count: 2 }, { source_level: 'L1' });
      const common = 'Inputs must always be validated at the boundary of the service.';
      const summarized = async (more: readonly string[]) => {
        const { scope_id } = await someScope(cairn);
        for (const text of more) await say(cairn, scope_id, text);
        await endedJobs(cairn, scope_id, 1);
        return scope_id;
      };
      await summarized([sentence(1), common, sentence(2)]);
      const second = await summarized([common, sentence(3), sentence(4)]);
      const jobs = await endedJobs(cairn, second, 2);
      const { id } = jobs.flatMap(({ made }) => made).find(({ kind }) => kind === 'note')!;
      const note = await cairn.notes.get({ note_id: id });
      expect(note).toMatchObject({ abstraction_level: 'L2', metadata: { method: 'offline' } });
      expect(note.content).toContain('validated at the boundary');
      expect(note.content).not.toContain('invoice');
      expect(note.source_trajectory_ids).toHaveLength(2);
      const from = await synthesizedFrom(cairn, id);
      expect(from).toHaveLength(2);
      expect(note).toMatchObject({ title: common, source_artifact_ids: from });
      const { notes } = await cairn.notes.list({ artifact_id: from[1]! });
      expect(notes).toEqual([note]);
      const { edges } = await cairn.edges.list({ entity_id: id, edge_type: 'DerivedFrom' });
      expect(edges.map(({ participants }) => participants[1]!.entity_type)).toEqual(['Trajectory', 'Trajectory']);
      await summarized([sentence(5), sentence(6), sentence(7)]);
      const last = await summarized([sentence(8), sentence(9), sentence(10)]);
      const none = (await endedJobs(cairn, last, 2)).filter(({ made }) => made.length === 0);
      expect(none).toMatchObject([{ state: 'done', error: expect.stringContaining('across') }]);
      expect((await cairn.notes.list({})).notes).toHaveLength(1);
    });

    it('SUM-19 makes of a scope what its policies say before it closes, and says what', async () => {
      const cairn = await test().freshTenant();
      await somePolicy(cairn, { type: 'ScopeClose' }, { max_sources: 5 });
      const { scope_id, trajectory_id } = await someScope(cairn);
      const inner = await someScope(cairn, { trajectory_id, parent_scope_id: scope_id });
      const turns = await talk(cairn, scope_id, 12);
      await talk(cairn, inner.scope_id, 2);
      const { made, erasure } = await cairn.scopes.close({ scope_id, wait: true });
      expect(made.map(({ kind }) => kind)).toEqual(['summary', 'summary', 'summary', 'summary']);
      expect(erasure).toMatchObject({ state: 'done', kept: 0 });
      const summaries = await summariesOf(cairn, scope_id);
      const sources = await Promise.all(summaries.map((one) => synthesizedFrom(cairn, one.artifact_id)));
      expect(sources.flat().sort()).toEqual(turns.sort());
      expect(await summariesOf(cairn, inner.scope_id)).toHaveLength(1);
    });

    it('SUM-20 does the same for the scopes that finish with their trajectory', async () => {
      const cairn = await test().freshTenant();
      await somePolicy(cairn, { type: 'ScopeClose' });
      const { scope_id, trajectory_id } = await someScope(cairn);
      await talk(cairn, scope_id, 3);
      const { outcome } = await cairn.trajectories.update({ trajectory_id, status: 'Completed' });
      const [summary] = await summariesOf(cairn, scope_id);
      expect(outcome!.produced_artifacts).toEqual([summary!.artifact_id]);
      // Where nothing can be made before, what it is made from is kept until it is.
      const other = await someScope(cairn);
      await talk(cairn, other.scope_id, 3);
      const update = { operation: 'update' as const, trajectory_id: other.trajectory_id };
      await cairn.trajectories.batch({ atomic: true, items: [{ ...update, update: { status: 'Failed' } }] });
      const [job] = await endedJobs(cairn, other.scope_id);
      expect(job).toMatchObject({ state: 'done', sources: 3 });
      expect(await summariesOf(cairn, other.scope_id)).toHaveLength(1);
      for (let tries = 0; ; tries++) {
        const { erasure } = await cairn.scopes.get({ scope_id: other.scope_id });
        if (erasure?.state === 'done' && erasure.kept === 0 && erasure.erased === 3) break;
        if (tries > 200) throw new Error(JSON.stringify(erasure));
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    });

    it('SUM-33 leaves no turn of a scope that ends within another change out, however few one summary takes', async () => {
      const cairn = await test().freshTenant();
      await somePolicy(cairn, { type: 'ScopeClose' }, { max_sources: 5, actions: ['summarize', 'extract'] });
      const { scope_id, trajectory_id } = await someScope(cairn);
      const turns = await talk(cairn, scope_id, 12);
      const update = { operation: 'update' as const, trajectory_id, update: { status: 'Failed' as const } };
      await cairn.trajectories.batch({ atomic: true, items: [update] });
      const jobs = await endedJobs(cairn, scope_id, 6);
      expect(jobs.map(({ action, sources }) => `${action} ${sources}`).sort()).toEqual(
        ['extract', 'summarize'].flatMap((action) => [2, 5, 5].map((sources) => `${action} ${sources}`)),
      );
      const summaries = await summariesOf(cairn, scope_id);
      const sources = await Promise.all(summaries.map((one) => synthesizedFrom(cairn, one.artifact_id)));
      expect(sources.flat().sort()).toEqual(turns.sort());
    });

    it('SUM-36 makes nothing of a trajectory that may not finish as it was asked', async () => {
      const cairn = await test().freshTenant();
      await somePolicy(cairn, { type: 'ScopeClose' }, { actions: ['summarize', 'extract'] });
      const { scope_id, trajectory_id } = await someScope(cairn);
      await say(cairn, scope_id, 'We decided to use PostgreSQL 16 for the billing service.');
      const outcome = { status: 'Success' as const, produced_artifacts: [randomUUID()] };
      const completed = { trajectory_id, status: 'Completed' as const };
      expect((await refusalOf(cairn.trajectories.update({ ...completed, outcome }))).code).toBe('UNKNOWN_ENTITY');
      await cairn.trajectories.update({ trajectory_id, status: 'Suspended' });
      expect((await refusalOf(cairn.trajectories.update(completed))).code).toBe('STATE_CONFLICT');
      expect(await jobsOf(cairn, scope_id)).toEqual([]);
      expect((await cairn.artifacts.list({})).artifacts).toEqual([]);
    });

    it('SUM-5 applies the nearest policy of a trigger, and none where that is not enabled', async () => {
      const cairn = await test().freshTenant();
      await somePolicy(cairn, { type: 'TurnCount', count: 2 });
      const { scope_id: quiet, trajectory_id } = await someScope(cairn);
      const { scope_id: own } = await someScope(cairn, { trajectory_id });
      await somePolicy(cairn, { type: 'TurnCount', count: 2 }, { scope_id: quiet, enabled: false });
      await somePolicy(cairn, { type: 'TurnCount', count: 3 }, { scope_id: own });
      for (const scope_id of [quiet, own]) await talk(cairn, scope_id, 3);
      expect(await jobsOf(cairn, quiet)).toEqual([]);
      const jobs = await endedJobs(cairn, own);
      expect(jobs).toHaveLength(1);
      expect(jobs[0]!.sources).toBe(3);
    });
  },
  { sweep_every_ms: 3_600_000 },
);
