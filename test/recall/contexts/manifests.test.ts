import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { sql } from '#cairn/driver/index.js';
import { countTokens } from '#cairn/text/index.js';
import { artifact, note, sayAll, someTask } from '../../support/nouns/contexts.js';
import { tenantOf } from '../../support/nouns/hierarchy.js';
import { eventsOf, wordsLeft } from '../../support/nouns/scopes.js';
import { onEveryTarget, refusalOf } from '../../support/targets.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const gone = { code: 'CONTENT_ERASED', status: 410 };
const missing = { code: 'MANIFEST_NOT_FOUND', status: 404 };

onEveryTarget('manifests', (test) => {
  it('MAN-1 MAN-5 a manifest has the parameters, every card that was considered and the hash of the result', async () => {
    const cairn = await test().freshTenant();
    const { trajectory_id, scope_id } = await someTask(cairn);
    const [turn_id] = await sayAll(cairn, scope_id, ['Hello.']);
    const one = await artifact(cairn, trajectory_id, 'first');
    const two = await artifact(cairn, trajectory_id, 'second');
    const made = await cairn.context.assemble({ scope_id, user_input: 'Why?', max_artifacts: 1, format: 'markdown' });
    const manifest = await cairn.manifests.get({ manifest_id: made.manifest_id });
    expect(manifest).toMatchObject({
      kind: 'assembly',
      trajectory_id,
      scope_id,
      agent_id: null,
      box_id: null,
      format: 'markdown',
      token_budget: 8000,
      token_count: made.token_count,
      truncated: false,
      content_hash: sha256(made.text!),
      entries_total: 3,
      sections: made.sections,
      parameters: { max_artifacts: 1, query_from: 'user_input', turns_total: 1 },
    });
    expect(manifest.entries).toEqual(made.trace);
    expect(manifest.entries.map(({ id, place, score }) => [id, place, score])).toEqual([
      [two.artifact_id, 1, null],
      [turn_id, 2, null],
      [expect.any(String), 3, null],
    ]);
    expect(manifest.entries.some(({ id }) => id === one.artifact_id)).toBe(false);
    // What outlives the content has no hash that would tell whether a guess at it was right.
    const kept = await test().store.driver.long(
      await tenantOf(cairn),
      sql`SELECT * FROM manifests WHERE tenant_id = ${await tenantOf(cairn)}`,
    );
    expect(JSON.stringify(kept)).not.toContain(sha256(made.text!));
    const [event] = await eventsOf(cairn, 'cairn.context.assembled', made.manifest_id);
    expect(event).toMatchObject({ token_count: made.token_count, content_hash: expect.stringMatching(/^keyed:/) });
  });

  it('MAN-2 texts of a request are cards of the scope, kept once, and go with it', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someTask(cairn);
    const input = { scope_id, instructions: 'zebra rules', user_input: 'zebra input', query: 'zebra query' };
    const first = await cairn.context.assemble(input);
    const second = await cairn.context.assemble({ ...input, user_input: 'other input' });
    const cardsOf = async (manifest_id: string) => {
      const { parameters } = await cairn.manifests.get({ manifest_id });
      return ['instructions', 'query', 'user_input'].map((name) => parameters[`${name}_card_id`] as string);
    };
    const [rules, query, said] = await cardsOf(first.manifest_id);
    expect(await cardsOf(second.manifest_id)).toEqual([rules, query, expect.not.stringMatching(said!)]);
    expect((await cairn.cards.get({ card_id: said! })).content).toBe('zebra input');
    expect(JSON.stringify(await cairn.manifests.get({ manifest_id: first.manifest_id }))).not.toContain('zebra');
    expect((await cairn.search.query({ query: 'zebra' })).results).toEqual([]);
    await cairn.scopes.close({ scope_id, wait: true });
    expect(await wordsLeft(test().store, await tenantOf(cairn), 'cards', ['zebra', 'other input'])).toEqual([]);
    const left = await cairn.manifests.get({ manifest_id: first.manifest_id });
    expect(left.content_hash).toMatch(/^keyed:/);
    expect((await cairn.manifests.list({ trajectory_id })).total).toBe(2);
    expect(await refusalOf(cairn.manifests.replay({ manifest_id: first.manifest_id }))).toMatchObject(gone);
  });

  it('MAN-3 MAN-4 a manifest keeps nothing alive: what is erased cannot be replayed, and is named', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someTask(cairn);
    const [turn_id] = await sayAll(cairn, scope_id, ['giraffe']);
    const { note_id } = await note(cairn, 'kept', 'a note', { abstraction_level: 'L2' });
    const made = await cairn.context.assemble({ trajectory_id });
    const { manifest_id } = made;
    await cairn.notes.update({ note_id, content: 'changed' });
    await sayAll(cairn, scope_id, ['later']);
    const again = await cairn.manifests.replay({ manifest_id });
    const { messages, content_hash, token_count, format } = made;
    expect(again).toEqual({
      manifest_id,
      kind: 'assembly',
      format,
      messages,
      text: null,
      cards: null,
      token_count,
      content_hash,
    });
    expect(content_hash).toBe(sha256(JSON.stringify(messages)));
    await cairn.scopes.close({ scope_id, wait: true });
    expect(await wordsLeft(test().store, await tenantOf(cairn), 'cards', ['giraffe'])).toEqual([]);
    expect(await refusalOf(cairn.manifests.replay({ manifest_id }))).toMatchObject({
      ...gone,
      details: { manifest_id, card_ids: [turn_id] },
    });
  });

  it('MAN-4 a context whose card was altered in the database is not replayed, assembled or packed', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const { scope_id } = await someTask(cairn);
    const [turn_id] = await sayAll(cairn, scope_id, ['true']);
    const assembled = await cairn.context.assemble({ scope_id });
    await cairn.cards.add({ card_id: 'c', content: 'true' });
    await cairn.boxes.create({ box_id: 'x', card_ids: ['c'], agent_id: 'planner' });
    await cairn.profiles.create({ name: 'coder' });
    await cairn.pmo.pack_context({
      tool_suffix: 'test',
      source_agent_id: 'planner',
      arguments: { profile_name: 'coder', instruction: 'do it', input_box_ids: ['x'] },
      handover: 'instruction',
    });
    const [packed] = (await cairn.manifests.list({ card_id: 'c' })).manifests;
    const alter = (text: string) =>
      test().store.driver.write(tenant, (tx) =>
        tx.run(
          sql`UPDATE cards SET content = ${text} WHERE tenant_id = ${tenant} AND card_id = ANY(${[turn_id!, 'c']})`,
        ),
      );
    const ids = [assembled.manifest_id, packed!.manifest_id];
    const before = [];
    for (const manifest_id of ids) before.push(await cairn.manifests.replay({ manifest_id }));
    await alter('"forged"');
    for (const manifest_id of ids)
      expect(await refusalOf(cairn.manifests.replay({ manifest_id }))).toMatchObject({
        code: 'STORAGE_FAILED',
        status: 500,
        message: expect.stringContaining('altered'),
      });
    await alter('"true"');
    for (const [i, manifest_id] of ids.entries())
      expect(await cairn.manifests.replay({ manifest_id })).toEqual(before[i]);
  });

  it('MAN-4 MAN-6 turns of a closed scope are replayed where it was restored, and found in contexts of both', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someTask(cairn);
    const [card_id] = await sayAll(cairn, scope_id, ['Hello.']);
    const { manifest_id, content_hash } = await cairn.context.assemble({ trajectory_id });
    await cairn.scopes.checkpoint({ scope_id, recoverable: true });
    await cairn.scopes.close({ scope_id, wait: true });
    const restored = await cairn.scopes.restore({ scope_id });
    expect((await cairn.manifests.replay({ manifest_id })).content_hash).toBe(content_hash);
    await sayAll(cairn, restored.scope_id, ['Again.']);
    const both = await cairn.context.assemble({ scope_id: restored.scope_id });
    const last = await cairn.context.assemble({ scope_id: restored.scope_id, max_turns: 1, max_passages: 0 });
    for (const { manifest_id, trace } of [both, last])
      expect((await cairn.manifests.get({ manifest_id })).entries).toEqual(trace);
    const { manifests } = await cairn.manifests.list({ card_id: card_id! });
    expect(manifests.map((one) => one.manifest_id)).toEqual([manifest_id, both.manifest_id]);
    expect(manifests).not.toContainEqual(expect.objectContaining({ manifest_id: last.manifest_id }));
  });

  it('MAN-11 turns that follow each other take little room in a manifest, which names them all', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someTask(cairn);
    const tenant = await tenantOf(cairn);
    await sayAll(
      cairn,
      scope_id,
      Array.from({ length: 60 }, (_, i) => `This is ${i}.`),
    );
    const second = await cairn.scopes.create({ trajectory_id, name: 'second' });
    await sayAll(cairn, second.scope_id, ['And more.', 'And the last.']);
    for (const max_turns of [50, 62]) {
      const { manifest_id, trace } = await cairn.context.assemble({ trajectory_id, max_turns });
      expect(trace.filter(({ section, place }) => section === 'turns' && place !== null)).toHaveLength(max_turns);
      expect((await cairn.manifests.get({ manifest_id })).entries).toEqual(trace);
      const [kept] = await test().store.driver.long<{ entries: string }>(
        tenant,
        sql`SELECT entries FROM manifests WHERE tenant_id = ${tenant} AND manifest_id = ${manifest_id}`,
      );
      expect(kept!.entries.length).toBeLessThan(10 * max_turns + 100 * (trace.length - max_turns) + 400);
    }
  });

  it('MAN-6 lists filter by trajectory, scope, kind and card, of assembled and packed contexts', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someTask(cairn);
    const [turn_id] = await sayAll(cairn, scope_id, ['Hello.']);
    const first = await cairn.context.assemble({ trajectory_id });
    const second = await cairn.context.assemble({ scope_id });
    const third = await cairn.context.assemble({ trajectory_id, include_turns: false, include_history: false });
    const listed = async (filter: object) =>
      (await cairn.manifests.list(filter)).manifests.map(({ manifest_id }) => manifest_id);
    const all = [first, second, third].map(({ manifest_id }) => manifest_id);
    expect(await listed({ trajectory_id })).toEqual(all);
    expect(await listed({ scope_id })).toEqual([second.manifest_id]);
    expect(await listed({ card_id: turn_id })).toEqual(all.slice(0, 2));
    expect(await listed({ card_id: turn_id, kind: 'packing' })).toEqual([]);
    expect(await listed({ card_id: 'nobody' })).toEqual([]);
    const page = await cairn.manifests.list({ trajectory_id, limit: 2 });
    expect(page.total).toBe(3);
    const rest = await cairn.manifests.list({ trajectory_id, limit: 2, cursor: page.next_cursor! });
    expect(rest.manifests.map(({ manifest_id }) => manifest_id)).toEqual([third.manifest_id]);
    const { id } = await cairn.memory.remember({ text: 'Hello is a greeting.' });
    const fourth = await cairn.context.assemble({ trajectory_id, user_input: 'What is a greeting?' });
    await cairn.notes.update({ note_id: id, content: 'Hello is a greeting of many.' });
    const fifth = await cairn.context.assemble({ trajectory_id, user_input: 'What is a greeting?' });
    expect(await listed({ card_id: id })).toEqual([fourth.manifest_id, fifth.manifest_id]);
  });

  it('MAN-7 the difference of two contexts: what came in, what went out, what stands otherwise', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someTask(cairn);
    const first = await artifact(cairn, trajectory_id, 'The invoice needs a number.');
    const second = await artifact(cairn, trajectory_id, 'The login fails.');
    await sayAll(cairn, scope_id, ['Hello.']);
    const input = { trajectory_id, max_passages: 0 };
    const before = await cairn.context.assemble({ ...input, query: 'login' });
    const [turn_id] = await sayAll(cairn, scope_id, ['And now?']);
    const after = await cairn.context.assemble({ ...input, query: 'invoice' });
    const diff = await cairn.manifests.diff({ manifest_id: after.manifest_id, against: before.manifest_id });
    expect(diff.came_in.map(({ id }) => id)).toEqual([turn_id]);
    expect(diff.went_out).toEqual([]);
    expect(diff.changed.map(({ id }) => id).sort()).toEqual([first.artifact_id, second.artifact_id].sort());
    expect(diff.tokens).toEqual({ before: before.token_count, after: after.token_count });
    expect(diff.same).toBe(false);
    const back = await cairn.manifests.diff({ manifest_id: before.manifest_id, against: after.manifest_id });
    expect(back.went_out.map(({ id }) => id)).toEqual([turn_id]);
    const again = await cairn.context.assemble({ ...input, query: 'invoice' });
    expect(await cairn.manifests.diff({ manifest_id: again.manifest_id, against: after.manifest_id })).toMatchObject({
      same: true,
      came_in: [],
      went_out: [],
      changed: [],
    });
  });

  it('MAN-8 MAN-6 a packed context has a manifest, by its box, its agent_turn and each of its cards', async () => {
    const cairn = await test().freshTenant();
    await cairn.profiles.create({ name: 'coder' });
    await cairn.cards.add_batch({
      cards: ['a', 'b'].map((card_id) => ({ card_id, content: `content of ${card_id}` })),
      atomic: true,
    });
    await cairn.boxes.create({ box_id: 'notes', card_ids: ['a', 'b'], agent_id: 'planner' });
    const packed = await cairn.pmo.pack_context({
      tool_suffix: 'test',
      source_agent_id: 'planner',
      arguments: { profile_name: 'coder', instruction: 'do it', input_box_ids: ['notes'] },
      handover: 'instruction',
    });
    const dispatched = await cairn.pmo.delegate_async({
      target_strategy: 'new',
      target_ref: 'coder',
      instruction: 'do it too',
      input_box_ids: ['notes'],
    });
    if (dispatched.status !== 'accepted') throw new Error(dispatched.message);
    const { manifests } = await cairn.manifests.list({ card_id: 'a' });
    expect(manifests.map(({ box_id }) => box_id)).toEqual([packed.context_box_id, dispatched.context_box_id]);
    expect(manifests[0]).toMatchObject({ kind: 'packing', agent_id: 'planner', agent_turn_id: null });
    const { agent_turn_id } = dispatched;
    const byTurn = await cairn.manifests.list({ agent_turn_id });
    expect(byTurn.manifests).toEqual([manifests[1]]);
    const { manifest_id } = manifests[0]!;
    const manifest = await cairn.manifests.get({ manifest_id });
    expect(manifest.entries.map(({ card_id }) => card_id)).toEqual(packed.attached_card_ids);
    const replayed = await cairn.manifests.replay({ manifest_id });
    const { content_hash, cards } = replayed;
    expect(manifest).toMatchObject({ entries_total: packed.attached_card_ids.length, content_hash });
    expect(manifest.token_count).toBe(await countTokens(JSON.stringify(cards)));
    const tokens = await Promise.all(cards!.map((card) => countTokens(JSON.stringify(card))));
    expect(manifest.entries.map((entry) => entry.tokens)).toEqual(tokens);
    expect(replayed.cards).toMatchObject(packed.attached_card_ids.map((card_id) => ({ card_id })));
    expect(replayed.content_hash).toBe(sha256(JSON.stringify(replayed.cards)));
    const diff = await cairn.manifests.diff({ manifest_id: manifests[1]!.manifest_id, against: manifest_id });
    expect(diff.changed).toEqual([]);
    expect(diff.came_in).not.toEqual([]);
  });

  it('MAN-9 manifests go with their trajectory', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someTask(cairn);
    const ofTask = await cairn.context.assemble({ trajectory_id, user_input: 'okapi' });
    const ofScope = await cairn.context.assemble({ scope_id, user_input: 'okapi, too' });
    await cairn.trajectories.delete({ trajectory_id, wait: true });
    for (const { manifest_id } of [ofTask, ofScope]) {
      expect(await refusalOf(cairn.manifests.get({ manifest_id }))).toMatchObject(missing);
      expect(await refusalOf(cairn.manifests.replay({ manifest_id }))).toMatchObject(missing);
    }
    expect((await cairn.manifests.list({})).total).toBe(0);
    expect(await wordsLeft(test().store, await tenantOf(cairn), 'cards', ['okapi'])).toEqual([]);
  });

  it('MAN-10 an agent sees its own contexts by the rules for Cards, and packed ones by their boxes', async () => {
    const admin = await test().freshTenant();
    const tenant = await tenantOf(admin);
    const ann = await test().as({ tenant, agent: 'ann' });
    const bob = await test().as({ tenant, agent: 'bob' });
    const { trajectory_id, scope_id } = await someTask(admin);
    await sayAll(admin, scope_id, ['Hello.']);
    const own = await ann.context.assemble({ trajectory_id });
    const other = await bob.context.assemble({ trajectory_id });
    const allow = (scope: 'own' | 'all', types: readonly string[]) =>
      admin.agents.update({
        agent_id: 'ann',
        memory_access: { read: types.map((memory_type) => ({ memory_type: memory_type as 'Card', scope })), write: [] },
      });
    await admin.agents.register({ agent_id: 'ann', agent_type: 'coder', capabilities: ['code'] });
    const listed = async () => (await ann.manifests.list({})).manifests.map(({ manifest_id }) => manifest_id);
    expect(await listed()).toEqual([own.manifest_id, other.manifest_id]);
    await allow('own', ['Card']);
    expect(await listed()).toEqual([own.manifest_id]);
    expect(await ann.manifests.get({ manifest_id: own.manifest_id })).toMatchObject({ agent_id: 'ann' });
    const forbidden = { code: 'FORBIDDEN', details: { rule: 'memory_access' } };
    expect(await refusalOf(ann.manifests.get({ manifest_id: other.manifest_id }))).toMatchObject(forbidden);
    expect(
      await refusalOf(ann.manifests.diff({ manifest_id: own.manifest_id, against: other.manifest_id })),
    ).toMatchObject(forbidden);
    // The turn in it was said by another, and Turns are beyond its reach now.
    expect(await refusalOf(ann.manifests.replay({ manifest_id: own.manifest_id }))).toMatchObject(forbidden);
    await allow('all', ['Card', 'Turn']);
    expect((await ann.manifests.replay({ manifest_id: own.manifest_id })).content_hash).toBe(own.content_hash);
    // What the request of another said are cards of the other's.
    const said = await bob.context.assemble({ trajectory_id, user_input: 'secret', include_turns: false });
    const { manifest_id, trace } = said;
    const card_id = trace.find(({ section }) => section === 'user_input')!.card_id;
    expect(await refusalOf(ann.cards.get({ card_id }))).toMatchObject(forbidden);
    expect(await refusalOf(ann.manifests.replay({ manifest_id }))).toMatchObject(forbidden);
    await allow('all', ['*']);
    expect((await ann.manifests.replay({ manifest_id })).messages).toEqual(said.messages);
    await bob.profiles.create({ name: 'coder' });
    await bob.pmo.pack_context({
      tool_suffix: 'test',
      source_agent_id: 'bob',
      arguments: { profile_name: 'coder', instruction: 'do it' },
      handover: 'instruction',
    });
    const { manifests } = await bob.manifests.list({ kind: 'packing' });
    expect(manifests).toHaveLength(1);
    expect((await ann.manifests.list({ kind: 'packing' })).total).toBe(0);
    expect(await refusalOf(ann.manifests.get({ manifest_id: manifests[0]!.manifest_id }))).toMatchObject({
      code: 'FORBIDDEN',
      details: { rule: 'box_owner_or_grant' },
    });
  });

  it('MAN-10 an agent that may read no artifacts is told that a passage is shown as a turn', async () => {
    const admin = await test().freshTenant();
    const ann = await test().as({ tenant: await tenantOf(admin), agent: 'ann' });
    const { trajectory_id, scope_id } = await someTask(admin);
    const [turn_id] = await sayAll(admin, scope_id, ['The invoice needs a number.', 'Good.']);
    const { manifest_id } = await ann.context.assemble({ trajectory_id, query: 'invoice number' });
    await admin.agents.register({
      agent_id: 'ann',
      agent_type: 'coder',
      capabilities: ['code'],
      memory_access: {
        read: ['Card', 'Turn'].map((memory_type) => ({ memory_type: memory_type as 'Card', scope: 'all' })),
        write: [],
      },
    });
    const { entries } = await ann.manifests.get({ manifest_id });
    expect(entries.find(({ section }) => section === 'passages')).toMatchObject({
      reason: 'shown_already',
      id: turn_id,
      by: turn_id,
    });
  });
});
