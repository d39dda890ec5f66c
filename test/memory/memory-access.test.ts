import { beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import type { MemoryScope } from '#cairn/engine/contract.js';
import { accessTo, type MemoryAccess } from '#cairn/engine/contract.js';
import { addFormerOwner, dropFormerOwner } from '#cairn/memory/trajectories/former-owners.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { KINDS, type Kind, makeWorld, STANDINGS, type Standing, type World } from '../support/nouns/memory-world.js';
import { followToNow, latestToken } from '../support/nouns/stream.js';
import { onEveryStreamTarget, refusalOf } from '../support/targets.js';

const ann_ = { agent_id: 'ann', agent_type: 'coder', capabilities: ['code'] };
const EXTENTS = ['none', 'own', 'own_trajectory', 'all'] as const;
type Extent = (typeof EXTENTS)[number];
type Need = 'read' | 'write';

/** The rule for one type, and nothing else of the same need; of the other need nothing at all. */
const only = (need: Need, memory_type: Kind, extent: Extent): MemoryAccess => ({
  read: [],
  write: [],
  [need]: extent === 'none' ? [] : [{ memory_type, scope: extent as MemoryScope }],
});

/** What an extent reaches, of a type. */
function reached(kind: Kind, extent: Extent): readonly Standing[] {
  if (extent === 'none') return [];
  if (extent === 'all') return STANDINGS;
  return extent === 'own' || kind === 'Card' ? ['own'] : ['own', 'in_hers', 'where_she_works'];
}

/** A packet never changes, and turns are listed by their scope. */
const CHANGED = KINDS.filter((kind) => kind !== 'Packet');
const LISTED = KINDS.filter((kind) => kind !== 'Turn');

const refusal = (memory_type: Kind | 'Trajectory' | 'Scope' | 'Edge', need: Need, scope: Extent) => ({
  code: 'FORBIDDEN',
  status: 403,
  details: { rule: 'memory_access', memory_type, need, scope },
});

/** One way to read a thing of each type by its id. */
const readers: Record<Kind, (api: Api, id: string) => Promise<unknown>> = {
  Turn: (api, turn_id) => api.turns.get({ turn_id }),
  Artifact: (api, artifact_id) => api.artifacts.get({ artifact_id }),
  Note: (api, note_id) => api.notes.get({ note_id }),
  Card: (api, card_id) => api.cards.get({ card_id }),
  Packet: (api, packet_id) => api.packets.get({ packet_id }),
  Checkpoint: (api, execution_id) => api.checkpoints.latest({ execution_id }),
};

/** One way to change it; a packet never changes. */
const writers: Record<Exclude<Kind, 'Packet'>, (api: Api, world: World, at: Standing) => Promise<unknown>> = {
  Turn: (api, { scopes }, at) => api.scopes.checkpoint({ scope_id: scopes[at] }),
  Artifact: (api, { ids }, at) => api.artifacts.update({ artifact_id: ids.Artifact[at], content: `c${Math.random()}` }),
  Note: (api, { ids }, at) => api.notes.update({ note_id: ids.Note[at], content: `c${Math.random()}` }),
  Card: (api, { ids }, at) => api.cards.delete({ card_id: ids.Card[at] }),
  Checkpoint: (api, { ids }, at) =>
    api.executions.update({ execution_id: ids.Checkpoint[at], name: `n${Math.random()}` }),
};

/** What the list of a type shows, and its total. */
const listers: Record<
  Exclude<Kind, 'Turn'>,
  (api: Api, page: object) => Promise<{ ids: string[]; total: number | null; next_cursor: string | null }>
> = {
  Artifact: async (api, page) => {
    const { artifacts, ...rest } = await api.artifacts.list(page);
    return { ids: artifacts.map(({ artifact_id }) => artifact_id), ...rest };
  },
  Note: async (api, page) => {
    const { notes, ...rest } = await api.notes.list(page);
    return { ids: notes.map(({ note_id }) => note_id), ...rest };
  },
  Card: async (api, page) => {
    const { cards, ...rest } = await api.cards.list(page);
    return { ids: cards.map(({ card_id }) => card_id), ...rest };
  },
  Packet: async (api, page) => {
    const { packets, ...rest } = await api.packets.list({ packet_type: 'said', order: 'asc', ...page });
    return { ids: packets.map(({ packet_id }) => packet_id), ...rest };
  },
  Checkpoint: async (api, page) => {
    const { executions, ...rest } = await api.executions.list(page);
    return { ids: executions.map(({ execution_id }) => execution_id), ...rest };
  },
};

onEveryStreamTarget('memory_access', (test) => {
  let cairn: Api;
  let ann: Api;
  let tenant: string;
  let world: World;
  const allow = (memory_access: MemoryAccess, { trajectories } = world) =>
    cairn.agents.update({ agent_id: 'ann', memory_access, current_trajectory_id: trajectories.current });

  beforeAll(async () => {
    cairn = await test().freshTenant();
    tenant = await tenantOf(cairn);
    await cairn.agents.register(ann_);
    ann = await test().as({ tenant, agent: 'ann' });
    world = await makeWorld(cairn);
  });

  describe.each(KINDS)('%s', (kind) => {
    it.each(EXTENTS)('ACCESS-9, ACCESS-10, ACCESS-11 is read by id within the reach of %s', async (extent) => {
      await allow(only('read', kind, extent));
      for (const standing of STANDINGS) {
        const read = readers[kind](ann, world.ids[kind][standing]);
        if (reached(kind, extent).includes(standing)) await read;
        else expect(await refusalOf(read), standing).toMatchObject(refusal(kind, 'read', extent));
      }
    });
  });

  describe.each(CHANGED)('%s', (kind) => {
    it.each(EXTENTS)('ACCESS-9, ACCESS-10, ACCESS-11 is changed within the reach of %s', async (extent) => {
      await allow(only('write', kind, extent));
      // A card that is deleted is gone: each extent gets cards of its own.
      const fresh = kind === 'Card' ? await makeWorld(cairn) : world;
      const before = await latestToken(cairn);
      const beyond = STANDINGS.filter((standing) => !reached(kind, extent).includes(standing));
      for (const standing of beyond)
        expect(await refusalOf(writers[kind](ann, fresh, standing))).toMatchObject(refusal(kind, 'write', extent));
      expect(await latestToken(cairn)).toBe(before);
      for (const standing of reached(kind, extent)) await writers[kind](ann, fresh, standing);
    });
  });

  describe.each(LISTED)('%s', (kind) => {
    it.each(EXTENTS)('ACCESS-11 lists show what is within the reach of %s, page by page', async (extent) => {
      await allow(only('read', kind, extent));
      const isOurs = new Set<string>(Object.values(world.ids[kind]));
      const expected = STANDINGS.filter((one) => reached(kind, extent).includes(one)).map(
        (one) => world.ids[kind][one],
      );
      const first = await listers[kind](ann, { limit: 2 });
      const shown = [...first.ids];
      for (let cursor = first.next_cursor; cursor !== null; ) {
        const page = await listers[kind](ann, { limit: 2, cursor });
        expect(page.total).toBe(null);
        shown.push(...page.ids);
        cursor = page.next_cursor;
      }
      expect(first.total).toBe(shown.length);
      expect(shown.filter((id) => isOurs.has(id)).sort()).toEqual(expected.sort());
      if (extent === 'none') expect(shown).toEqual([]);
    });
  });

  it('ACCESS-9 absent is all, "*" is every type, and the widest rule counts', async () => {
    const artifact_id = world.ids.Artifact.foreign;
    const note_id = world.ids.Note.foreign;
    await allow({ write: [] });
    await ann.artifacts.get({ artifact_id });
    await allow({ read: [{ memory_type: '*', scope: 'all' }] });
    await ann.notes.get({ note_id });
    const own = { memory_type: '*', scope: 'own' } as const;
    await allow({ read: [{ memory_type: 'Artifact', scope: 'all' }, own] });
    await ann.artifacts.get({ artifact_id });
    expect(await refusalOf(ann.notes.get({ note_id }))).toMatchObject(refusal('Note', 'read', 'own'));
  });

  it('ACCESS-10 a turn is of its author as well, and its scope of its agent', async () => {
    await allow(accessTo('all'));
    const scope_id = world.scopes.foreign;
    const { turn_id } = await ann.turns.add({ scope_id, role: 'Assistant', content: 'hers' });
    await allow(only('read', 'Turn', 'own'));
    await ann.turns.get({ turn_id });
    expect((await ann.scopes.turns({ scope_id: world.scopes.own })).total).toBe(1);
    expect(await refusalOf(ann.scopes.turns({ scope_id }))).toMatchObject(refusal('Turn', 'read', 'own'));
    await allow(only('read', 'Turn', 'own_trajectory'));
    expect((await ann.scopes.turns({ scope_id: world.scopes.in_hers })).total).toBe(1);
  });

  it('ACCESS-11 what is not there is not found, and not forbidden', async () => {
    await allow(only('read', 'Note', 'own'));
    const note_id = world.ids.Artifact.own;
    expect(await refusalOf(ann.notes.get({ note_id }))).toMatchObject({ code: 'NOTE_NOT_FOUND' });
  });

  it('ACCESS-11 a tree, the artifacts of a scope, a thread, lineage and the stream show what is within reach', async () => {
    const { trajectories, ids } = world;
    const scope_id = world.scopes.foreign;
    const place = { scope_id, artifact_type: 'Fact', name: 'n', content: 'c' };
    const hers = await cairn.artifacts.create({ ...place, agent_id: 'ann' });
    await cairn.artifacts.create({ ...place, agent_id: 'bob' });
    await allow(only('read', 'Artifact', 'own'));
    const { artifacts, total } = await ann.scopes.artifacts({ scope_id });
    expect([artifacts.map(({ artifact_id }) => artifact_id), total]).toEqual([[hers.artifact_id], 1]);
    const { nodes } = await ann.trajectories.tree({ trajectory_id: trajectories.his });
    const leaves = nodes.filter(({ kind }) => kind === 'artifact' || kind === 'note').map(({ id }) => id);
    expect(leaves.sort()).toEqual([ids.Artifact.own, hers.artifact_id].sort());
    await cairn.artifacts.delete({ artifact_id: hers.artifact_id });

    await allow(accessTo('all'));
    const child = await ann.packets.write({
      packet_type: 'reply',
      payload: {},
      lineage: { parent_ids: [ids.Packet.own, ids.Packet.foreign] },
    });
    await allow({ read: [{ memory_type: 'Packet', scope: 'own' }] });
    const { packets } = await ann.packets.lineage({ packet_id: child.packet_id });
    expect(packets.map(({ packet_id }) => packet_id)).toEqual([ids.Packet.own]);
    const descendants = { direction: 'descendants' } as const;
    await allow({ read: [{ memory_type: 'Packet', scope: 'own_trajectory' }] });
    const after = await ann.packets.lineage({ packet_id: ids.Packet.own, ...descendants });
    expect(after.packets.map(({ packet_id }) => packet_id)).toEqual([child.packet_id]);
    const thread = await ann.packets.thread({ thread_id: trajectories.his });
    expect(new Set(thread.packets.map(({ metadata }) => metadata?.agent))).toEqual(new Set(['ann']));
    expect(thread.total).toBe(thread.packets.length);
    const followed = await followToNow(ann, '0');
    const said = followed.filter(({ packet_type }) => packet_type === 'said');
    expect(new Set(said.map(({ packet_id }) => packet_id))).toContain(ids.Packet.in_hers);
    expect(said.map(({ packet_id }) => packet_id)).not.toContain(ids.Packet.foreign);
    expect(said.length).toBeLessThan((await cairn.packets.list({ packet_type: 'said' })).total!);
  });

  it('ACCESS-11 the state that a scope was checkpointed with is shown within the reach of turns', async () => {
    const context_state = Buffer.from('state').toString('base64');
    for (const at of ['own', 'in_hers', 'foreign'] as const)
      await cairn.scopes.checkpoint({ scope_id: world.scopes[at], context_state });
    const shown = async () => {
      const { scopes } = await ann.scopes.list({});
      const by = new Map(scopes.map((one) => [one.scope_id, one.checkpoint?.context_state]));
      for (const [scope_id, state] of by)
        expect((await ann.scopes.get({ scope_id })).checkpoint?.context_state).toBe(state);
      return STANDINGS.filter((at) => by.get(world.scopes[at]) === context_state);
    };
    await allow(only('read', 'Turn', 'none'));
    expect(await shown()).toEqual([]);
    await allow(only('read', 'Turn', 'own'));
    expect(await shown()).toEqual(['own']);
    await allow(only('read', 'Turn', 'own_trajectory'));
    expect(await shown()).toEqual(['own', 'in_hers']);
  });

  it('ACCESS-11 a stream goes by what its agent may read at the moment', async () => {
    await allow({ write: [] });
    const signal = AbortSignal.timeout(10_000);
    const stream = ann.events.follow({ packet_type: 'noted' }, { signal })[Symbol.asyncIterator]();
    const next = async () => (await stream.next()).value?.packet?.payload;
    const note = (n: number, agent: string) =>
      cairn.packets.write({ packet_type: 'noted', payload: { n }, metadata: { agent } });
    await next();
    await note(1, 'bob');
    expect(await next()).toEqual({ n: 1 });
    await allow(only('read', 'Packet', 'own'));
    await note(2, 'bob');
    await note(3, 'ann');
    expect(await next()).toEqual({ n: 3 });
    await stream.return?.();
    const execution_id = world.ids.Checkpoint.foreign;
    await allow(accessTo('all'));
    const live = ann.executions.live({ execution_id }, { signal })[Symbol.asyncIterator]();
    const { snapshot } = (await live.next()).value!;
    await allow(only('read', 'Checkpoint', 'own'));
    await cairn.checkpoints.create({ execution_id, snapshot: snapshot! });
    expect(await refusalOf(live.next())).toMatchObject(refusal('Checkpoint', 'read', 'own'));
  });

  it('ACCESS-11 checkpoints are found within reach, by lists and by id', async () => {
    const { ids } = world;
    const of = async (execution_id: string) => (await cairn.checkpoints.latest({ execution_id })).id;
    await allow(only('read', 'Checkpoint', 'own'));
    const { checkpoints, total } = await ann.checkpoints.list({});
    expect(new Set(checkpoints.map(({ agent_id }) => agent_id))).toEqual(new Set(['ann']));
    expect(total).toBe(checkpoints.length);
    const [own, foreign] = [await of(ids.Checkpoint.own), await of(ids.Checkpoint.foreign)];
    const beyond = refusal('Checkpoint', 'read', 'own');
    await ann.checkpoints.get({ checkpoint_id: own });
    for (const call of [ann.checkpoints.get, ann.checkpoints.writes, ann.checkpoints.thoughts])
      expect(await refusalOf(call({ checkpoint_id: foreign }))).toMatchObject(beyond);
    expect(await refusalOf(ann.checkpoints.diff({ checkpoint_id: own, to: foreign }))).toMatchObject(beyond);
    const live = ann.executions.live({ execution_id: ids.Checkpoint.foreign });
    expect(await refusalOf(live[Symbol.asyncIterator]().next())).toMatchObject(beyond);
  });

  it('ACCESS-11 cards beyond reach are missing in batches and boxes', async () => {
    await allow(accessTo('all'));
    const [hers, his] = [
      await ann.cards.add({ content: 'hers' }),
      await cairn.cards.add({ content: 'his', author_id: 'bob' }),
    ];
    const card_ids = [hers.card_id, his.card_id];
    const { box_id } = await ann.boxes.create({ card_ids });
    await allow(only('read', 'Card', 'own'));
    expect(await ann.cards.get_batch({ card_ids })).toMatchObject({
      cards: [{ card_id: hers.card_id }],
      missing_ids: [his.card_id],
    });
    const shown = { cards: [{ card_id: hers.card_id }], missing_card_ids: [his.card_id] };
    expect(await ann.boxes.cards({ box_id })).toMatchObject({ ...shown, total: 2 });
    expect(await ann.boxes.load_batch({ box_ids: [box_id], hydrate: true })).toMatchObject({
      boxes: [{ cards: shown.cards, card_ids }],
      missing_card_ids: shown.missing_card_ids,
    });
  });

  it('ACCESS-12 what an agent makes is its own, in a trajectory that is its own or where it works', async () => {
    const { trajectories, scopes } = world;
    const fact = { artifact_type: 'Fact', name: 'n', content: 'c' };
    const note = { note_type: 'Fact', title: 't', content: 'c', source_trajectory_ids: [trajectories.his] };
    const beyond: Record<string, [Kind, (api: Api) => Promise<unknown>]> = {
      artifact: ['Artifact', (api) => api.artifacts.create({ ...fact, trajectory_id: trajectories.his })],
      byScope: ['Artifact', (api) => api.artifacts.create({ ...fact, scope_id: scopes.foreign })],
      turn: ['Turn', (api) => api.turns.add({ scope_id: scopes.foreign, role: 'User', content: 'c' })],
      execution: ['Checkpoint', (api) => api.executions.create({ trajectory_id: trajectories.his })],
    };
    for (const scope of ['own', 'own_trajectory'] as const) {
      await allow({ write: [{ memory_type: '*', scope }] });
      for (const [kind, make] of Object.values(beyond))
        expect(await refusalOf(make(ann))).toMatchObject(refusal(kind, 'write', scope));
      for (const trajectory_id of [trajectories.hers, trajectories.current]) {
        await ann.artifacts.create({ ...fact, trajectory_id });
        await ann.executions.create({ trajectory_id });
      }
      for (const at of ['own', 'in_hers', 'where_she_works'] as const)
        await ann.turns.add({ scope_id: scopes[at], role: 'User', content: 'c' });
      await ann.notes.create(note);
      await ann.cards.add({ content: 'c' });
      await ann.packets.write({ packet_type: 'made', payload: {} });
      await ann.executions.create({});
    }
    await allow({ write: [{ memory_type: '*', scope: 'all' }] });
    for (const [, make] of Object.values(beyond)) await make(ann);
    await allow({ write: [] });
    for (const [kind, make] of Object.values(beyond))
      expect(await refusalOf(make(ann))).toMatchObject(refusal(kind, 'write', 'none'));
    expect(await refusalOf(ann.cards.add_batch({ cards: [{ content: 'c' }] }))).toMatchObject(
      refusal('Card', 'write', 'none'),
    );
  });

  it('ACCESS-13 each item of a batch is checked', async () => {
    await allow({ write: [{ memory_type: '*', scope: 'own' }] });
    const { trajectories, ids, scopes } = world;
    const update = (artifact_id: string) => ({
      operation: 'update' as const,
      artifact_id,
      update: { content: `c${Math.random()}` },
    });
    const items = [update(ids.Artifact.own), update(ids.Artifact.foreign)];
    const fact = { artifact_type: 'Fact', name: 'n', content: 'c', trajectory_id: trajectories.his };
    const { results } = await ann.artifacts.batch({
      items: [
        ...items,
        { operation: 'create', create: fact },
        { operation: 'delete', artifact_id: ids.Artifact.in_hers },
      ],
    });
    expect(results.map((one) => (one.status === 'error' ? one.code : one.status))).toEqual([
      'success',
      'FORBIDDEN',
      'FORBIDDEN',
      'FORBIDDEN',
    ]);
    const before = await latestToken(cairn);
    expect(await refusalOf(ann.artifacts.batch({ items, atomic: true }))).toMatchObject({
      ...refusal('Artifact', 'write', 'own'),
      message: expect.stringContaining('items[1]'),
    });
    const learn = { operation: 'update' as const, note_id: ids.Note.foreign, update: { title: 'x' } };
    expect((await ann.notes.batch({ items: [learn] })).results).toMatchObject([{ code: 'FORBIDDEN' }]);
    expect(await latestToken(cairn)).toBe(before);
    const turn = (scope_id: string) => ({ create: { scope_id, role: 'User' as const, content: 'c' } });
    const added = await ann.turns.batch({ items: [turn(scopes.foreign), turn(scopes.in_hers)] });
    expect(added).toMatchObject({ succeeded: 1, failed: 1, results: [{ code: 'FORBIDDEN' }, {}] });
  });

  it('ACCESS-14 the content of turns, artifacts and notes is no wider open by its card', async () => {
    const { ids, scopes } = world;
    const { card_id } = await cairn.artifacts.get({ artifact_id: ids.Artifact.foreign });
    const { box_id } = await cairn.scopes.get({ scope_id: scopes.in_hers });
    await cairn.boxes.grant({ box_id, agent_id: 'ann' });
    const turn_id = ids.Turn.in_hers;
    const cards = { memory_type: 'Card', scope: 'all' } as const;
    await allow({ read: [cards] });
    for (const held of [card_id, turn_id])
      expect(await refusalOf(ann.cards.get({ card_id: held }))).toMatchObject(refusal('Card', 'read', 'none'));
    const { missing_card_ids } = await ann.boxes.cards({ box_id });
    expect(missing_card_ids).toContain(turn_id);
    expect((await ann.cards.list({ limit: 500 })).cards.map((one) => one.card_id)).not.toContain(turn_id);
    await ann.cards.get({ card_id: ids.Card.own });
    await allow({ read: [{ memory_type: '*', scope: 'all' }] });
    expect((await ann.boxes.cards({ box_id })).missing_card_ids).toEqual([]);
    await ann.cards.get({ card_id });
  });

  it('ACCESS-15 closing a scope is a change of it, and deleting a trajectory of all that is in it', async () => {
    const fresh = await makeWorld(cairn);
    await allow({ write: [{ memory_type: '*', scope: 'own_trajectory' }] }, fresh);
    const { trajectories, scopes } = fresh;
    const close = ann.scopes.close({ scope_id: scopes.foreign });
    expect(await refusalOf(close)).toMatchObject(refusal('Scope', 'write', 'own_trajectory'));
    const beyond = refusal('Trajectory', 'write', 'own_trajectory');
    const trajectory_id = trajectories.his;
    expect(await refusalOf(ann.trajectories.delete({ trajectory_id }))).toMatchObject(beyond);
    const items = [{ operation: 'delete' as const, trajectory_id }];
    expect((await ann.trajectories.batch({ items })).results).toMatchObject([{ code: 'FORBIDDEN' }]);
    expect(await refusalOf(ann.trajectories.batch({ items, atomic: true }))).toMatchObject(beyond);
    await ann.scopes.close({ scope_id: scopes.in_hers });
    await ann.trajectories.batch({ items: [{ operation: 'delete', trajectory_id: trajectories.hers }] });
  });

  it('ACCESS-16 counts for keys with an agent; one that is not registered opens nothing', async () => {
    await allow({ read: [], write: [] });
    const artifact_id = world.ids.Artifact.own;
    await cairn.artifacts.get({ artifact_id });
    await cairn.agents.register({ ...ann_, agent_id: 'dora', memory_access: { read: [] } });
    const dora = await test().as({ tenant, agent: 'dora' });
    expect(await refusalOf(dora.artifacts.get({ artifact_id }))).toMatchObject(refusal('Artifact', 'read', 'none'));
    await dora.agents.unregister({ agent_id: 'dora' });
    const unregistered = { code: 'FORBIDDEN', status: 403, details: { rule: 'agent_registered' } };
    expect(await refusalOf(dora.artifacts.get({ artifact_id }))).toMatchObject(unregistered);
    expect(await dora.auth.whoami()).toMatchObject({ agent_id: 'dora' });
  });

  it('ACCESS-17 an agent that gave a trajectory away no longer writes in it, nor does a key in its name', async () => {
    await allow(accessTo('all'));
    const { trajectories, scopes, ids } = await makeWorld(cairn);
    const trajectory_id = trajectories.hers;
    const scope_id = scopes.in_hers;
    const artifact_id = ids.Artifact.in_hers;
    const execution_id = ids.Checkpoint.in_hers;
    const fact = { artifact_type: 'Fact', name: 'n', content: 'c' };
    const { id: checkpoint_id } = await cairn.checkpoints.latest({ execution_id });
    const { trajectory_id: above } = await ann.trajectories.create({ name: 'above' });
    const part = await ann.trajectories.create({ name: 'part', parent_trajectory_id: above });
    const handoff_id = 'handoff-1';
    const given = [trajectory_id, part.trajectory_id].map((id) => ({ trajectory_id: id, agent_id: 'ann', handoff_id }));
    await test().store.driver.write(tenant, async (tx) => {
      for (const one of given) await addFormerOwner(tx, one);
    });
    const task = { name: 'part', parent_trajectory_id: trajectory_id };
    const turn = { scope_id, role: 'User', content: 'c' } as const;
    const snapshot = (await cairn.checkpoints.get({ checkpoint_id })).snapshot;
    const writes: Record<string, () => Promise<unknown>> = {
      update: () => ann.trajectories.update({ trajectory_id, name: 'x' }),
      delete: () => ann.trajectories.delete({ trajectory_id }),
      deleteAbove: () => ann.trajectories.delete({ trajectory_id: above }),
      part: () => ann.trajectories.create(task),
      scope: () => ann.scopes.create({ trajectory_id, name: 's' }),
      scopeUpdate: () => ann.scopes.update({ scope_id, name: 'x' }),
      checkpoint: () => ann.scopes.checkpoint({ scope_id }),
      restore: () => ann.scopes.restore({ scope_id }),
      close: () => ann.scopes.close({ scope_id }),
      turn: () => ann.turns.add(turn),
      turns: () => ann.turns.batch({ items: [{ create: turn }], atomic: true }),
      artifact: () => ann.artifacts.create({ ...fact, trajectory_id }),
      artifactUpdate: () => ann.artifacts.update({ artifact_id, name: 'x' }),
      artifactDelete: () => ann.artifacts.delete({ artifact_id }),
      execution: () => ann.executions.create({ trajectory_id }),
      executionUpdate: () => ann.executions.update({ execution_id, name: 'x' }),
      executionDelete: () => ann.executions.delete({ execution_id }),
      prune: async () => {
        await cairn.checkpoints.create({ execution_id, snapshot });
        await ann.executions.prune({ execution_id });
      },
      state: () => ann.checkpoints.create({ execution_id, snapshot }),
      branch: () => ann.checkpoints.branch({ checkpoint_id, reason: 'r' }),
      stateRestore: () => ann.checkpoints.restore({ checkpoint_id }),
      named: () => cairn.artifacts.create({ ...fact, trajectory_id, agent_id: 'ann' }),
      namedScope: () => cairn.scopes.create({ trajectory_id, name: 's', agent_id: 'ann' }),
      namedRun: () => cairn.executions.create({ trajectory_id, agent_id: 'ann' }),
      namedPart: () => cairn.trajectories.create({ ...task, agent_id: 'ann' }),
    };
    for (const [name, write] of Object.entries(writes))
      expect(await refusalOf(write()), name).toMatchObject({
        code: 'FORBIDDEN',
        status: 403,
        details: { rule: 'former_owner', handoff_id },
      });
    const { results } = await ann.turns.batch({
      items: [{ create: turn }, { create: { ...turn, scope_id: scopes.own } }],
    });
    expect(results).toMatchObject([{ status: 'error', code: 'FORBIDDEN' }, { status: 'success' }]);
    await ann.artifacts.get({ artifact_id });
    await cairn.artifacts.create({ ...fact, trajectory_id, agent_id: 'bob' });
    await test().store.driver.write(tenant, (tx) => dropFormerOwner(tx, given[0]!));
    await writes.turn!();
  });
});
