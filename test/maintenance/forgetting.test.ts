/** Forgetting: what is erased, what follows from it, what reads answer afterwards, and the receipt. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const MINUTE = 60_000;

async function scopeIn(cairn: Api) {
  const { trajectory_id } = await cairn.trajectories.create({ name: 'a task' });
  const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'a scope' });
  return { trajectory_id, scope_id };
}

const forgotten = async (cairn: Api, ...ids: string[]) => {
  const receipt = await cairn.memory.forget({ ids });
  expect(receipt.status).toBe('verified');
  return { ...receipt, erasure_id: receipt.erasure_id! };
};

onEveryTarget('forgetting', (test) => {
  it('FORGET-1 erases a note in every version, also after its deletion', async () => {
    const cairn = await test().freshTenant();
    const note = await cairn.memory.remember({ text: 'Lena lives at Elbchaussee 1 in Hamburg.' });
    await cairn.notes.update({ note_id: note.id, content: 'Lena lives at Marienplatz 2 in Munich.' });
    await cairn.notes.delete({ note_id: note.id });
    expect((await cairn.notes.history({ note_id: note.id })).versions).toHaveLength(2);
    const { erasure_id, erased, derived } = await forgotten(cairn, note.id);
    expect([erased, derived]).toEqual([[{ entity_type: 'Note', entities: 1, contents: 2 }], []]);
    const history = await refusalOf(cairn.notes.history({ note_id: note.id }));
    expect(history).toMatchObject({ code: 'CONTENT_ERASED', status: 410, details: { erasure_id } });
    expect((await refusalOf(cairn.notes.get({ note_id: note.id }))).details).toMatchObject({ erasure_id });
    expect((await cairn.memory.recall({ query: 'Where does Lena live?' })).passages).toEqual([]);
    // Once more changes nothing.
    expect((await forgotten(cairn, note.id)).erased).toEqual([{ entity_type: 'Note', entities: 1, contents: 0 }]);
  });

  it('FORGET-2 no pin keeps what is forgotten: sealed boxes, checkpoints, restored scopes', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await scopeIn(cairn);
    const turn = await cairn.turns.add({ scope_id, role: 'User', content: 'The door code is 4711 today.' });
    const other = await cairn.turns.add({ scope_id, role: 'User', content: 'The weather is fine.' });
    const context_state = Buffer.from('knows the door code 4711').toString('base64');
    await cairn.scopes.checkpoint({ scope_id, context_state });
    const restored = await cairn.scopes.restore({ scope_id });
    const { card_id } = await cairn.cards.add({ content: 'The safe code is 0815 today.' });
    const kept = await cairn.cards.add({ content: 'The lift works.' });
    const { box_id } = await cairn.boxes.create({ card_ids: [card_id, kept.card_id] });
    await cairn.boxes.seal({ box_id });
    const { erasure_id } = await forgotten(cairn, turn.turn_id, card_id);
    for (const scope of [scope_id, restored.scope_id]) {
      const { turns, total } = await cairn.scopes.turns({ scope_id: scope });
      expect([turns.map(({ turn_id }) => turn_id), total]).toEqual([[other.turn_id], 1]);
      expect(await cairn.scopes.get({ scope_id: scope })).toMatchObject({ turns: 1, tokens_used: other.token_count });
    }
    expect((await cairn.scopes.get({ scope_id })).checkpoint).toMatchObject({ context_state: null, turns: 1 });
    const { cards, missing_card_ids } = await cairn.boxes.cards({ box_id });
    expect([cards.map((card) => card.card_id), missing_card_ids]).toEqual([[kept.card_id], [card_id]]);
    const read = await refusalOf(cairn.turns.get({ turn_id: turn.turn_id }));
    expect(read).toMatchObject({ code: 'CONTENT_ERASED', status: 410, details: { erasure_id } });
    expect(await refusalOf(cairn.cards.get({ card_id }))).toMatchObject({ status: 410, details: { erasure_id } });
    const next = await cairn.turns.add({ scope_id, role: 'User', content: 'A third one.' });
    expect(next.sequence).toBe(3);
  });

  it('FORGET-3 a checkpoint that lacks forgotten turns is restored with allow_erased alone', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await scopeIn(cairn);
    const turns = ['first words', 'second words'].map((content) =>
      cairn.turns.add({ scope_id, role: 'User' as const, content }),
    );
    const [first, second] = await Promise.all(turns);
    await cairn.scopes.checkpoint({ scope_id });
    await forgotten(cairn, first!.turn_id);
    expect(await refusalOf(cairn.scopes.restore({ scope_id }))).toMatchObject({ code: 'CONTENT_ERASED', status: 410 });
    const restored = await cairn.scopes.restore({ scope_id, allow_erased: true });
    expect(restored.tokens_used).toBe(second!.token_count);
    const shown = await cairn.scopes.turns({ scope_id: restored.scope_id });
    expect(shown.turns.map(({ turn_id }) => turn_id)).toEqual([second!.turn_id]);
  });

  it('FORGET-4 what was derived goes with it: cards, summaries of summaries, facts, and their edges', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await scopeIn(cairn);
    const turn = await cairn.turns.add({
      scope_id,
      role: 'User',
      content: 'My name is Lena Berger, I live in Hamburg, and I am allergic to peanuts.',
    });
    await cairn.turns.add({ scope_id, role: 'User', content: 'We decided to use Postgres for the ledger service.' });
    const { artifact } = await cairn.scopes.summarize({ scope_id });
    const above = await cairn.artifacts.create({
      trajectory_id,
      artifact_type: 'Summary',
      name: 'of a summary',
      content: 'Lena Berger of Hamburg chose Postgres.',
    });
    await cairn.edges.create({
      edge_type: 'DerivedFrom',
      participants: [
        { entity_type: 'Artifact', entity_id: above.artifact_id },
        { entity_type: 'Artifact', entity_id: artifact!.artifact_id },
      ],
      metadata: { why: 'it quotes Lena Berger' },
    });
    const card = await cairn.cards.add({ content: 'Lena is allergic.', derived_from: [turn.turn_id] });
    const { notes, artifacts } = await cairn.scopes.extract({ scope_id });
    const facts = [...notes.map(({ note_id }) => note_id), ...artifacts.map(({ artifact_id }) => artifact_id)];
    const planned = await cairn.memory.forget({ ids: [turn.turn_id], dry_run: true });
    const receipt = await forgotten(cairn, turn.turn_id);
    const named = (items: typeof receipt.items) => items.map(({ entity_id }) => entity_id).sort();
    expect(named(planned.items)).toEqual(named(receipt.items));
    const derived = receipt.items.filter(({ origin }) => origin === 'derived').map(({ entity_id }) => entity_id);
    expect(derived).toEqual(expect.arrayContaining([artifact!.artifact_id, above.artifact_id, card.card_id]));
    // A fact is derived from the turns that state it.
    const gone = facts.filter((id) => derived.includes(id));
    expect(derived).toHaveLength(3 + gone.length);
    const { passages } = await cairn.memory.recall({ query: 'Lena Berger Hamburg peanuts' });
    expect(JSON.stringify(passages)).not.toMatch(/Lena|Berger|Hamburg|peanut/);
    for (const artifact_id of [artifact!.artifact_id, above.artifact_id])
      expect((await refusalOf(cairn.artifacts.get({ artifact_id }))).status).toBe(410);
    expect((await cairn.edges.list({ entity_id: above.artifact_id })).edges).toEqual([]);
  });

  it('FORGET-5 a scope or trajectory is forgotten with everything in it, and its name', async () => {
    const cairn = await test().freshTenant();
    const { trajectory_id, scope_id } = await scopeIn(cairn);
    const turn = await cairn.turns.add({ scope_id, role: 'User', content: 'Words in a scope.' });
    const artifact = await cairn.artifacts.create({
      trajectory_id,
      scope_id,
      artifact_type: 'Fact',
      name: 'n',
      content: 'A fact of the scope.',
    });
    const outside = await cairn.artifacts.create({
      trajectory_id,
      artifact_type: 'Fact',
      name: 'm',
      content: 'Outside.',
    });
    const { box_id } = await cairn.boxes.create({ card_ids: [turn.turn_id] });
    await cairn.boxes.seal({ box_id });
    const scope = await forgotten(cairn, scope_id);
    expect(scope.erased).toEqual([
      { entity_type: 'Artifact', entities: 1, contents: 1 },
      { entity_type: 'Scope', entities: 1, contents: 0 },
      { entity_type: 'Turn', entities: 1, contents: 1 },
    ]);
    expect((await refusalOf(cairn.scopes.get({ scope_id }))).details).toMatchObject({ erasure_id: scope.erasure_id });
    expect((await refusalOf(cairn.artifacts.get({ artifact_id: artifact.artifact_id }))).status).toBe(410);
    expect((await cairn.artifacts.get({ artifact_id: outside.artifact_id })).content).toBe('Outside.');
    const tree = await forgotten(cairn, trajectory_id);
    const read = await refusalOf(cairn.trajectories.get({ trajectory_id }));
    expect(read).toMatchObject({ status: 410, details: { erasure_id: tree.erasure_id } });
    expect((await refusalOf(cairn.artifacts.get({ artifact_id: outside.artifact_id }))).status).toBe(410);
  });

  it('FORGET-6 a user is forgotten with everything about it; what is about others as well needs shared', async () => {
    const cairn = await test().freshTenant();
    const alice = await cairn.cards.add({ content: 'Alice likes tea.', subject_ids: ['alice'] });
    const both = await cairn.cards.add({ content: 'Alice and Bob met.', subject_ids: ['alice', 'bob'] });
    const bob = await cairn.cards.add({ content: 'Bob likes coffee.', subject_ids: ['bob'] });
    const packet_id = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4aaa';
    await cairn.packets.write({ packet_id, packet_type: 'p', payload: { of: 'alice' }, subject_ids: ['alice'] });
    const task = await cairn.trajectories.create({ name: 'Alice moves', subject_ids: ['alice'] });
    const receipt = await cairn.memory.forget({ user: 'alice' });
    expect(receipt).toMatchObject({ status: 'verified', selected_by: 'user', kept_shared: 1 });
    expect(receipt.erased).toEqual([
      { entity_type: 'Card', entities: 1, contents: 1 },
      { entity_type: 'Packet', entities: 1, contents: 1 },
      { entity_type: 'Trajectory', entities: 1, contents: 0 },
    ]);
    expect((await refusalOf(cairn.trajectories.get({ trajectory_id: task.trajectory_id }))).status).toBe(410);
    expect(JSON.stringify(receipt)).not.toContain('alice');
    expect((await refusalOf(cairn.cards.get({ card_id: alice.card_id }))).status).toBe(410);
    const read = await refusalOf(cairn.packets.get({ packet_id }));
    expect(read).toMatchObject({ status: 410, details: { erasure_id: receipt.erasure_id } });
    for (const { card_id } of [both, bob]) expect((await cairn.cards.get({ card_id })).card_id).toBe(card_id);
    await cairn.memory.forget({ user: 'alice', shared: true });
    expect((await refusalOf(cairn.cards.get({ card_id: both.card_id }))).status).toBe(410);
    expect((await cairn.cards.get({ card_id: bob.card_id })).content).toBe('Bob likes coffee.');
  });

  it('FORGET-7 a query finds repetitions and former values, which recall does not show', async () => {
    const cairn = await test().freshTenant();
    const remember = (text: string, occurred_at: string) => cairn.memory.remember({ text, occurred_at });
    const known = [
      await remember('Lena lives in Hamburg.', '2024-05-01'),
      await remember('Lena lives in Munich now.', '2026-03-01'),
      await remember('Lena lives in Munich now.', '2026-03-01'),
    ];
    const { passages } = await cairn.memory.recall({ query: 'Where does Lena live?' });
    expect(passages).toHaveLength(1);
    const found = await cairn.memory.forget({ query: 'Where does Lena live?', dry_run: true });
    expect(found.candidates!.map(({ id }) => id).sort()).toEqual(known.map(({ id }) => id).sort());
    expect(found.candidates).toContainEqual(
      expect.objectContaining({ entity_type: 'Note', id: known[0]!.id, snippet: 'before: Hamburg' }),
    );
    await cairn.memory.forget({ ids: found.candidates!.map(({ id }) => id) });
    expect((await cairn.memory.recall({ query: 'Where does Lena live?' })).passages).toEqual([]);
  });

  it('FORGET-7 a filter selects by place, author and time; a query only finds', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await scopeIn(cairn);
    const turn = await cairn.turns.add({ scope_id, role: 'User', content: 'The invoice number is 20317.' });
    const note = await cairn.memory.remember({ text: 'The invoice is paid.' });
    const found = await cairn.memory.forget({ query: 'invoice', dry_run: true });
    expect(found.candidates!.map(({ id }) => id).sort()).toEqual([turn.turn_id, note.id].sort());
    for (const { confidence } of found.candidates!) expect(confidence).toBeGreaterThan(0);
    expect(found).toMatchObject({ status: 'planned', erasure_id: null });
    expect(await refusalOf(cairn.memory.forget({ query: 'invoice' }))).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await refusalOf(cairn.memory.forget({}))).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await refusalOf(cairn.memory.forget({ filter: {} }))).toMatchObject({ code: 'INVALID_INPUT' });
    const receipt = await cairn.memory.forget({ filter: { trajectory_id } });
    expect(receipt.erased).toEqual([{ entity_type: 'Turn', entities: 1, contents: 1 }]);
    expect((await cairn.notes.get({ note_id: note.id })).content).toBe('The invoice is paid.');
    test().advance(MINUTE);
    const created_after = new Date(Date.parse(note.created_at) + 1000).toISOString();
    const later = await cairn.cards.add({ content: 'A later card.' });
    const since = await cairn.memory.forget({ filter: { created_after } });
    expect(since.items.map(({ entity_id }) => entity_id)).toEqual([later.card_id]);
  });

  it('FORGET-14 a dry run shows the beginning and the date of the first 20 items', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await scopeIn(cairn);
    const turn = await cairn.turns.add({ scope_id, role: 'User', content: 'The invoice number is 20317.' });
    const long = `It begins here. ${'Much more follows. '.repeat(50)}`;
    const note = await cairn.memory.remember({ text: long, occurred_at: '2025-03-04' });
    const card = await cairn.cards.add({ content: { kind: 'person', name: 'Lena' } });
    const ids = [turn.turn_id, note.id, card.card_id, trajectory_id];
    const plan = await cairn.memory.forget({ ids, dry_run: true });
    const shown = new Map(plan.shown!.map((one) => [one.entity_id, one]));
    expect(shown.get(turn.turn_id)).toMatchObject({ entity_type: 'Turn', snippet: 'The invoice number is 20317.' });
    expect(shown.get(turn.turn_id)!.occurred_at).toBe(turn.created_at);
    const { snippet, occurred_at } = shown.get(note.id)!;
    expect([snippet!.slice(0, 15), snippet!.length < 300, occurred_at]).toEqual([
      'It begins here.',
      true,
      '2025-03-04T00:00:00.000Z',
    ]);
    expect(shown.get(card.card_id)!.snippet).toContain('Lena');
    expect(shown.get(trajectory_id)).toMatchObject({ entity_type: 'Trajectory', snippet: expect.any(String) });
    for (let i = 0; i < 25; i++) await cairn.cards.add({ content: `Card ${i}.`, subject_ids: ['alice'] });
    const many = await cairn.memory.forget({ user: 'alice', dry_run: true });
    expect([many.items.length, many.shown!.length]).toEqual([25, 20]);
    expect((await cairn.memory.forget({ ids: [card.card_id] })).shown).toBeUndefined();
  });

  it('FORGET-14 a dry run shows an agent no text that it may not read', async () => {
    const tenant = `t-${randomUUID()}`;
    const admin = await test().as({ tenant });
    await admin.agents.register({
      agent_id: 'cleaner',
      agent_type: 'worker',
      capabilities: ['cleaning'],
      memory_access: { read: [{ memory_type: '*', scope: 'own' }], write: [{ memory_type: '*', scope: 'all' }] },
    });
    const secret = await admin.memory.remember({ text: 'The safe opens with 4711.' });
    const cleaner = await test().as({ tenant, agent: 'cleaner', role: 'write' });
    const own = await cleaner.cards.add({ content: 'My own words.' });
    const plan = await cleaner.memory.forget({ ids: [secret.id, own.card_id], dry_run: true });
    expect(JSON.stringify(plan)).not.toContain('4711');
    expect(new Map(plan.shown!.map((one) => [one.entity_id, one.snippet]))).toEqual(
      new Map([
        [secret.id, null],
        [own.card_id, 'My own words.'],
      ]),
    );
  });

  it('FORGET-8 independent copies of the same text are listed, and erased with copies', async () => {
    const cairn = await test().freshTenant();
    const text = 'The password of the router is swordfish.';
    const note = await cairn.memory.remember({ text });
    const copy = await cairn.cards.add({ content: text });
    const receipt = await forgotten(cairn, note.id);
    expect(receipt.copies).toBe(1);
    expect(receipt.items).toContainEqual({
      entity_type: 'Card',
      entity_id: copy.card_id,
      origin: 'copy',
      outcome: 'copy',
    });
    expect((await cairn.cards.get({ card_id: copy.card_id })).content).toBe(text);
    const again = await cairn.memory.remember({ text });
    await cairn.memory.forget({ ids: [again.id], copies: true });
    expect((await refusalOf(cairn.cards.get({ card_id: copy.card_id }))).status).toBe(410);
  });

  it('FORGET-9 a receipt is listed, shown and verified, and holds no content', async () => {
    const cairn = await test().freshTenant();
    const note = await cairn.memory.remember({ text: 'Grandmother was born in Thessaloniki.', title: 'Grandmother' });
    const { erasure_id } = await forgotten(cairn, note.id);
    const { erasures, total } = await cairn.erasures.list({});
    expect([erasures.map((one) => one.erasure_id), total]).toEqual([[erasure_id], 1]);
    const receipt = await cairn.erasures.show({ erasure_id });
    expect(receipt).toMatchObject({ status: 'verified', copies: 0, kept_shared: 0 });
    expect(JSON.stringify(receipt)).not.toMatch(/Grandmother|Thessaloniki/);
    expect(receipt.items).toEqual([{ entity_type: 'Note', entity_id: note.id, origin: 'named', outcome: 'erased' }]);
    const checked = await cairn.erasures.verify({ erasure_id, bytes: true });
    expect(checked).toMatchObject({ verified: true, checked: 2, remaining: [] });
    if (test().target === 'postgres') expect(checked.bytes).toBeNull();
    else expect(checked.bytes).toMatchObject({ found: 0 });
    expect(receipt.not_covered.length).toBeGreaterThan(0);
    const missing = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a00';
    expect((await refusalOf(cairn.erasures.show({ erasure_id: missing }))).code).toBe('ERASURE_NOT_FOUND');
  });

  it('FORGET-10 nothing is erased if an id is unknown, and a retry with the same key answers with the same receipt', async () => {
    const cairn = await test().freshTenant();
    const note = await cairn.memory.remember({ text: 'It stays for now.' });
    const missing = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a00';
    const refused = await refusalOf(cairn.memory.forget({ ids: [note.id, missing] }));
    expect(refused).toMatchObject({ code: 'UNKNOWN_ENTITY', details: { missing_ids: [missing] } });
    expect((await cairn.notes.get({ note_id: note.id })).content).toBe('It stays for now.');
    const once = await cairn.memory.forget({ ids: [note.id] }, { idempotency_key: 'once' });
    const twice = await cairn.memory.forget({ ids: [note.id] }, { idempotency_key: 'once' });
    expect(twice).toEqual(once);
  });

  it('FORGET-11 an agent forgets only what it may write, derived content included', async () => {
    const tenant = `t-${randomUUID()}`;
    const admin = await test().as({ tenant });
    await admin.agents.register({
      agent_id: 'writer',
      agent_type: 'worker',
      capabilities: ['writing'],
      memory_access: { read: [{ memory_type: '*', scope: 'own' }], write: [{ memory_type: '*', scope: 'own' }] },
    });
    const writer = await test().as({ tenant, agent: 'writer', role: 'write' });
    const own = await writer.cards.add({ content: 'My own words.' });
    const foreign = await admin.cards.add({ content: 'Words of others.' });
    const derived = await admin.cards.add({ content: 'Made of the words of the writer.', derived_from: [own.card_id] });
    expect((await refusalOf(writer.memory.forget({ ids: [foreign.card_id] }))).code).toBe('FORBIDDEN');
    expect((await refusalOf(writer.memory.forget({ ids: [own.card_id] }))).code).toBe('FORBIDDEN');
    expect((await admin.cards.get({ card_id: own.card_id })).content).toBe('My own words.');
    await admin.memory.forget({ ids: [derived.card_id] });
    const receipt = await writer.memory.forget({ ids: [own.card_id] });
    expect(receipt.erased).toEqual([{ entity_type: 'Card', entities: 1, contents: 1 }]);
    expect((await refusalOf(writer.erasures.list({}))).code).toBe('FORBIDDEN');
  });

  it('FORGET-11 a caller that acts for a user forgets nothing that is about others', async () => {
    const cairn = await test().freshTenant();
    const alice = { user: 'alice' };
    const own = await cairn.memory.remember({ text: 'Alice is at home today.' }, alice);
    const bobs = await cairn.memory.remember({ text: 'Bob is at work today.' }, { user: 'bob' });
    const both = await cairn.cards.add({ content: 'Alice and Bob.', subject_ids: ['alice', 'bob'] });
    for (const input of [{ ids: [bobs.id] }, { ids: [both.card_id] }, { user: 'bob' }, { user: 'carol' }])
      expect((await refusalOf(cairn.memory.forget(input, alice))).code).toBe('FORBIDDEN');
    const receipt = await cairn.memory.forget({ user: 'alice' }, alice);
    expect(receipt.items.map(({ entity_id, outcome }) => [entity_id, outcome])).toContainEqual([own.id, 'erased']);
    expect((await refusalOf(cairn.notes.get({ note_id: own.id }))).status).toBe(410);
    expect((await cairn.notes.get({ note_id: bobs.id })).content).toBe('Bob is at work today.');
    expect((await cairn.cards.get({ card_id: both.card_id })).content).toBe('Alice and Bob.');
  });

  it('FORGET-11 a restricted caller neither erases copies nor hears of what is kept', async () => {
    const tenant = `t-${randomUUID()}`;
    const admin = await test().as({ tenant });
    await admin.agents.register({
      agent_id: 'writer',
      agent_type: 'worker',
      capabilities: ['writing'],
      memory_access: { read: [{ memory_type: '*', scope: 'own' }], write: [{ memory_type: '*', scope: 'own' }] },
    });
    const content = 'The safe of Alice opens with the number 7341.';
    const kept = await admin.cards.add({ content, subject_ids: ['alice'] });
    await admin.cards.add({ content: 'Alice and Bob have met.', subject_ids: ['alice', 'bob'] });
    const callers = [await test().as({ tenant, user: 'bob' }), await test().as({ tenant, agent: 'writer' })];
    for (const caller of callers) {
      const { card_id } = await caller.cards.add({ content });
      const ids = [card_id];
      for (const dry_run of [true, false]) {
        const attempt = caller.memory.forget({ ids, copies: true, dry_run });
        expect((await refusalOf(attempt)).code).toBe('FORBIDDEN');
      }
      const receipt = await caller.memory.forget({ ids });
      expect(receipt).toMatchObject({ copies: 0, kept_shared: 0 });
      expect(receipt.items.map(({ entity_id }) => entity_id)).toEqual(ids);
      expect((await admin.erasures.show({ erasure_id: receipt.erasure_id! })).copies).toBeGreaterThan(0);
    }
    for (const dry_run of [true, false])
      expect(await callers[0]!.memory.forget({ user: 'bob', dry_run })).toMatchObject({ kept_shared: 0, items: [] });
    expect((await admin.cards.get({ card_id: kept.card_id })).content).toBe(content);
  });

  it('FORGET-11 a restricted caller forgets nothing that is written meanwhile', async () => {
    const cairn = await test().freshTenant();
    const bob = { user: 'bob' };
    const own = await cairn.cards.add({ content: 'Bob is at work today.' }, bob);
    const created_after = own.created_at;
    const adding = async () => {
      const added: string[] = [];
      for (let i = 0; i < 20; i++) added.push((await cairn.cards.add({ content: `Of others: ${i}` })).card_id);
      return added;
    };
    const forgetting = cairn.memory.forget({ filter: { created_after } }, bob);
    const [[forgot], added] = await Promise.all([Promise.allSettled([forgetting]), adding()]);
    const erased = forgot.status === 'fulfilled' ? forgot.value.items.map(({ entity_id }) => entity_id) : [];
    expect(erased.filter((id) => id !== own.card_id)).toEqual([]);
    expect((await cairn.cards.get_batch({ card_ids: added })).missing_ids).toEqual([]);
  });
});
