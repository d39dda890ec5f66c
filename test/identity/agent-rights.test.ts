import { beforeAll, describe, expect, it } from 'vitest';
import { allOperations } from '#cairn/api/contract.js';
import type { ApiByName } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { accessTo, type MemoryAccess, ruleOf } from '#cairn/engine/contract.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { makeWorld, type World } from '../support/nouns/memory-world.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const coder = { agent_type: 'coder', capabilities: ['code'] };
const NONE: MemoryAccess = { read: [], write: [] };
const beyond = { code: 'FORBIDDEN', status: 403, details: { rule: 'memory_access' } };
const by = (rule: string) => ({ code: 'FORBIDDEN', status: 403, details: { rule } });

onEveryTarget('what an agent may touch', (test) => {
  let cairn: Api;
  let ann: Api;
  let bob: Api;
  let tenant: string;
  let world: World;
  const allow = (memory_access: MemoryAccess) => cairn.agents.update({ agent_id: 'ann', memory_access });
  /** Nothing of the tenant has changed by calls that are all refused. */
  const refused = async (calls: Record<string, () => Promise<unknown>>, refusal: object = beyond) => {
    const before = await latestToken(cairn);
    for (const [name, call] of Object.entries(calls)) expect(await refusalOf(call()), name).toMatchObject(refusal);
    expect(await latestToken(cairn)).toBe(before);
  };

  beforeAll(async () => {
    cairn = await test().freshTenant();
    tenant = await tenantOf(cairn);
    for (const agent_id of ['ann', 'bob']) await cairn.agents.register({ ...coder, agent_id });
    ann = await test().as({ tenant, agent: 'ann', role: 'write' });
    bob = await test().as({ tenant, agent: 'bob', role: 'write' });
    world = await makeWorld(cairn);
  });

  describe('trajectories and scopes', () => {
    it('ACCESS-22 finishing, renaming, budgets and closing take the owner, or the right to write Turns there', async () => {
      const trajectory_id = world.trajectories.his;
      const scope_id = world.scopes.foreign;
      for (const access of [NONE, accessTo('own'), accessTo('own_trajectory')]) {
        await allow(access);
        await refused({
          fail: () => ann.trajectories.update({ trajectory_id, status: 'Failed' }),
          rename: () => ann.trajectories.update({ trajectory_id, name: 'x' }),
          delete: () => ann.trajectories.delete({ trajectory_id }),
          child: () => ann.trajectories.create({ name: 'x', parent_trajectory_id: trajectory_id }),
          budget: () => ann.scopes.update({ scope_id, token_budget: 1, enforce: true }),
          close: () => ann.scopes.close({ scope_id }),
          scope: () => ann.scopes.create({ trajectory_id, name: 'x' }),
        });
        const item = { operation: 'update' as const, trajectory_id, update: { name: 'x' } };
        expect((await ann.trajectories.batch({ items: [item] })).results).toMatchObject([
          { status: 'error', code: 'FORBIDDEN' },
        ]);
        await refused({ atomic: () => ann.trajectories.batch({ items: [item], atomic: true }) });
      }
      await allow(accessTo('all'));
      await ann.trajectories.update({ trajectory_id, description: 'renamed by right' });
      await ann.scopes.update({ scope_id, purpose: 'by right' });
    });

    it('ACCESS-22 an owner changes its own whatever its lists say', async () => {
      await allow(NONE);
      const { trajectory_id } = await ann.trajectories.create({ name: 'mine' });
      const { scope_id } = await ann.scopes.create({ trajectory_id, name: 'mine' });
      await ann.scopes.update({ scope_id, token_budget: 5 });
      await ann.trajectories.create({ name: 'part', parent_trajectory_id: trajectory_id });
      await ann.scopes.close({ scope_id });
      await ann.trajectories.update({ trajectory_id, status: 'Failed' });
      expect(await ann.trajectories.get({ trajectory_id })).toMatchObject({ status: 'Failed' });
    });

    it('ACCESS-23 names, descriptions and counts are for those who reach something there', async () => {
      const { trajectories, scopes } = world;
      const shown = async () => {
        const [tasks, windows] = [await ann.trajectories.list({}), await ann.scopes.list({})];
        expect(tasks.total).toBe(tasks.trajectories.length);
        expect(windows.total).toBe(windows.scopes.length);
        const has = (id: string) => tasks.trajectories.some((one) => one.trajectory_id === id);
        return {
          tasks: (['hers', 'current', 'his'] as const).filter((one) => has(trajectories[one])),
          scopes: (Object.keys(scopes) as (keyof typeof scopes)[]).filter((one) =>
            windows.scopes.some(({ scope_id }) => scope_id === scopes[one]),
          ),
        };
      };
      await allow(NONE);
      // What is her own stays her own: her trajectory, and her scope in his, by which she reaches it.
      expect(await shown()).toEqual({ tasks: ['hers', 'his'], scopes: ['own'] });
      const { trajectory_id } = await cairn.trajectories.create({ name: 'secret', agent_id: 'bob' });
      const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'secret', agent_id: 'bob' });
      const child = await cairn.trajectories.create({
        name: 'secret instruction',
        parent_trajectory_id: trajectories.hers,
        agent_id: 'bob',
      });
      await refused({
        task: () => ann.trajectories.get({ trajectory_id }),
        child: () => ann.trajectories.get({ trajectory_id: child.trajectory_id }),
        children: () => ann.trajectories.children({ trajectory_id }),
        tree: () => ann.trajectories.tree({ trajectory_id }),
        scopes: () => ann.trajectories.scopes({ trajectory_id }),
        scope: () => ann.scopes.get({ scope_id }),
        artifacts: () => ann.scopes.artifacts({ scope_id }),
      });
      expect(await ann.trajectories.children({ trajectory_id: trajectories.hers })).toMatchObject({
        trajectories: [],
        total: 0,
      });
      const { nodes } = await ann.trajectories.tree({ trajectory_id: trajectories.hers });
      expect(nodes.map(({ kind, name }) => [kind, name])).toEqual([['trajectory', 'task']]);
      await allow(accessTo('own_trajectory'));
      expect(await shown()).toEqual({
        tasks: ['hers', 'current', 'his'],
        scopes: ['own', 'in_hers', 'where_she_works'],
      });
      await refused({ task: () => ann.trajectories.get({ trajectory_id }) });
      // By an artifact, a note and a run that she may read there, too.
      for (const memory_type of ['Artifact', 'Note', 'Checkpoint'] as const) {
        await allow({ read: [{ memory_type, scope: 'all' }], write: [] });
        await ann.trajectories.get({ trajectory_id: trajectories.his });
        await refused({ empty: () => ann.trajectories.get({ trajectory_id }) });
      }
      await allow({ read: [{ memory_type: 'Turn', scope: 'all' }], write: [] });
      await ann.trajectories.get({ trajectory_id });
    });

    it('ACCESS-23 counts of the tenant take rights to all of it', async () => {
      for (const access of [NONE, accessTo('own'), accessTo('own_trajectory')]) {
        await allow(access);
        await refused({ stats: () => ann.lifetime.stats() });
      }
      await allow(accessTo('all'));
      expect((await ann.lifetime.stats()).cards.total).toBeGreaterThan(0);
    });
  });

  describe('what was given away', () => {
    it('ACCESS-17 an agent that handed a trajectory over reaches nothing in it, though it worked there', async () => {
      await allow(accessTo('own_trajectory'));
      const trajectory_id = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4aaa';
      const sent = { trajectory_id, name: 'to give' };
      await ann.trajectories.create(sent, { idempotency_key: 'give' });
      await ann.agents.update({ agent_id: 'ann', current_trajectory_id: trajectory_id });
      const { handoff_id } = await ann.handoffs.create({ trajectory_id, to_agent_id: 'bob', reason: 'x' });
      await bob.handoffs.accept({ handoff_id });
      await bob.trajectories.update({ trajectory_id, name: 'renamed' });
      const { scope_id } = await bob.scopes.create({ trajectory_id, name: 's' });
      await bob.turns.add({ scope_id, role: 'User', content: 'his' });
      const learned = { note_type: 'Fact', title: 't', content: 'c', source_trajectory_ids: [trajectory_id] };
      const [one, two] = [await bob.notes.create(learned), await bob.notes.create(learned)];
      const ends = [one, two].map(({ note_id }) => ({ entity_type: 'Note' as const, entity_id: note_id }));
      await refused({
        task: () => ann.trajectories.get({ trajectory_id }),
        again: () => ann.trajectories.create(sent),
        replayed: () => ann.trajectories.create(sent, { idempotency_key: 'give' }),
        turns: () => ann.scopes.turns({ scope_id }),
        note: () => ann.notes.get({ note_id: one.note_id }),
        change: () => ann.notes.update({ note_id: one.note_id, content: 'x' }),
        delete: () => ann.notes.delete({ note_id: one.note_id }),
        hide: () => ann.edges.create({ edge_type: 'Supersedes', participants: ends }),
      });
      const thread = await ann.packets.thread({ thread_id: trajectory_id });
      expect(thread.packets.filter(({ metadata }) => metadata?.agent === 'bob')).toEqual([]);
      await cairn.agents.update({ agent_id: 'ann', current_trajectory_id: null });
    });

    it("ACCESS-22 deleting a trajectory takes none of another agent's below it", async () => {
      await allow(accessTo('own'));
      const { trajectory_id } = await ann.trajectories.create({ name: 'mine' });
      const part = { name: 'his', parent_trajectory_id: trajectory_id };
      const child = await bob.trajectories.create(part);
      await refused({ delete: () => ann.trajectories.delete({ trajectory_id }) });
      await bob.trajectories.get({ trajectory_id: child.trajectory_id });
      await bob.trajectories.delete({ trajectory_id: child.trajectory_id });
      await ann.trajectories.delete({ trajectory_id });
    });
  });

  describe('edges', () => {
    const note = (entity_id: string) => ({ entity_type: 'Note' as const, entity_id });
    const trajectory = (entity_id: string) => ({ entity_type: 'Trajectory' as const, entity_id });

    it('EDGE-16 an edge never widens what an agent reaches', async () => {
      await allow(accessTo('own_trajectory'));
      const note_id = world.ids.Note.foreign;
      const participants = [note(note_id), trajectory(world.trajectories.hers)];
      await refused({
        read: () => ann.notes.get({ note_id }),
        link: () => ann.edges.create({ edge_type: 'DerivedFrom', participants }),
        batch: () =>
          ann.edges.batch({
            items: [{ operation: 'create', create: { edge_type: 'DerivedFrom', participants } }],
            atomic: true,
          }),
      });
      // Not even one that the tenant makes: reach is where a note was learned.
      await cairn.edges.create({ edge_type: 'DerivedFrom', participants });
      await refused({
        read: () => ann.notes.get({ note_id }),
        change: () => ann.notes.update({ note_id, content: 'x' }),
        delete: () => ann.notes.delete({ note_id }),
      });
      const { notes } = await ann.notes.list({});
      expect(notes.map((one) => one.note_id)).not.toContain(note_id);
      // Nor is a note learned where its maker cannot read.
      const source_trajectory_ids = [
        (await cairn.trajectories.create({ name: 'his alone', agent_id: 'bob' })).trajectory_id,
      ];
      const sent = { note_type: 'Fact', title: 't', content: 'c', source_trajectory_ids };
      expect(await refusalOf(ann.notes.create(sent))).toMatchObject({ code: 'UNKNOWN_ENTITY' });
    });

    it('EDGE-16 deleting where a principle was learned does not open it', async () => {
      const made = await cairn.notes.create({
        note_type: 'Insight',
        title: 'of all',
        content: 'c',
        abstraction_level: 'L2',
        source_trajectory_ids: [world.trajectories.hers, world.trajectories.his],
      });
      const { note_id } = made;
      await allow({ read: [{ memory_type: 'Note', scope: 'all' }], write: accessTo('all').write });
      await refused({ read: () => ann.notes.get({ note_id }) });
      const { edges } = await cairn.edges.list({ entity_id: note_id, edge_type: 'DerivedFrom' });
      const edge = edges.find(({ participants }) => participants[1]!.entity_id === world.trajectories.his)!;
      const unread = by('edge_participants');
      await refused({ delete: () => ann.edges.delete({ edge_id: edge.edge_id }) }, unread);
      await cairn.edges.delete({ edge_id: edge.edge_id });
      await refused({ read: () => ann.notes.get({ note_id }) });
    });

    it('EDGE-16 a principle is reached where all of its trajectories are, also by who hears all turns', async () => {
      const principle = async (...source_trajectory_ids: string[]) =>
        (
          await cairn.notes.create({
            note_type: 'Insight',
            title: 'principle',
            content: 'said of many tasks',
            abstraction_level: 'L2',
            source_trajectory_ids,
          })
        ).note_id;
      const { hers, his } = world.trajectories;
      const [mixed, own] = [await principle(hers, his), await principle(hers)];
      await allow({
        read: [
          { memory_type: 'Note', scope: 'own_trajectory' },
          { memory_type: 'Turn', scope: 'all' },
        ],
        write: [],
      });
      await refused({ mixed: () => ann.notes.get({ note_id: mixed }) });
      expect(await ann.notes.get({ note_id: own })).toMatchObject({ note_id: own });
      const listed = (await ann.notes.list({ limit: 500 })).notes.map(({ note_id }) => note_id);
      const found = (await ann.search.query({ query: 'said of many tasks', limit: 50 })).results;
      for (const ids of [listed, found.map(({ id }) => id)]) {
        expect(ids).toContain(own);
        expect(ids).not.toContain(mixed);
      }
      await allow(accessTo('all'));
    });

    it('EDGE-17 each type takes its own rights, to make it and to delete it', async () => {
      const sent = { note_type: 'Fact', title: 't', content: 'c' };
      const mine = await ann.notes.create(sent);
      const hers = note(mine.note_id);
      const his = note((await cairn.notes.create({ ...sent, agent_id: 'bob' })).note_id);
      const link = (edge_type: 'Supersedes' | 'DerivedFrom' | 'Contradicts', ...ends: (typeof his)[]) => ({
        edge_type,
        participants: ends,
      });
      const reading = { read: accessTo('all').read };
      await allow({ ...reading, write: accessTo('own').write });
      await refused({
        supersedes: () => ann.edges.create(link('Supersedes', hers, his)),
        superseded: () => ann.edges.create(link('Supersedes', his, hers)),
        derived: () => ann.edges.create(link('DerivedFrom', his, hers)),
      });
      const kept = [
        await ann.edges.create(link('DerivedFrom', hers, his)),
        await ann.edges.create(link('Contradicts', his, hers)),
      ];
      const foreign = await cairn.edges.create(link('Supersedes', hers, his));
      await allow({ ...reading, write: [] });
      const { notes } = await bob.notes.list({ include_superseded: true });
      expect(notes.map(({ note_id }) => note_id)).toContain(his.entity_id);
      await refused({
        contradicts: () => ann.edges.create(link('Contradicts', hers, his)),
        ...Object.fromEntries(
          [...kept, foreign].map(({ edge_id, edge_type }) => [edge_type, () => ann.edges.delete({ edge_id })]),
        ),
        batch: () => ann.edges.batch({ items: [{ operation: 'delete', edge_id: foreign.edge_id }], atomic: true }),
      });
      await allow({ ...reading, write: accessTo('own').write });
      await refused({ supersedes: () => ann.edges.delete({ edge_id: foreign.edge_id }) });
      for (const { edge_id } of kept) await ann.edges.delete({ edge_id });
      await cairn.edges.delete({ edge_id: foreign.edge_id });
    });

    it('EDGE-18 a walk counts what the agent is shown alone, for its limits and in truncated', async () => {
      const sent = { note_type: 'Fact', title: 't', content: 'c' };
      const made = async (agent_id: string) => (await cairn.notes.create({ ...sent, agent_id })).note_id;
      const x = await made('bob');
      const [s, m, n, o] = [await made('ann'), await made('ann'), await made('ann'), await made('ann')];
      const link = (...ends: string[]) => cairn.edges.create({ edge_type: 'Causal', participants: ends.map(note) });
      // Hidden, since each links a note of bob's; they lead to notes of hers.
      for (const one of [m, o]) await link(s, one, x);
      await link(m, o, x);
      const open = [await link(s, n), await link(n, m)].map(({ edge_id }) => edge_id);
      await allow(accessTo('own'));
      const walk = async (more: { limit?: number; max_depth?: number }) => {
        const start = { ...note(s), direction: 'out' as const, edge_type: 'Causal' as const };
        const { entities, edges, truncated } = await ann.edges.traverse({ ...start, ...more });
        expect(edges.map(({ edge_id }) => edge_id)).toEqual(open.slice(0, entities.length));
        return [...entities.map(({ entity_id, depth }) => [entity_id, depth]), truncated];
      };
      for (const all of [{}, { limit: 2 }, { max_depth: 2 }])
        expect(await walk(all), JSON.stringify(all)).toEqual([[n, 1], [m, 2], false]);
      for (const part of [{ limit: 1 }, { max_depth: 1 }])
        expect(await walk(part), JSON.stringify(part)).toEqual([[n, 1], true]);
    });

    it('EDGE-18 an edge is shown to those who can read all that it links', async () => {
      const metadata = { why: 'secret' };
      const linked = async (...ends: string[]) =>
        cairn.edges.create({ edge_type: 'Supports', participants: ends.map(note), metadata });
      const { ids } = world;
      const open = await linked(ids.Note.own, ids.Note.in_hers);
      const half = await linked(ids.Note.own, ids.Note.foreign);
      await allow(accessTo('own_trajectory'));
      await ann.edges.get({ edge_id: open.edge_id });
      await refused({ half: () => ann.edges.get({ edge_id: half.edge_id }) }, by('edge_participants'));
      const listed = await ann.edges.list({ entity_id: ids.Note.own, edge_type: 'Supports' });
      expect([listed.edges.map(({ edge_id }) => edge_id), listed.total]).toEqual([[open.edge_id], 1]);
      const walk = { entity_id: ids.Note.own, entity_type: 'Note' as const, edge_type: 'Supports' as const };
      const walked = await ann.edges.traverse(walk);
      expect(walked.edges.map(({ edge_id }) => edge_id)).toEqual([open.edge_id]);
      expect(walked.entities.map(({ entity_id }) => entity_id)).toEqual([ids.Note.in_hers]);
      // One of three that she cannot read is enough, though the two others are hers.
      const three = await linked(ids.Note.own, ids.Note.in_hers, ids.Note.foreign);
      await refused({ three: () => ann.edges.get({ edge_id: three.edge_id }) }, by('edge_participants'));
      expect((await ann.edges.list({ entity_id: ids.Note.own, edge_type: 'Supports' })).total).toBe(1);
      expect((await ann.edges.traverse(walk)).edges.map(({ edge_id }) => edge_id)).toEqual([open.edge_id]);
      await allow(NONE);
      expect((await ann.edges.list({})).total).toBe(0);
      expect(await ann.edges.traverse(walk)).toMatchObject({ entities: [], edges: [] });
      // Nor by what stands beside a note.
      await cairn.edges.create({
        edge_type: 'Contradicts',
        participants: [note(ids.Note.own), note(ids.Note.foreign)],
      });
      await allow(accessTo('own'));
      expect((await ann.notes.get({ note_id: ids.Note.own })).contradicted_by).toEqual([]);
      await allow(accessTo('all'));
      expect((await ann.notes.get({ note_id: ids.Note.own })).contradicted_by).toEqual([ids.Note.foreign]);
    });
  });

  describe('profiles and handovers', () => {
    const recipe = { context_packing_config: { pack_arguments: [{ arg_key: 'instruction' }] } };

    it('PROF-11 a handover is changed and deleted by the agent that stored it, and by the tenant', async () => {
      await cairn.handovers.save({ name: 'of the tenant', handover: recipe });
      const other = { context_packing_config: { instruction_last: true } };
      for (const access of [NONE, accessTo('own'), accessTo('all')]) {
        await allow(access);
        for (const call of [
          () => ann.handovers.save({ name: 'of the tenant', handover: other }),
          () => ann.handovers.delete({ name: 'of the tenant' }),
        ])
          expect(await refusalOf(call())).toMatchObject({ code: 'FORBIDDEN', status: 403 });
      }
      expect(await cairn.handovers.get({ name: 'of the tenant' })).toMatchObject({ handover: recipe });
      await allow(accessTo('own'));
      await ann.handovers.save({ name: 'hers', handover: recipe });
      expect(await refusalOf(bob.handovers.delete({ name: 'hers' }))).toMatchObject(by('handover_owner'));
      await ann.handovers.save({ name: 'hers', handover: other });
      expect(await ann.handovers.get({ name: 'hers' })).toMatchObject({ handover: other });
      await ann.handovers.delete({ name: 'hers' });
      await allow(NONE);
      await refused({ store: () => ann.handovers.save({ name: 'new', handover: recipe }) });
    });

    it('PROF-14 an agent sees name and description; what a profile or handover says, only of its own', async () => {
      const said = { description: 'looks things up', system_prompt: 'secret', llm_config: { key: 'secret' } };
      await cairn.profiles.create({ name: 'researcher', ...said });
      for (const access of [NONE, accessTo('own'), accessTo('own_trajectory')]) {
        await allow(access);
        const shown = await ann.profiles.get({ name: 'researcher' });
        expect(shown).toMatchObject({ name: 'researcher', description: 'looks things up' });
        const { profiles } = await ann.profiles.list({});
        const { handovers } = await ann.handovers.list({});
        expect(JSON.stringify([shown, profiles])).not.toContain('secret');
        expect(handovers.map(({ name, handover }) => [name, handover])).toEqual([['of the tenant', undefined]]);
        expect(await ann.handovers.get({ name: 'of the tenant' })).not.toHaveProperty('handover');
      }
      const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
      expect(await refusalOf(ann.context.assemble({ trajectory_id, profile: 'researcher' }))).toMatchObject(beyond);
      await ann.profiles.create({ name: 'her own', system_prompt: 'hers' });
      expect(await ann.profiles.get({ name: 'her own' })).toMatchObject({ system_prompt: 'hers' });
      expect(await cairn.profiles.get({ name: 'researcher' })).toMatchObject(said);
      await allow(accessTo('all'));
      expect(await ann.profiles.get({ name: 'researcher' })).toMatchObject(said);
    });
  });

  describe('agents and locks', () => {
    it('AGENT-11 another agent is shown who it is, what it can do and whether it is there', async () => {
      await cairn.agents.update({ agent_id: 'bob', metadata: { secret: 1 } });
      for (const access of [NONE, accessTo('all')]) {
        await allow(access);
        const shown = await ann.agents.get({ agent_id: 'bob' });
        expect(shown).toMatchObject({ agent_id: 'bob', ...coder, status: 'idle' });
        const hidden = ['memory_access', 'can_delegate_to', 'metadata', 'current_trajectory_id', 'profile_name'];
        for (const name of hidden) expect(shown).not.toHaveProperty(name);
        const { agents } = await ann.agents.list({});
        expect(agents.find(({ agent_id }) => agent_id === 'bob')).toEqual(shown);
        expect(await ann.agents.get({ agent_id: 'ann' })).toMatchObject({ memory_access: access });
      }
    });

    it('LOCK-16 an agent sees the locks of resources that it holds or waits for', async () => {
      const hers = await ann.locks.acquire({ resource_type: 'file', resource_id: 'hers' });
      const his = await bob.locks.acquire({ resource_type: 'file', resource_id: 'his secret' });
      for (const access of [NONE, accessTo('all')]) {
        await allow(access);
        const { locks, total } = await ann.locks.list({});
        expect([locks.map(({ lock_id }) => lock_id), total]).toEqual([[hers.lock_id], 1]);
        await ann.locks.get({ lock_id: hers.lock_id });
        expect(await refusalOf(ann.locks.get({ lock_id: his.lock_id }))).toMatchObject({ code: 'LOCK_NOT_FOUND' });
      }
      expect((await cairn.locks.list({})).total).toBe(2);
      const shared = { resource_type: 'file', resource_id: 'both', mode: 'Shared' as const };
      const [first, second] = [await ann.locks.acquire(shared), await bob.locks.acquire(shared)];
      await ann.locks.get({ lock_id: second.lock_id });
      await bob.locks.get({ lock_id: first.lock_id });
    });
  });

  describe('rights', () => {
    it('AGENT-12 null is no right: without restriction is written out', async () => {
      for (const field of ['memory_access', 'can_delegate_to'] as const)
        for (const call of [
          () => cairn.agents.update({ agent_id: 'ann', [field]: null } as never),
          () => cairn.agents.register({ ...coder, [field]: null } as never),
          () => cairn.profiles.create({ name: 'p', [field]: null } as never),
          () => cairn.profiles.save({ name: 'p', [field]: null } as never),
          () => cairn.keys.create({ agent_id: 'zoe', [field === 'memory_access' ? 'access' : field]: null } as never),
        ])
          expect(await refusalOf(call())).toMatchObject({
            code: 'INVALID_INPUT',
            status: 400,
            message: expect.stringMatching(/must (not be null|be none)/),
          });
      await allow(NONE);
      expect(await refusalOf(ann.cards.add({ content: 'x' }))).toMatchObject(beyond);
      const all = { memory_access: accessTo('all'), can_delegate_to: ['*'] };
      expect(await cairn.agents.update({ agent_id: 'ann', ...all })).toMatchObject(all);
      // What was never said reads the same, and can be sent back.
      const fresh = await cairn.agents.register(coder);
      expect(fresh).toMatchObject(all);
      const { memory_access, can_delegate_to } = fresh;
      await cairn.agents.update({
        agent_id: fresh.agent_id,
        memory_access: memory_access!,
        can_delegate_to: can_delegate_to!,
      });
      await ann.cards.add({ content: 'x' });
    });

    it('KEY-7 a key for an agent registers it, with the rights that are given, else its own', async () => {
      const { key: _, ...made } = await cairn.keys.create({ agent_id: 'new' });
      expect(made).toMatchObject({ agent_id: 'new' });
      expect(await cairn.agents.get({ agent_id: 'new' })).toMatchObject({
        memory_access: accessTo('own'),
        capabilities: [],
      });
      await cairn.keys.create({ agent_id: 'new', access: 'own_trajectory', can_delegate_to: [] });
      expect(await cairn.agents.get({ agent_id: 'new' })).toMatchObject({
        memory_access: accessTo('own_trajectory'),
        can_delegate_to: [],
      });
      await cairn.keys.create({ agent_id: 'new', access: 'none' });
      expect(await cairn.agents.get({ agent_id: 'new' })).toMatchObject({ memory_access: NONE });
      const rules = { read: [{ memory_type: 'Note' as const, scope: 'all' as const }] };
      await cairn.keys.create({ agent_id: 'other', access: rules, agent_type: 'reviewer' });
      expect(await cairn.agents.get({ agent_id: 'other' })).toMatchObject({
        memory_access: rules,
        agent_type: 'reviewer',
      });
      // A second key changes nothing that it does not name.
      await cairn.keys.create({ agent_id: 'other' });
      expect(await cairn.agents.get({ agent_id: 'other' })).toMatchObject({ memory_access: rules });
      expect(await refusalOf(cairn.keys.create({ access: 'all' }))).toMatchObject({ code: 'INVALID_INPUT' });
    });

    it('ACCESS-16 an agent without a record may say who it is and register, and nothing else', async () => {
      const ghost = await test().as({ tenant, agent: 'ghost', role: 'admin' });
      // As where its record was lost, or its key was made by a store that made none.
      await test().store.driver.write(tenant, (tx) =>
        tx.run(sql`DELETE FROM agents WHERE tenant_id = ${tenant} AND agent_id = 'ghost'`),
      );
      const before = await latestToken(cairn);
      let asked = 0;
      for (const { name, group, verb, example, touches, stream } of allOperations) {
        const rule = ruleOf(touches);
        if (rule === 'self' || stream) continue;
        const call = (ghost as unknown as ApiByName)[group]![verb]!(example);
        expect(await refusalOf(call as Promise<unknown>), name).toMatchObject(
          by(rule === 'tenant_key' ? 'key_agent' : 'agent_registered'),
        );
        asked++;
      }
      expect(asked).toBeGreaterThan(150);
      const stream = ghost.events.follow({})[Symbol.asyncIterator]();
      expect(await refusalOf(stream.next())).toMatchObject(by('agent_registered'));
      expect(await latestToken(cairn)).toBe(before);
      expect(await ghost.auth.whoami()).toMatchObject({ agent_id: 'ghost' });
      expect(await ghost.agents.register(coder)).toMatchObject({ memory_access: accessTo('own') });
    });

    it('KEY-7 a key never opens all for an agent without being told so', async () => {
      await cairn.agents.register({ ...coder, agent_id: 'open' });
      expect(await refusalOf(cairn.keys.create({ agent_id: 'open' }))).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('is unrestricted'),
      });
      await cairn.keys.create({ agent_id: 'open', access: 'all' });
      await cairn.keys.create({ agent_id: 'open', access: 'own' });
      await cairn.keys.create({ agent_id: 'open' });
      expect(await cairn.agents.get({ agent_id: 'open' })).toMatchObject({ memory_access: accessTo('own') });
    });

    it('AGENT-14 a type or profile that an agent gives itself opens nothing', async () => {
      await cairn.keys.create({ agent_id: 'thief' });
      const thief = await test().as({ tenant, agent: 'thief', role: 'write' });
      await cairn.profiles.create({ name: 'guarded', system_prompt: 'secret' });
      const named = { agent_type: 'billing', capabilities: ['c'], profile_name: 'guarded' };
      expect(await refusalOf(thief.agents.register(named))).toMatchObject({
        ...by('own_rights'),
        details: { fields: ['profile_name'] },
      });
      // Nor one that is not there yet, and may be made with what it is not to see.
      const later = thief.agents.register({ ...named, profile_name: 'later' });
      expect(await refusalOf(later)).toMatchObject(by('own_rights'));
      await thief.profiles.create({ name: 'its own', system_prompt: 'x' });
      await thief.agents.register({ agent_type: 'billing', capabilities: ['c'], profile_name: 'its own' });
      const message = { message_type: 'note', payload: 'secret', from_agent_id: 'bob' };
      await cairn.messages.send({ ...message, to_agent_type: 'billing' });
      const all = await cairn.messages.send({ ...message, to_agent_type: 'billing', fan_out: 'all' });
      expect(all.recipients).toBe(0);
      expect((await thief.messages.receive({})).messages).toEqual([]);
      await cairn.agents.update({ agent_id: 'bob', can_delegate_to: ['billing'] });
      const { trajectory_id } = await bob.trajectories.create({ name: 'task' });
      const offer = { to_agent_id: 'thief', trajectory_id, task_description: 'x' };
      for (const can_delegate_to of [['billing'], ['its own']]) {
        await cairn.agents.update({ agent_id: 'bob', can_delegate_to });
        expect(await refusalOf(bob.delegations.create(offer))).toMatchObject(by('can_delegate_to'));
      }
      // A clone of it is no more.
      const cloning = { target_strategy: 'clone' as const, instruction: 'x' };
      const clone = (await thief.pmo.delegate_async(cloning)) as { agent_id: string };
      expect(await refusalOf(bob.delegations.create({ ...offer, to_agent_id: clone.agent_id }))).toMatchObject(
        by('can_delegate_to'),
      );
      await cairn.agents.update({ agent_id: 'bob', can_delegate_to: ['billing'] });
      // Once an admin gives it, it is one.
      await cairn.keys.create({ agent_id: 'thief', agent_type: 'billing' });
      expect((await thief.messages.receive({})).messages).toHaveLength(1);
      await bob.delegations.create(offer);
      await cairn.agents.update({ agent_id: 'bob', can_delegate_to: ['*'] });
    });

    it('AGENT-13 registering oneself says what one is, and never what one may', async () => {
      await cairn.keys.create({ agent_id: 'newcomer' });
      const newcomer = await test().as({ tenant, agent: 'newcomer', role: 'write' });
      const { note_id } = await cairn.notes.create({ note_type: 'Fact', title: 't', content: 'c', agent_id: 'bob' });
      await refused({ read: () => newcomer.notes.get({ note_id }) });
      for (const rights of [{ memory_access: accessTo('all') }, { can_delegate_to: ['bob'] }])
        expect(await refusalOf(newcomer.agents.register({ ...coder, ...rights }))).toMatchObject({
          ...by('own_rights'),
          details: { fields: Object.keys(rights) },
        });
      const said = { ...coder, memory_access: accessTo('own'), can_delegate_to: ['*'] };
      expect(await newcomer.agents.register(said)).toMatchObject({ agent_id: 'newcomer', ...said });
      await refused({ read: () => newcomer.notes.get({ note_id }) });
      const again = { ...coder, agent_type: 'boss' };
      expect(await refusalOf(newcomer.agents.register(again))).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS' });
      // A type that an admin gave stays.
      await cairn.keys.create({ agent_id: 'typed', agent_type: 'reviewer' });
      const typed = await test().as({ tenant, agent: 'typed', role: 'write' });
      expect(await refusalOf(typed.agents.register(coder))).toMatchObject({
        ...by('own_rights'),
        details: { fields: ['agent_type'] },
      });
      await typed.agents.register({ ...coder, agent_type: 'reviewer' });
    });
  });
});
