/** What a closing scope leaves if no policy summarizes it. */
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { someHandoff, someTeam } from '../../support/nouns/handoffs.js';
import { tenantOf } from '../../support/nouns/hierarchy.js';
import { newTrajectory } from '../../support/nouns/memory.js';
import { say } from '../../support/nouns/scopes.js';
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

onEveryTarget(
  'digests',
  (test) => {
    const start = async (retain?: 'digest' | 'nothing'): Promise<{ cairn: Api; trajectory_id: string }> => {
      const cairn = await test().freshTenant();
      if (retain) await cairn.settings.update({ retain });
      return { cairn, trajectory_id: await newTrajectory(cairn) };
    };

    const scopeOf = async (cairn: Api, trajectory_id: string, more: object = {}): Promise<string> =>
      (await cairn.scopes.create({ trajectory_id, name: 'planning', ...more })).scope_id;

    it('CLOSE-10 retain of a scope is set, shown, changed and cleared', async () => {
      const { cairn, trajectory_id } = await start();
      const scope_id = await scopeOf(cairn, trajectory_id);
      expect((await cairn.scopes.get({ scope_id })).retain).toBeNull();
      expect((await cairn.scopes.update({ scope_id, retain: 'digest' })).retain).toBe('digest');
      expect((await cairn.scopes.update({ scope_id, retain: 'digest' })).updated_at).toBe(
        (await cairn.scopes.get({ scope_id })).updated_at,
      );
      expect((await cairn.scopes.update({ scope_id, name: 'renamed' })).retain).toBe('digest');
      expect((await cairn.scopes.update({ scope_id, retain: null })).retain).toBeNull();
      const own = await cairn.scopes.create({ trajectory_id, name: 's', retain: 'nothing' });
      expect(own.retain).toBe('nothing');
      const refused = cairn.scopes.create({ trajectory_id, name: 's', retain: 'all' as 'digest' });
      expect(await refusalOf(refused)).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('retain'),
      });
      // A copy of a scope retains what the scope does.
      await say(cairn, own.scope_id, 'hello');
      await cairn.scopes.checkpoint({ scope_id: own.scope_id });
      expect((await cairn.scopes.restore({ scope_id: own.scope_id })).retain).toBe('nothing');
    });

    it('CLOSE-10 a scope that a handoff moves retains what it did, and leaves its digest when it closes', async () => {
      const team = await someTeam(test());
      const { cairn } = team;
      const { trajectory_id } = await cairn.trajectories.create({ name: 'task', agent_id: 'ann' });
      const scope_id = await scopeOf(cairn, trajectory_id, { retain: 'digest' });
      await talk(cairn, scope_id, 2);
      const { handoff_id } = await someHandoff(team, { trajectory_id, scope_id });
      const { new_scope_id } = await cairn.handoffs.accept({ handoff_id });
      expect(await summariesOf(cairn, scope_id)).toEqual([]);
      expect((await cairn.scopes.get({ scope_id: new_scope_id! })).retain).toBe('digest');
      const { made } = await cairn.scopes.close({ scope_id: new_scope_id! });
      expect(made.map(({ kind }) => kind)).toEqual(['digest']);
    });

    it('SUM-43 a scope that retains a digest leaves one, and the answer names it', async () => {
      const { cairn, trajectory_id } = await start('digest');
      const scope_id = await scopeOf(cairn, trajectory_id);
      const turn_ids = await talk(cairn, scope_id, 5);
      const closed = await cairn.scopes.close({ scope_id, wait: true });
      const digests = await summariesOf(cairn, scope_id);
      expect(digests).toHaveLength(1);
      const [digest] = digests;
      expect(closed.made).toEqual([{ kind: 'digest', id: digest!.artifact_id }]);
      expect(digest).toMatchObject({ trajectory_id, scope_id, artifact_type: 'Summary', abstraction_level: 'L1' });
      expect(digest!.metadata).toMatchObject({
        digest: true,
        method: 'offline',
        policy_id: null,
        trigger: 'ScopeClose',
        summary_of: { scope_id, from_sequence: 1, to_sequence: 5, turns: 5 },
      });
      expect(digest!.token_count).toBeLessThanOrEqual(500);
      expect(digest!.content).toContain(sentence(0));
      expect(await synthesizedFrom(cairn, digest!.artifact_id)).toEqual(turn_ids);
      expect(await jobsOf(cairn, scope_id)).toMatchObject([{ state: 'done', policy_id: null, trigger: 'ScopeClose' }]);
      expect(await refusalOf(cairn.turns.get({ turn_id: turn_ids[0]! }))).toMatchObject({ code: 'TURN_NOT_FOUND' });
      // Closing again makes no other.
      expect((await cairn.scopes.close({ scope_id })).made).toEqual([]);
      expect(await summariesOf(cairn, scope_id)).toHaveLength(1);
    });

    it('SUM-43 by default a scope leaves a digest, and its own word counts before that of the tenant', async () => {
      const { cairn, trajectory_id } = await start();
      const leftBy = async (more: object) => {
        const scope_id = await scopeOf(cairn, trajectory_id, more);
        await talk(cairn, scope_id, 2);
        const { made } = await cairn.scopes.close({ scope_id });
        expect(await summariesOf(cairn, scope_id)).toHaveLength(made.length);
        return made.map(({ kind }) => kind);
      };
      expect(await leftBy({})).toEqual(['digest']);
      expect(await leftBy({ retain: 'nothing' })).toEqual([]);
      await cairn.settings.update({ retain: 'nothing' });
      expect(await leftBy({})).toEqual([]);
      expect(await leftBy({ retain: 'digest' })).toEqual(['digest']);
      await cairn.settings.update({ retain: null });
      expect(await leftBy({})).toEqual(['digest']);
    });

    it('SUM-43 a scope without turns leaves none', async () => {
      const { cairn, trajectory_id } = await start('digest');
      const scope_id = await scopeOf(cairn, trajectory_id);
      expect((await cairn.scopes.close({ scope_id })).made).toEqual([]);
      expect(await jobsOf(cairn, scope_id)).toEqual([]);
    });

    it('SUM-44 a policy that summarizes the closing scope takes the place of the digest; others do not', async () => {
      const { cairn, trajectory_id } = await start('digest');
      const kinds = async (more: object = {}) => {
        const scope_id = await scopeOf(cairn, trajectory_id);
        await say(cairn, scope_id, 'My name is Anna. I live in Lisbon. The invoice was paid in Oslo.');
        await somePolicy(cairn, { type: 'ScopeClose' }, { scope_id, ...more });
        const { made } = await cairn.scopes.close({ scope_id });
        return [...new Set(made.map(({ kind }) => kind))].sort();
      };
      expect(await kinds()).toEqual(['summary']);
      expect(await kinds({ actions: ['extract'] })).toContain('digest');
      expect(await kinds({ enabled: false })).toEqual(['digest']);
    });

    it('SUM-44 turns that a summary covers already are in no digest', async () => {
      const { cairn, trajectory_id } = await start('digest');
      const scope_id = await scopeOf(cairn, trajectory_id);
      await talk(cairn, scope_id, 3);
      await cairn.scopes.summarize({ scope_id });
      await talk(cairn, scope_id, 2, 3);
      const { made } = await cairn.scopes.close({ scope_id });
      expect(made).toHaveLength(1);
      const { metadata } = await cairn.artifacts.get({ artifact_id: made[0]!.id });
      expect(metadata.summary_of).toMatchObject({ from_sequence: 4, to_sequence: 5 });
    });

    it('SUM-45 nested scopes and those of a finishing trajectory leave theirs', async () => {
      const { cairn, trajectory_id } = await start('digest');
      const outer = await scopeOf(cairn, trajectory_id);
      const inner = await scopeOf(cairn, trajectory_id, { parent_scope_id: outer });
      const quiet = await scopeOf(cairn, trajectory_id, { parent_scope_id: outer, retain: 'nothing' });
      for (const scope_id of [outer, inner, quiet]) await talk(cairn, scope_id, 2);
      const { made } = await cairn.scopes.close({ scope_id: outer });
      expect(made.map(({ kind }) => kind)).toEqual(['digest', 'digest']);
      expect(await summariesOf(cairn, quiet)).toEqual([]);
      const last = await scopeOf(cairn, trajectory_id);
      await talk(cairn, last, 2);
      const { outcome } = await cairn.trajectories.update({ trajectory_id, status: 'Completed' });
      const [digest] = await summariesOf(cairn, last);
      expect(outcome!.produced_artifacts).toContain(digest!.artifact_id);
    });

    it('SUM-45 a digest belongs to the agent of the scope, and is reached no further than its turns', async () => {
      const { cairn, trajectory_id } = await start('digest');
      const tenant = await tenantOf(cairn);
      const ann = await test().as({ tenant, agent: 'ann' });
      const { scope_id } = await ann.scopes.create({ trajectory_id, name: 'hers' });
      await ann.turns.add({ scope_id, role: 'User', content: 'The key of the safe is under the stone.' });
      const { made } = await cairn.scopes.close({ scope_id });
      const artifact_id = made[0]!.id;
      expect(await ann.artifacts.get({ artifact_id })).toMatchObject({ agent_id: 'ann' });
      const rights = { read: [{ memory_type: 'Artifact' as const, scope: 'all' as const }], write: [] };
      await cairn.agents.register({
        agent_id: 'bob',
        agent_type: 'reader',
        capabilities: ['read'],
        memory_access: rights,
      });
      const bob = await test().as({ tenant, agent: 'bob' });
      expect(await refusalOf(bob.artifacts.get({ artifact_id }))).toMatchObject({ status: 403 });
    });

    it('SUM-45 a digest has the default lifetime of summaries, and appends the events of an artifact', async () => {
      const { cairn, trajectory_id } = await start('digest');
      await cairn.settings.update({ artifact_ttls: { Summary: 'LongTerm' } });
      const scope_id = await scopeOf(cairn, trajectory_id);
      await talk(cairn, scope_id, 2);
      const { made } = await cairn.scopes.close({ scope_id });
      expect(await cairn.artifacts.get({ artifact_id: made[0]!.id })).toMatchObject({ ttl: 'LongTerm' });
      const { packets } = await cairn.packets.list({ thread_id: trajectory_id, order: 'asc' });
      const types = packets.map(({ packet_type }) => packet_type);
      expect(types.slice(-2)).toEqual(['cairn.artifact.created', 'cairn.scope.closed']);
    });

    it('SUM-45 a scope that ends within another change leaves its digest after it', async () => {
      const { cairn, trajectory_id } = await start('digest');
      const scope_id = await scopeOf(cairn, trajectory_id);
      await talk(cairn, scope_id, 3);
      const update = { operation: 'update' as const, trajectory_id, update: { status: 'Failed' as const } };
      await cairn.trajectories.batch({ atomic: true, items: [update] });
      const [job] = await endedJobs(cairn, scope_id);
      expect(job).toMatchObject({ state: 'done', sources: 3, made: [{ kind: 'digest' }] });
      expect(await summariesOf(cairn, scope_id)).toHaveLength(1);
    });
  },
  { sweep_every_ms: 60_000 },
);
