/** Searching: what is found, from when, and until when. */
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { beginRun, snapshotOf, thought } from '../../support/nouns/executions.js';
import { tenantOf } from '../../support/nouns/hierarchy.js';
import { closeScope, deleteTrajectory, finishTrajectory, newTrajectory } from '../../support/nouns/memory.js';
import { say, someScope } from '../../support/nouns/scopes.js';
import { found, note, theOne } from '../../support/nouns/search.js';
import { onEveryTarget } from '../../support/targets.js';

const HOUR = 3_600_000;
const tell = (id: string, content: string) => ({ ...thought(id, 0.5), content });

const link = (cairn: Api, edge_type: 'Supersedes' | 'Supports' | 'Contradicts', ...ends: [string, string][]) =>
  cairn.edges.create({
    edge_type,
    participants: ends.map(([entity_type, entity_id]) => ({ entity_type: entity_type as 'Note', entity_id })),
  });

onEveryTarget('search', (test) => {
  it('SEARCH-1 finds all that was written as soon as that is answered', async () => {
    const cairn = await test().freshTenant();
    const scope = await someScope(cairn);
    const { trajectory_id, scope_id } = scope;
    const turn = await say(cairn, scope_id, 'The heron waits.');
    expect(await found(cairn, 'herons')).toEqual([`Turn ${turn.turn_id}`]);
    const artifact = await cairn.artifacts.create({
      trajectory_id,
      artifact_type: 'Fact',
      name: 'bird',
      content: { seen: ['a heron'] },
    });
    expect(await found(cairn, 'heron')).toContain(`Artifact ${artifact.artifact_id}`);
    const { note_id } = await note(cairn, 'Grey.', { title: 'The heron' });
    expect(await found(cairn, 'heron')).toContain(`Note ${note_id}`);
    const { card_id } = await cairn.cards.add({ content: [{ type: 'text', text: 'heron' }] });
    expect(await found(cairn, 'heron')).toContain(`Card ${card_id}`);
    const packet = { packet_type: 'sighting', payload: { bird: 'heron' }, tags: ['pond'] };
    const { packet_id } = await cairn.packets.write(packet);
    expect(await found(cairn, 'heron')).toContain(`Packet ${packet_id}`);
    const checkpoint = await beginRun(cairn, 'run');
    await checkpoint('first', { thoughts: [tell('t-1', 'Where is the heron?')] });
    expect(await found(cairn, 'heron')).toHaveLength(6);
    expect(await found(cairn, 'heron', { entity_types: ['thought', 'packet'] })).toHaveLength(2);
    expect((await cairn.notes.search({ query: 'heron' })).results.map(({ id }) => id)).toEqual([note_id]);
    expect((await cairn.artifacts.search({ query: 'heron' })).results.map(({ id }) => id)).toEqual([
      artifact.artifact_id,
    ]);
  });

  it('SEARCH-1 finds what came in batches and by import', async () => {
    const cairn = await test().freshTenant();
    const scope = await someScope(cairn);
    const items = ['otter one', 'otter two'].map((content) => ({
      create: { scope_id: scope.scope_id, role: 'User' as const, content },
    }));
    await cairn.turns.batch({ items });
    const { trajectory_id } = scope;
    const artifact = { trajectory_id, artifact_type: 'Fact', name: 'n', content: 'otter three' };
    await cairn.artifacts.batch({ items: [{ operation: 'create', create: artifact }] });
    const create = { note_type: 'Fact', title: 't', content: 'otter four' };
    await cairn.notes.batch({ items: [{ operation: 'create', create }] });
    await cairn.cards.add_batch({ cards: [{ content: 'otter five' }, { content: 'otter six' }] });
    const packets = [{ packet_type: 'said', payload: { what: 'otter seven' } }];
    await cairn.packets.write_batch({ packets });
    expect(await found(cairn, 'otter')).toHaveLength(7);
    const checkpoint = await beginRun(cairn, 'run');
    await checkpoint('first', { thoughts: [tell('t-1', 'an otter')] });
    const bundle = await cairn.executions.export({ execution_id: 'run' });
    const other = await test().freshTenant();
    await other.executions.import({ bundle } as never);
    expect(await found(other, 'otter')).toEqual(['Thought t-1']);
  });

  it('SEARCH-1 finds a thought of each execution, once, and tells the checkpoint that brought it', async () => {
    const cairn = await test().freshTenant();
    const one = await beginRun(cairn, 'one');
    const two = await beginRun(cairn, 'two');
    await one('one-1', { thoughts: [tell('t', 'a marten')] });
    await one('one-2', { thoughts: [tell('t', 'a marten')] });
    await one('one-3', { thoughts: [tell('t', 'a marten, surely')] });
    await two('two-1', { thoughts: [tell('t', 'another marten')] });
    const { results, total } = await cairn.search.query({ query: 'marten' });
    expect(results.map(({ checkpoint_id }) => checkpoint_id).sort()).toEqual(['one-3', 'two-1']);
    expect(total).toBe(2);
    await cairn.executions.delete({ execution_id: 'one' });
    expect((await theOne(cairn, 'marten')).checkpoint_id).toBe('two-1');
  });

  it('SEARCH-2 finds a change by its new words, and not by the old', async () => {
    const cairn = await test().freshTenant();
    const { note_id } = await note(cairn, 'The kettle is green.', { metadata: { tags: ['kitchen'] } });
    await cairn.notes.update({ note_id, content: 'The teapot is green.' });
    expect(await found(cairn, 'kettle')).toEqual([]);
    expect(await found(cairn, 'teapot')).toEqual([`Note ${note_id}`]);
    expect(await found(cairn, 'green')).toEqual([`Note ${note_id}`]);
    await cairn.notes.update({ note_id, title: 'crockery', metadata: {} });
    expect(await found(cairn, 'crockery teapot')).toEqual([`Note ${note_id}`]);
    expect(await found(cairn, 'kitchen')).toEqual([]);
    const trajectory_id = await newTrajectory(cairn);
    const made = await cairn.artifacts.create({ trajectory_id, artifact_type: 'Fact', name: 'n', content: 'saucer' });
    await cairn.artifacts.update({ artifact_id: made.artifact_id, content: 'plate' });
    expect(await found(cairn, 'saucer')).toEqual([]);
    expect(await found(cairn, 'plate')).toEqual([`Artifact ${made.artifact_id}`]);
    expect(await theOne(cairn, 'plate')).toMatchObject({ name: 'n', type: 'Fact', trajectory_id });
  });

  it('SEARCH-13 finds by common words alone what has no others, or is named so', async () => {
    const cairn = await test().freshTenant();
    const { note_id } = await note(cairn, 'a band from London', { title: 'The Who' });
    const { card_id } = await cairn.cards.add({ content: 'Who is this?' });
    await cairn.cards.add({ content: 'the owl, who waits' });
    expect((await found(cairn, 'The Who')).sort()).toEqual([`Card ${card_id}`, `Note ${note_id}`]);
    expect(await found(cairn, 'Who was in London?')).toEqual([`Note ${note_id}`]);
  });

  it('SEARCH-3 finds nothing that has expired or was deleted', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    const short = { ttl: 'ShortTerm' as const };
    const kept = await note(cairn, 'walrus', short);
    await note(cairn, 'walrus', short);
    const fact = { trajectory_id, artifact_type: 'Fact', name: 'n', content: 'walrus' };
    await cairn.artifacts.create({ ...fact, ...short });
    await cairn.cards.add({ content: 'walrus', ttl_seconds: 60 });
    const ttl = new Date(Date.now() + 365 * 24 * HOUR).toISOString();
    const { packet_id } = await cairn.packets.write({ packet_type: 'said', payload: { a: 'walrus' }, ttl });
    expect(await found(cairn, 'walrus')).toHaveLength(5);
    await cairn.notes.update({ note_id: kept.note_id, ttl: 'LongTerm' });
    test().advance(2 * HOUR);
    expect((await found(cairn, 'walrus')).sort()).toEqual([`Note ${kept.note_id}`, `Packet ${packet_id}`]);
    await cairn.notes.update({ note_id: kept.note_id, ttl: 'Permanent' });
    test().advance(366 * 24 * HOUR);
    expect(await found(cairn, 'walrus')).toEqual([`Note ${kept.note_id}`]);
    await cairn.lifetime.sweep();
    expect(await found(cairn, 'walrus')).toEqual([`Note ${kept.note_id}`]);
    await cairn.notes.delete({ note_id: kept.note_id });
    const { artifact_id } = await cairn.artifacts.create(fact);
    const { card_id } = await cairn.cards.add({ content: 'walrus' });
    expect(await found(cairn, 'walrus')).toHaveLength(2);
    await cairn.artifacts.delete({ artifact_id });
    await cairn.cards.delete({ card_id });
    expect(await cairn.search.query({ query: 'walrus' })).toEqual({ results: [], next_cursor: null, total: 0 });
  });

  it('SEARCH-3 finds nothing of a closed scope, an ended session and a deleted trajectory', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someScope(cairn);
    await say(cairn, scope_id, 'a puffin');
    const fact = { trajectory_id, artifact_type: 'Fact', name: 'n', content: 'puffin' };
    await cairn.artifacts.create({ ...fact, scope_id, ttl: 'Scope' });
    const session = await cairn.artifacts.create({ ...fact, ttl: 'Session' });
    const own = await note(cairn, 'puffin', { source_trajectory_ids: [trajectory_id], ttl: 'Session' });
    const lasting = await cairn.artifacts.create(fact);
    const stays = await note(cairn, 'puffin', { source_trajectory_ids: [trajectory_id] });
    expect(await found(cairn, 'puffin')).toHaveLength(6);
    await cairn.scopes.close({ scope_id });
    const left = [`Artifact ${session.artifact_id}`, `Note ${own.note_id}`];
    const both = [`Artifact ${lasting.artifact_id}`, `Note ${stays.note_id}`];
    expect((await found(cairn, 'puffin')).sort()).toEqual([...left, ...both].sort());
    await finishTrajectory(cairn, trajectory_id);
    expect((await found(cairn, 'puffin')).sort()).toEqual(both.sort());
    await deleteTrajectory(cairn, trajectory_id);
    expect(await found(cairn, 'puffin')).toEqual([`Note ${stays.note_id}`]);
  });

  it('SEARCH-3 finds nothing that something else supersedes, as long as that can be read', async () => {
    const cairn = await test().freshTenant();
    const old = await note(cairn, 'The ibis is white.');
    const fresh = await note(cairn, 'It is black.', { ttl: 'ShortTerm' });
    await link(cairn, 'Supersedes', ['Note', fresh.note_id], ['Note', old.note_id]);
    expect(await cairn.search.query({ query: 'ibis' })).toMatchObject({ results: [], total: 0 });
    expect(await found(cairn, '')).toEqual([`Note ${fresh.note_id}`]);
    const { scope_id } = await someScope(cairn);
    const turns = [await say(cairn, scope_id, 'ibis, I said'), await say(cairn, scope_id, 'no: a stork')];
    await link(cairn, 'Supersedes', ['Turn', turns[1]!.turn_id], ['Turn', turns[0]!.turn_id]);
    expect(await found(cairn, 'ibis')).toEqual([`Turn ${turns[1]!.turn_id}`]);
    test().advance(2 * HOUR);
    expect(await found(cairn, 'ibis white')).toContain(`Note ${old.note_id}`);
    const cards = [await cairn.cards.add({ content: 'crake' }), await cairn.cards.add({ content: 'rail' })];
    const [from, to] = [cards[1]!.card_id, cards[0]!.card_id];
    const { edge_id } = await link(cairn, 'Supersedes', ['Card', from], ['Card', to]);
    expect(await found(cairn, 'crake')).toEqual([]);
    await cairn.edges.delete({ edge_id });
    expect(await found(cairn, 'crake')).toEqual([`Card ${to}`]);
  });

  it('SEARCH-3 takes a card, a packet and a thought of the same id for three things', async () => {
    const cairn = await test().freshTenant();
    const { execution_id } = await cairn.executions.create({});
    const snapshot = snapshotOf({ thoughts: [tell('t-1', 'a quokka thought')] });
    const { id: checkpoint_id } = await cairn.checkpoints.create({ execution_id, snapshot });
    await cairn.cards.add({ card_id: `${checkpoint_id}/t-1`, content: 'a card of that name' });
    const { card_id } = await cairn.cards.add({ content: 'a card: quokka' });
    await cairn.packets.write({ packet_id: card_id, packet_type: 'sighting', payload: { said: 'a quokka packet' } });
    const texts = async () => {
      const { results } = await cairn.search.query({ query: 'quokka' });
      return results.map(({ entity_type, snippet }) => `${entity_type} ${snippet.includes('quokka')}`).sort();
    };
    expect(await texts()).toEqual(['Card true', 'Packet true', 'Thought true']);
    const { card_id: other } = await cairn.cards.add({ content: 'better' });
    await link(cairn, 'Supersedes', ['Card', other], ['Card', card_id]);
    expect(await texts()).toEqual(['Packet true', 'Thought true']);
    await cairn.cards.delete({ card_id });
    await cairn.cards.delete({ card_id: `${checkpoint_id}/t-1` });
    expect(await texts()).toEqual(['Packet true', 'Thought true']);
  });

  it('SEARCH-4 finds turns of a closed scope in an open one that was restored from it, and only those it has', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someScope(cairn);
    const early = await say(cairn, scope_id, 'a plover by the sea');
    await cairn.scopes.checkpoint({ scope_id });
    const late = await say(cairn, scope_id, 'a plover in the dunes');
    // A sealed box keeps what the later turn says, but shows it to nobody else.
    const { box_id } = await cairn.scopes.get({ scope_id });
    await cairn.boxes.fork({ box_id, new_box_id: 'pins' } as never);
    await cairn.boxes.seal({ box_id: 'pins' });
    await closeScope(cairn, scope_id);
    expect(await found(cairn, 'plover')).toEqual([]);
    const second = await cairn.scopes.restore({ scope_id });
    expect(await found(cairn, 'plover')).toEqual([`Turn ${early.turn_id}`]);
    expect(await found(cairn, 'plover')).not.toContain(`Turn ${late.turn_id}`);
    const shown = await theOne(cairn, 'plover');
    expect(shown).toMatchObject({ scope_id: second.scope_id, sequence: 1, trajectory_id });
    expect(await cairn.turns.get({ turn_id: early.turn_id })).toMatchObject({ scope_id: shown.scope_id });
    const more = await say(cairn, second.scope_id, 'the plover has gone');
    await cairn.scopes.checkpoint({ scope_id: second.scope_id });
    await closeScope(cairn, second.scope_id);
    const third = await cairn.scopes.restore({ scope_id: second.scope_id });
    const both = [`Turn ${early.turn_id}`, `Turn ${more.turn_id}`].sort();
    expect((await found(cairn, 'plover')).sort()).toEqual(both);
    expect((await found(cairn, 'plover', { scope_id: third.scope_id })).sort()).toEqual(both);
    await closeScope(cairn, third.scope_id);
    expect(await found(cairn, 'plover')).toEqual([]);
  });

  it("SEARCH-5 shows nothing of another tenant, whose words change no tenant's scores", async () => {
    const cairn = await test().freshTenant();
    const other = await test().freshTenant();
    for (const text of ['a lynx sleeps', 'a lynx runs far', 'a hare runs']) await note(cairn, text);
    const before = await cairn.search.query({ query: 'where does the lynx run' });
    expect(before.results.length).toBeGreaterThan(1);
    for (let i = 0; i < 20; i++) await note(other, `lynx ${i}`);
    expect(await cairn.search.query({ query: 'where does the lynx run' })).toEqual(before);
    expect((await found(other, 'sleeping hare')).length).toBe(0);
    expect(await tenantOf(cairn)).not.toBe(await tenantOf(other));
  });

  it('SEARCH-6 finds a note in each trajectory that it was learned in', async () => {
    const cairn = await test().freshTenant();
    const [one, two] = [await newTrajectory(cairn), await newTrajectory(cairn)];
    const learned = await note(cairn, 'a vole', { source_trajectory_ids: [one, two] });
    await note(cairn, 'a vole');
    expect(await found(cairn, 'vole', { trajectory_id: one })).toEqual([`Note ${learned.note_id}`]);
    await cairn.notes.update({ note_id: learned.note_id, content: 'a water vole' });
    expect(await found(cairn, 'vole', { trajectory_id: one })).toEqual([`Note ${learned.note_id}`]);
    expect(await found(cairn, 'vole', { trajectory_id: two })).toEqual([`Note ${learned.note_id}`]);
    await deleteTrajectory(cairn, two);
    expect(await found(cairn, 'vole', { trajectory_id: two })).toEqual([]);
    const filters = [{ field: 'trajectory_id', operator: 'eq', value: one }] as never;
    expect(await found(cairn, '', { filters })).toEqual([`Note ${learned.note_id}`]);
  });

  it('SEARCH-7 tells of each what it is', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someScope(cairn);
    const turn = await cairn.turns.add({
      scope_id,
      role: 'Assistant',
      content: 'I saw a dunlin.',
      metadata: { speaker: 'Anna', occurred_at: '2023-05-08T13:56:00Z', tags: ['shore', 'bird'] },
    });
    expect(await theOne(cairn, 'dunlin')).toEqual({
      entity_type: 'Turn',
      id: turn.turn_id,
      checkpoint_id: null,
      name: null,
      score: expect.any(Number),
      matched: ['dunlin'],
      nearby: [],
      boosts: expect.any(Array),
      type: null,
      trajectory_id,
      scope_id,
      sequence: 1,
      role: 'assistant',
      speaker: 'Anna',
      agent_id: null,
      abstraction_level: 'L0',
      category: 'ephemeral',
      tags: ['shore', 'bird'],
      occurred_at: '2023-05-08T13:56:00.000Z',
      created_at: turn.created_at,
      related: [],
      snippet: 'I saw a dunlin.',
      highlights: [{ start: 8, end: 14 }],
    });
    const answered = { scope_id, role: 'Tool', tool_results: [{ answer: 'A whimbrel.' }] };
    await cairn.turns.add(answered);
    const { results: heard } = await cairn.search.query({ query: 'whimbrel' });
    expect(heard[0]!.snippet).toBe('A whimbrel.');
    const made = await note(cairn, 'A godwit.', { agent_id: 'ann', abstraction_level: 'L2' });
    expect(await theOne(cairn, 'godwit')).toMatchObject({ id: made.note_id, agent_id: 'ann', abstraction_level: 'L2' });
    const categories: [string, () => Promise<unknown>][] = [
      ['semantic', () => note(cairn, 'teal')],
      ['procedural', () => note(cairn, 'teal', { note_type: 'Procedure' })],
      ['working', () => note(cairn, 'teal', { ttl: 'Session', source_trajectory_ids: [trajectory_id] })],
      ['episodic', () => cairn.cards.add({ content: 'teal' })],
      ['working', () => cairn.cards.add({ content: 'teal', ttl_seconds: 9000 })],
      ['episodic', () => cairn.packets.write({ packet_type: 'said', payload: { a: 'teal' } })],
      [
        'working',
        async () => {
          await cairn.executions.create({ execution_id: 'e' });
          const snapshot = snapshotOf({ thoughts: [tell('x', 'teal')] });
          return cairn.checkpoints.create({ execution_id: 'e', snapshot });
        },
      ],
    ];
    for (const [, make] of categories) await make();
    const { results } = await cairn.search.query({ query: 'teal', limit: 50 });
    expect(results.map(({ category }) => category).sort()).toEqual(categories.map(([one]) => one).sort());
  });

  it('SEARCH-8 brings what supports or contradicts what was found, as far as that can be read', async () => {
    const cairn = await test().freshTenant();
    const claim = await note(cairn, 'The curlew nests here.');
    const proof = await note(cairn, 'Eggs were seen.', { title: 'eggs' });
    const doubt = await cairn.cards.add({ content: 'No nest in sight.' });
    const late = await note(cairn, 'Feathers.', { ttl: 'ShortTerm' });
    const replaced = await note(cairn, 'Tracks.');
    const better = await note(cairn, 'Prints.');
    const at: [string, string] = ['Note', claim.note_id];
    await link(cairn, 'Supports', ['Note', proof.note_id], at);
    await link(cairn, 'Contradicts', at, ['Card', doubt.card_id]);
    await link(cairn, 'Supports', ['Note', late.note_id], at);
    await link(cairn, 'Supports', ['Note', late.note_id], at);
    await link(cairn, 'Supports', ['Note', replaced.note_id], at);
    await link(cairn, 'Supersedes', ['Note', better.note_id], ['Note', replaced.note_id]);
    await link(cairn, 'Supports', ['Note', proof.note_id], ['Note', better.note_id], ['Note', replaced.note_id]);
    const related = async () =>
      (await theOne(cairn, 'curlew')).related.map((one) => `${one.edge_type} ${one.direction} ${one.snippet}`).sort();
    expect(await related()).toEqual([
      'Contradicts to No nest in sight.',
      'Supports from Eggs were seen.',
      'Supports from Feathers.',
    ]);
    // Two that one thing supports do not support each other.
    expect((await theOne(cairn, 'prints')).related.map(({ id }) => id)).toEqual([proof.note_id]);
    test().advance(2 * HOUR);
    await cairn.cards.delete({ card_id: doubt.card_id });
    expect(await related()).toEqual(['Supports from Eggs were seen.']);
  });

  it('SEARCH-8 what very many support takes nothing from what stands beside it', async () => {
    const cairn = await test().freshTenant();
    const ends: [string, string][] = [];
    for (let i = 0; i < 99; i++) ends.push(['Card', (await cairn.cards.add({ content: `proof ${i}` })).card_id]);
    const known = await note(cairn, 'The gannet dives.', { title: 'known' });
    const other = await note(cairn, 'The gannet nests.', { title: 'other' });
    for (let i = 0; i < 6; i++) await link(cairn, 'Contradicts', ['Note', known.note_id], ...ends);
    await link(cairn, 'Supports', ends[0]!, ['Note', other.note_id]);
    const { results } = await cairn.search.query({ query: 'gannet' });
    const related = results.map(({ name, related: all }) => `${name} ${all.length}`).sort();
    expect(related).toEqual(['known 5', 'other 1']);
  });
});
