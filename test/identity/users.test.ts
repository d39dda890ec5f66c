/** Callers that act for a user: by their key, by a view, by an option of the call, or by a member of its input. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { viewsOn } from '#cairn/api/contract.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const refused = { code: 'FORBIDDEN', details: { rule: 'user' } };
const OLIVE = 'The olive oil is in the pantry.';

onEveryTarget('users', (test) => {
  const tenantOf = () => `t-${randomUUID()}`;

  it('USER-3 a key, a view, an option and a member of the input say for whom a call is made', async () => {
    const tenant = tenantOf();
    const cairn = await test().as({ tenant });
    const key = await test().as({ tenant, user: 'Änne/1 @x' });
    const user = 'Änne/1 @x';
    const view = viewsOn(cairn).for({ user });
    await key.memory.remember({ text: `${OLIVE} 1` });
    await view.remember(`${OLIVE} 2`);
    await cairn.memory.remember({ text: `${OLIVE} 3` }, { user });
    await cairn.memory.remember({ text: `${OLIVE} 4`, user });
    const { notes } = await cairn.notes.list({});
    expect(notes.map(({ subject_ids }) => subject_ids)).toEqual([[user], [user], [user], [user]]);
    await cairn.memory.remember({ text: `${OLIVE} 5`, user: 'bob' });
    const counts = [
      (await key.notes.list({})).total,
      (await view.notes.list({})).total,
      (await cairn.notes.list({}, { user })).total,
      (await cairn.search.query({ query: 'olive', entity_types: ['Note'], user })).results.length,
      (await view.recall('Where is the olive oil?')).passages.length,
    ];
    expect(counts).toEqual([4, 4, 4, 4, 4]);
    expect((await cairn.notes.list({})).total).toBe(5);
    expect(await key.auth.whoami({})).toMatchObject({ tenant_id: tenant, user_id: user });
  });

  it('USER-3 a caller that acts for a user names no other user', async () => {
    const tenant = tenantOf();
    const cairn = await test().as({ tenant });
    const key = await test().as({ tenant, user: 'ann' });
    const view = viewsOn(cairn).for({ user: 'ann' });
    expect(() => view.for({ user: 'bob' })).toThrow('ann');
    const attempts = [
      key.memory.recall({ query: 'x', user: 'bob' }),
      key.memory.recall({ query: 'x' }, { user: 'bob' }),
      view.memory.recall({ query: 'x', user: 'bob' }),
      view.memory.recall({ query: 'x' }, { user: 'bob' }),
      view.cards.add({ content: 'x', subject_ids: ['bob'] }),
      view.cards.add({ content: 'x', subject_ids: ['ann', 'bob'] }),
    ];
    for (const one of await Promise.all(attempts.map(refusalOf))) expect(one).toMatchObject({ code: 'FORBIDDEN' });
    expect(await refusalOf(cairn.cards.list({}, { user: '' }))).toMatchObject({ code: 'INVALID_INPUT' });
    const stream = view.events.follow({ after: '0' }, { user: 'bob' })[Symbol.asyncIterator]();
    expect(await refusalOf(stream.next())).toMatchObject(refused);
    const both = cairn.memory.recall({ query: 'x', user: 'bob' }, { user: 'ann' });
    expect(await refusalOf(both)).toMatchObject(refused);
    expect(await view.for({ user: 'ann' }).cards.add({ content: 'x' })).toMatchObject({ subject_ids: ['ann'] });
  });

  it('USER-4 a user changes only what is about it, and adds to what is about nobody', async () => {
    const cairn = await test().freshTenant();
    const ann = viewsOn(cairn).for({ user: 'ann' });
    const bob = viewsOn(cairn).for({ user: 'bob' });
    const { trajectory_id } = await cairn.trajectories.create({ name: 'shared' });
    const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'shared' });
    const { note_id } = await cairn.notes.create({ note_type: 'Fact', title: 'shared', content: 'x' });
    const changes = [
      ann.notes.update({ note_id, content: 'y' }),
      ann.notes.delete({ note_id }),
      ann.trajectories.update({ trajectory_id, name: 'ann' }),
      ann.trajectories.delete({ trajectory_id }),
      ann.scopes.close({ scope_id }),
      ann.scopes.summarize({ scope_id }),
    ];
    for (const one of await Promise.all(changes.map(refusalOf))) expect(one).toMatchObject(refused);
    const turn = await ann.turns.add({ scope_id, role: 'User', content: 'from ann' });
    expect(turn.subject_ids).toEqual(['ann']);
    const own = await ann.scopes.create({ trajectory_id, name: 'of ann' });
    expect(await refusalOf(bob.turns.add({ scope_id: own.scope_id, role: 'User', content: 'x' }))).toMatchObject(
      refused,
    );
    await bob.turns.add({ scope_id, role: 'User', content: 'from bob' });
    await cairn.turns.add({ scope_id, role: 'User', content: 'from nobody' });
    for (const [who, said] of [
      [ann, ['from ann', 'from nobody']],
      [bob, ['from bob', 'from nobody']],
    ] as const) {
      for (const input of [{ scope_id }, { scope_id, tail: 3 }, { scope_id, order: 'asc' as const }]) {
        const { turns, total } = await who.scopes.turns(input);
        expect([turns.map(({ content }) => content), total]).toEqual([said, 2]);
      }
      const { messages } = await who.context.assemble({ scope_id, format: 'messages' });
      const text = JSON.stringify(messages);
      for (const content of ['from ann', 'from bob', 'from nobody'])
        expect(text.includes(content)).toBe((said as readonly string[]).includes(content));
    }
  });

  it('USER-2 an edge that names a card of another user in its metadata shows nothing of it', async () => {
    const cairn = await test().freshTenant();
    const [ann, bob] = ['ann', 'bob'].map((user) => viewsOn(cairn).for({ user }));
    const { card_id } = await ann!.cards.add({ content: 'The silver key opens the vault.' });
    const { trajectory_id } = await bob!.trajectories.create({ name: 't' });
    const { scope_id } = await bob!.scopes.create({ trajectory_id, name: 's' });
    const note = { note_type: 'Fact', title: 'n', source_trajectory_ids: [trajectory_id] };
    const old = await bob!.notes.create({ ...note, content: 'Bob lives in Oslo.' });
    const late = await bob!.notes.create({ ...note, content: 'Bob lives in Rome.' });
    await bob!.edges.create({
      edge_type: 'Contradicts',
      participants: [late, old].map(({ note_id }) => ({ entity_type: 'Note', entity_id: note_id }) as const),
      metadata: { replaced: { card_id, start: 0, end: 1000 } },
    });
    const query = 'Where does Bob live?';
    const told = [await bob!.memory.recall({ query }), await bob!.context.assemble({ scope_id, user_input: query })];
    for (const one of told) {
      expect(JSON.stringify(one)).toContain('before: Bob lives in Oslo');
      expect(JSON.stringify(one)).not.toContain('vault');
    }
  });

  it('USER-2 a box that is about nobody shows no id of the cards of another user', async () => {
    const cairn = await test().freshTenant();
    const [ann, bob] = ['ann', 'bob'].map((user) => viewsOn(cairn).for({ user }));
    const card_ids: string[] = [];
    for (const by of [ann!, bob!, cairn]) card_ids.push((await by.cards.add({ content: OLIVE })).card_id);
    const { box_id } = await cairn.boxes.create({ card_ids });
    const seen = card_ids.slice(1);
    const fork = await bob!.boxes.fork({ box_id });
    for (const box of [await bob!.boxes.load({ box_id }), fork, await bob!.boxes.load({ box_id: fork.box_id })]) {
      expect(box.card_ids).toEqual(seen);
      expect(box.revision).toBeUndefined();
    }
    for (const id of [box_id, fork.box_id]) {
      const { cards, missing_card_ids } = await bob!.boxes.cards({ box_id: id });
      expect([cards.map(({ card_id }) => card_id), missing_card_ids]).toEqual([seen, []]);
      const batch = await bob!.boxes.load_batch({ box_ids: [id], hydrate: true });
      expect([batch.boxes[0]!.card_ids, batch.missing_card_ids]).toEqual([seen, []]);
    }
    expect((await cairn.boxes.load({ box_id: fork.box_id })).card_ids).toEqual(card_ids);
  });

  it('USER-2 a context of the tenant is not replayed for a user, who hears of no id in it', async () => {
    const cairn = await test().freshTenant();
    const [ann, bob] = ['ann', 'bob'].map((user) => viewsOn(cairn).for({ user }));
    const { trajectory_id } = await cairn.trajectories.create({ name: 't' });
    const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 's' });
    const { turn_id } = await ann!.turns.add({ scope_id, role: 'User', content: OLIVE });
    const { manifest_id } = await cairn.context.assemble({ scope_id });
    expect(JSON.stringify(await bob!.manifests.get({ manifest_id }))).not.toContain(turn_id);
    const refusal = await refusalOf(bob!.manifests.replay({ manifest_id }));
    expect(refusal).toMatchObject(refused);
    expect(JSON.stringify(refusal)).not.toContain(turn_id);
  });

  it('USER-5 what is about several users is read by callers without a user alone', async () => {
    const cairn = await test().freshTenant();
    const ann = viewsOn(cairn).for({ user: 'ann' });
    const about = { subject_ids: ['ann', 'bob'] };
    const { note_id } = await cairn.notes.create({ note_type: 'Fact', title: 'both', content: OLIVE, ...about });
    expect(await refusalOf(ann.notes.get({ note_id }))).toMatchObject(refused);
    expect((await ann.search.query({ query: 'olive' })).results).toEqual([]);
    expect((await cairn.search.query({ query: 'olive' })).results).toMatchObject([{ id: note_id }]);
  });

  it('USER-2, ACCESS-6 an agent and a user restrict a key independently', async () => {
    const tenant = tenantOf();
    const cairn = await test().as({ tenant });
    const scout = await test().as({ tenant, agent: 'scout', user: 'ann' });
    const note = { note_type: 'Fact', title: 'n', content: OLIVE };
    const mine = await scout.notes.create(note);
    expect(mine).toMatchObject({ subject_ids: ['ann'] });
    await cairn.notes.create({ ...note, subject_ids: ['ann'] });
    await cairn.notes.create({ ...note, agent_id: 'scout', subject_ids: ['bob'] });
    expect((await scout.notes.list({})).total).toBe(2);
    await cairn.agents.update({
      agent_id: 'scout',
      memory_access: { read: [{ memory_type: '*', scope: 'own' }], write: [{ memory_type: '*', scope: 'own' }] },
    });
    expect((await scout.notes.list({})).notes.map(({ note_id }) => note_id)).toEqual([mine.note_id]);
    expect((await scout.search.query({ query: 'olive' })).results.map(({ id }) => id)).toEqual([mine.note_id]);
    expect(await refusalOf(scout.locks.list({}))).toMatchObject(refused);
  });

  it('USER-6 the ids and Idempotency-Keys of another user answer with nothing of it', async () => {
    const cairn = await test().freshTenant();
    const [ann, bob] = ['ann', 'bob'].map((user) => viewsOn(cairn).for({ user }));
    const card = { card_id: 'c', content: OLIVE };
    await ann!.cards.add(card);
    expect(await refusalOf(bob!.cards.add(card))).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS' });
    const scope = async (api: typeof ann) => {
      const { trajectory_id } = await cairn.trajectories.create({ name: 't' });
      return api!.scopes.create({ scope_id: randomUUID(), trajectory_id, name: 's' });
    };
    const { scope_id, trajectory_id } = await scope(ann);
    const again = bob!.scopes.create({ scope_id, trajectory_id, name: 's' });
    expect(await refusalOf(again)).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS' });
    const key = { idempotency_key: 'k' };
    await ann!.cards.add({ content: OLIVE }, key);
    expect(await refusalOf(bob!.cards.add({ content: OLIVE }, key))).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it('USER-7 facts are compared with those about the same people and about nobody', async () => {
    const cairn = await test().freshTenant();
    const [ann, bob] = ['ann', 'bob'].map((user) => viewsOn(cairn).for({ user }));
    for (const [api, text] of [
      [ann, 'I prefer tabs over spaces.'],
      [bob, 'I prefer tabs over spaces.'],
    ] as const) {
      const { trajectory_id } = await api!.trajectories.create({ name: 't' });
      const { scope_id } = await api!.scopes.create({ trajectory_id, name: 's' });
      await api!.turns.add({ scope_id, role: 'User', content: text });
      await api!.scopes.extract({ scope_id });
    }
    const { notes } = await cairn.notes.list({});
    expect(notes.map(({ subject_ids, version }) => [subject_ids, version])).toEqual([
      [['ann'], 1],
      [['bob'], 1],
    ]);
  });

  it('USER-7 a summary of several users corrects no statement of one by that of another', async () => {
    const cairn = await test().freshTenant();
    const { trajectory_id } = await cairn.trajectories.create({ name: 't' });
    const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 's' });
    for (const [user, city, day] of [
      ['ann', 'Hamburg', 'May 4'],
      ['bob', 'Bremen', 'May 9'],
    ] as const) {
      const content = `I live in ${city}. My dentist appointment is on ${day}.`;
      await viewsOn(cairn).for({ user }).turns.add({ scope_id, role: 'User', content });
    }
    const { artifact } = await cairn.scopes.summarize({ scope_id });
    const said = artifact!.content as string;
    for (const one of ['Hamburg', 'Bremen', 'May 4', 'May 9']) expect(said).toContain(one);
    expect(said).not.toContain('before:');
  });

  it('USER-8 events of a user are those of its calls and the packets about it or about nobody', async () => {
    const cairn = await test().freshTenant();
    const [ann, bob] = ['ann', 'bob'].map((user) => viewsOn(cairn).for({ user }));
    await cairn.packets.write({ packet_type: 'shared', payload: { a: 1 } });
    await ann!.packets.write({ packet_type: 'of ann', payload: { a: 1 } });
    await bob!.memory.remember({ text: OLIVE });
    const typesOf = async (api: typeof ann) =>
      (await api!.packets.list({ order: 'asc' })).packets.map(({ packet_type }) => packet_type);
    expect(await typesOf(ann)).toEqual(['shared', 'of ann']);
    expect(await typesOf(bob)).toEqual(['shared', 'cairn.note.created']);
    const followed: unknown[] = [];
    for await (const { packet } of ann!.events.follow({ after: '0' }, { signal: AbortSignal.timeout(500) }))
      if (packet) followed.push(packet.packet_type);
    expect(followed).toEqual(['shared', 'of ann']);
  });
});
