/** Versions of artifacts and notes: changing, deleting, reading what was, counting, batches, events. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import type { EdgeType, EntityType } from '#cairn/memory/edges/model.js';
import { insertEdges, linksOf, settleEdges } from '#cairn/memory/edges/store.js';
import { newScope, newTrajectory } from '../support/nouns/memory.js';
import { followToNow, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const fact = { note_type: 'Fact', title: 'sky', content: 'blue' };
const invalid = { code: 'INVALID_INPUT', status: 400 };
const missing = { code: 'NOTE_NOT_FOUND', status: 404 };

onEveryTarget('versions', (test) => {
  const newNote = async (cairn: Api, more: object = {}) => (await cairn.notes.create({ ...fact, ...more })).note_id;

  /** A moment that lies between what was before it and what comes after. */
  const moment = (): string => {
    test().advance(1000);
    const now = new Date(test().store.driver.now()).toISOString();
    test().advance(1000);
    return now;
  };

  const link = async (cairn: Api, edge_type: EdgeType, ...ends: [EntityType, string][]) => {
    const { tenant_id } = await cairn.auth.whoami();
    const { driver } = test().store;
    const participants = ends.map(([entity_type, entity_id]) => ({ entity_type, entity_id, role: null }));
    const body = '{"metadata":{},"provenance":null,"weight":null}';
    const edge = { edge_id: randomUUID(), edge_type, agent_id: null, body, sent_hash: null, participants };
    await driver.write(tenant_id, async (tx) => {
      await insertEdges(tx, [edge]);
      await settleEdges(tx, [edge.edge_id], driver.now());
    });
  };

  it('VERSION-1 a change is a new version with a card of its own', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.notes.create({ ...fact, metadata: { a: 1 }, confidence: 0.5, agent_id: 'ann' });
    test().advance(1000);
    const second = await cairn.notes.update({ note_id: first.note_id, content: { now: 'grey' } });
    expect(second).toMatchObject({
      ...first,
      content: { now: 'grey' },
      version: 2,
      card_id: second.card_id,
      content_hash: second.content_hash,
      token_count: second.token_count,
      updated_at: second.updated_at,
    });
    expect(second.card_id).not.toBe(first.card_id);
    expect(second.content_hash).not.toBe(first.content_hash);
    expect(second.created_at < second.updated_at).toBe(true);
    const changes = { note_type: 'Meta', title: 'roof', abstraction_level: 'L2' as const };
    const third = await cairn.notes.update({ note_id: first.note_id, ...changes, confidence: null, metadata: {} });
    expect(third).toMatchObject({ ...changes, content: { now: 'grey' }, confidence: null, metadata: {}, version: 3 });
    const read = await cairn.notes.get({ note_id: first.note_id });
    expect({ ...read, access_count: 0, accessed_at: null }).toEqual(third);
    expect((await cairn.cards.get({ card_id: first.card_id })).content).toBe('blue');
    const { tenant_id } = await cairn.auth.whoami();
    const links = await linksOf(test().store.driver.at(tenant_id), [second.card_id], ['Supersedes']);
    expect(links.map(({ of_position, entity_id }) => [of_position, entity_id])).toEqual([
      [1, first.card_id],
      [2, third.card_id],
    ]);
  });

  it('VERSION-1 an artifact keeps where it came from', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    const { scope_id } = await newScope(cairn, trajectory_id, 2);
    const made = await cairn.artifacts.create({
      trajectory_id,
      scope_id,
      source_turn: 2,
      artifact_type: 'Code',
      name: 'a.ts',
      content: 'x',
      extraction_method: 'Inferred',
    });
    const changed = await cairn.artifacts.update({
      artifact_id: made.artifact_id,
      confidence: 0.25,
      artifact_type: 'Plan',
    });
    expect(changed).toMatchObject({
      trajectory_id,
      scope_id,
      artifact_type: 'Plan',
      provenance: { source_turn: 2, extraction_method: 'Inferred', confidence: 0.25 },
      version: 2,
    });
  });

  it('VERSION-2 a change of nothing is refused or does nothing', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.notes.create({ ...fact, metadata: { a: 1, b: 2 } });
    const { note_id } = made;
    expect(await refusalOf(cairn.notes.update({ note_id }))).toMatchObject(invalid);
    expect(await refusalOf(cairn.notes.update({ note_id, version: 1 }))).toMatchObject(invalid);
    const token = await latestToken(cairn);
    const same = { title: 'sky', content: 'blue', ttl: 'Persistent' as const, metadata: { b: 2, a: 1 } };
    expect(await cairn.notes.update({ note_id, ...same })).toEqual(made);
    expect(await latestToken(cairn)).toBe(token);
    expect((await cairn.notes.history({ note_id })).total).toBe(1);
  });

  it('VERSION-3 changes at once all land, each as a version', async () => {
    const cairn = await test().freshTenant();
    const note_id = await newNote(cairn);
    const contents = Array.from({ length: 20 }, (_, i) => `content ${i}`);
    const made = await Promise.all(contents.map((content) => cairn.notes.update({ note_id, content })));
    expect(made.map(({ version }) => version).sort((a, b) => a - b)).toEqual(contents.map((_, i) => i + 2));
    const { versions } = await cairn.notes.history({ note_id });
    expect(versions.map(({ version }) => version)).toEqual([1, ...contents.map((_, i) => i + 2)]);
    expect(new Set(versions.map(({ content }) => content)).size).toBe(21);
    for (const [i, one] of versions.entries()) {
      expect(one.updated_at < '3000').toBe(true);
      expect(one.superseded_at).toBe(versions[i + 1]?.updated_at ?? null);
    }
    for (const one of made) expect(versions[one.version - 1]).toMatchObject({ ...one, superseded_by: [] });
  });

  it('VERSION-3 a change that names its version is refused when that is no longer current', async () => {
    const cairn = await test().freshTenant();
    const note_id = await newNote(cairn);
    const attempts = await Promise.allSettled(
      [1, 2, 3, 4].map((i) => cairn.notes.update({ note_id, version: 1, content: `by ${i}` })),
    );
    const lost = attempts.filter((one) => one.status === 'rejected');
    expect(lost.length).toBe(3);
    for (const { reason } of lost)
      expect(reason).toMatchObject({ code: 'CONCURRENT_MODIFICATION', details: { version: 2 } });
    expect(await cairn.notes.update({ note_id, version: 2, content: 'next' })).toMatchObject({ version: 3 });
  });

  it('VERSION-4 as_of gives what was known then, by id and in lists', async () => {
    const cairn = await test().freshTenant();
    const before = moment();
    const note_id = await newNote(cairn);
    const other = await newNote(cairn, { title: 'other' });
    const t1 = moment();
    await cairn.notes.update({ note_id, content: 'grey', title: 'roof' });
    const t2 = moment();
    await cairn.notes.delete({ note_id });
    await link(cairn, 'Supersedes', ['Note', await newNote(cairn)], ['Note', other]);
    const t3 = moment();
    const get = async (as_of: string) => (await cairn.notes.get({ note_id, as_of })).content;
    expect([await get(t1), await get(t2)]).toEqual(['blue', 'grey']);
    expect(await refusalOf(get(before))).toMatchObject(missing);
    expect(await refusalOf(get(t3))).toMatchObject(missing);
    const list = async (as_of: string, more = {}) => {
      const { notes, total } = await cairn.notes.list({ as_of, ...more });
      expect(total).toBe(notes.length);
      return notes.map(({ title }) => title);
    };
    expect(await list(before)).toEqual([]);
    expect(await list(t1)).toEqual(['sky', 'other']);
    expect(await list(t2)).toEqual(['roof', 'other']);
    expect(await list(t2, { title: 'sky' })).toEqual([]);
    expect(await list(t3)).toEqual(['sky']);
    expect(await list(t3, { include_superseded: true })).toEqual(['other', 'sky']);
    const then = await cairn.notes.get({ note_id: other, as_of: t2 });
    const now = await cairn.notes.get({ note_id: other, as_of: t3 });
    expect([then.superseded_by.length, now.superseded_by.length]).toEqual([0, 1]);
    const page = await cairn.notes.list({ as_of: t2, limit: 1 });
    const next = await cairn.notes.list({ as_of: t2, limit: 1, cursor: page.next_cursor! });
    expect([page.notes[0]!.title, next.notes[0]!.title]).toEqual(['roof', 'other']);
  });

  it('VERSION-4 at the very moment of a change or deletion as_of has what came of it, a millisecond before what was', async () => {
    const cairn = await test().freshTenant();
    const { trajectory_id } = await cairn.trajectories.create({ name: 't' });
    const { artifact_id } = await cairn.artifacts.create({
      trajectory_id,
      artifact_type: 'Fact',
      name: 'a',
      content: 'x',
    });
    test().advance(1000);
    const note_id = await newNote(cairn, { source_artifact_ids: [artifact_id] });
    /** When the newest event was recorded, and the millisecond before. */
    const recorded = async (): Promise<[at: string, before: string]> => {
      const [event] = (await cairn.packets.list({ limit: 1 })).packets;
      const before = new Date(Date.parse(event!.recorded_at) - 1).toISOString();
      // So that what comes next is not of the same millisecond.
      test().advance(1000);
      return [event!.recorded_at, before];
    };
    const state = async (as_of: string) => {
      const { notes, total } = await cairn.notes.list({ as_of });
      const { artifacts } = await cairn.artifacts.list({ as_of });
      const note = await cairn.notes.get({ note_id, as_of }).catch(({ code }) => code as string);
      const artifact = await cairn.artifacts.get({ artifact_id, as_of }).catch(({ code }) => code as string);
      expect(total).toBe(notes.length);
      return [
        typeof note === 'string' ? note : [note.content, note.source_artifact_ids.length],
        typeof artifact === 'string' ? artifact : artifact.content,
        notes.map(({ content }) => content),
        artifacts.length,
      ];
    };
    const [created, earlier] = await recorded();
    expect(await state(earlier)).toEqual(['NOTE_NOT_FOUND', 'x', [], 1]);
    expect(await state(created)).toEqual([['blue', 1], 'x', ['blue'], 1]);
    await cairn.notes.update({ note_id, content: 'grey' });
    const [changed, unchanged] = await recorded();
    expect(await state(unchanged)).toEqual([['blue', 1], 'x', ['blue'], 1]);
    expect(await state(changed)).toEqual([['grey', 1], 'x', ['grey'], 1]);
    const [edge] = (await cairn.edges.list({ entity_id: note_id, edge_type: 'DerivedFrom' })).edges;
    await cairn.edges.delete({ edge_id: edge!.edge_id });
    const [unlinked, linked] = await recorded();
    expect(await state(linked)).toEqual([['grey', 1], 'x', ['grey'], 1]);
    expect(await state(unlinked)).toEqual([['grey', 0], 'x', ['grey'], 1]);
    await cairn.artifacts.delete({ artifact_id });
    await recorded();
    await cairn.notes.delete({ note_id });
    const [deleted, there] = await recorded();
    expect(await state(there)).toEqual([['grey', 0], 'ARTIFACT_NOT_FOUND', ['grey'], 0]);
    expect(await state(deleted)).toEqual(['NOTE_NOT_FOUND', 'ARTIFACT_NOT_FOUND', [], 0]);
  });

  it('VERSION-4 times filter versions as they are asked for', async () => {
    const cairn = await test().freshTenant();
    const start = moment();
    const one = await newNote(cairn);
    const between = moment();
    const two = await newNote(cairn);
    await cairn.notes.update({ note_id: one, content: 'grey' });
    const end = moment();
    const found = async (filter: object) =>
      (await cairn.notes.list(filter)).notes.map(({ note_id }) => (note_id === one ? 1 : 2));
    expect(await found({ created_after: between })).toEqual([2]);
    expect(await found({ created_before: between })).toEqual([1]);
    expect(await found({ updated_after: between })).toEqual([1, 2]);
    expect(await found({ updated_before: between })).toEqual([]);
    expect(await found({ updated_before: between, as_of: between })).toEqual([1]);
    expect(await found({ created_after: start, created_before: end })).toEqual([1, 2]);
    expect([one < two, await found({ created_after: end })]).toEqual([true, []]);
  });

  it('VERSION-5 the answer as of a moment never changes', async () => {
    const cairn = await test().freshTenant();
    for (let round = 0; round < 10; round++) {
      const note_id = await newNote(cairn);
      // The clock may well be in the millisecond in which the note was made, and the change comes in it too.
      const as_of = new Date(test().store.driver.now()).toISOString();
      const first = await cairn.notes.get({ note_id, as_of }).catch((error: unknown) => error);
      const list = await cairn.notes.list({ as_of });
      const changed = await cairn.notes.update({ note_id, content: 'grey' });
      expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(as_of));
      expect(await cairn.notes.get({ note_id, as_of }).catch((error: unknown) => error)).toEqual(first);
      await cairn.notes.delete({ note_id });
      await newNote(cairn);
      expect(await cairn.notes.get({ note_id, as_of }).catch((error: unknown) => error)).toEqual(first);
      expect(await cairn.notes.list({ as_of })).toEqual(list);
    }
    const as_of = new Date(test().store.driver.now() + 60_000).toISOString();
    const note_id = await newNote(cairn);
    expect(await refusalOf(cairn.notes.get({ note_id, as_of }))).toMatchObject(invalid);
    expect(await refusalOf(cairn.notes.list({ as_of }))).toMatchObject(invalid);
  });

  it('VERSION-5 the clock does not go back from one write to the next', async () => {
    const cairn = await test().freshTenant();
    const { driver } = test().store;
    let last = driver.now();
    for (let i = 0; i < 100; i++) {
      await cairn.cards.add({ content: i });
      const now = driver.now();
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
  });

  it('VERSION-5 a moment that the store has recorded has passed, whatever the clock says', async () => {
    const cairn = await test().freshTenant();
    const note_id = await newNote(cairn);
    const { updated_at: as_of } = await cairn.notes.update({ note_id, content: 'grey' });
    test().advance(-60_000);
    try {
      expect(await cairn.notes.get({ note_id, as_of })).toMatchObject({ version: 2, content: 'grey' });
      const later = new Date(Date.parse(as_of) + 2).toISOString();
      expect(await refusalOf(cairn.notes.get({ note_id, as_of: later }))).toMatchObject(invalid);
      const { updated_at } = await cairn.notes.update({ note_id, content: 'blue' });
      expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(as_of));
      expect(await cairn.notes.get({ note_id, as_of })).toMatchObject({ version: 2, content: 'grey' });
    } finally {
      test().advance(60_000);
    }
  });

  it('VERSION-6 what is deleted is gone from all reads but those of what was', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    const made = await cairn.artifacts.create({ trajectory_id, artifact_type: 'Fact', name: 'n', content: 'c' });
    const { artifact_id } = made;
    const changed = await cairn.artifacts.update({ artifact_id, content: 'd' });
    const before = moment();
    expect(await cairn.artifacts.delete({ artifact_id })).toBeUndefined();
    const token = await latestToken(cairn);
    expect(await cairn.artifacts.delete({ artifact_id })).toBeUndefined();
    expect(await latestToken(cairn)).toBe(token);
    const refused = { code: 'ARTIFACT_NOT_FOUND', status: 404 };
    expect(await refusalOf(cairn.artifacts.get({ artifact_id }))).toMatchObject(refused);
    expect(await refusalOf(cairn.artifacts.update({ artifact_id, name: 'm' }))).toMatchObject(refused);
    expect((await cairn.artifacts.list({ include_superseded: true })).total).toBe(0);
    for (const { card_id } of [made, changed])
      expect(await refusalOf(cairn.cards.get({ card_id }))).toMatchObject({ code: 'CARD_NOT_FOUND' });
    expect(await cairn.artifacts.get({ artifact_id, as_of: before })).toEqual(changed);
    expect((await cairn.artifacts.list({ as_of: before })).artifacts).toEqual([changed]);
  });

  it('VERSION-7 the history has all versions, in pages, also of what was deleted', async () => {
    const cairn = await test().freshTenant();
    const note_id = await newNote(cairn);
    for (const content of ['two', 'three']) await cairn.notes.update({ note_id, content });
    const { versions, deleted_at, total } = await cairn.notes.history({ note_id });
    expect(versions.map(({ content }) => content)).toEqual(['blue', 'two', 'three']);
    expect(versions.map(({ superseded_at }) => superseded_at)).toEqual([
      versions[1]!.updated_at,
      versions[2]!.updated_at,
      null,
    ]);
    expect([deleted_at, total]).toEqual([null, 3]);
    await cairn.notes.delete({ note_id });
    const first = await cairn.notes.history({ note_id, limit: 2 });
    const second = await cairn.notes.history({ note_id, limit: 2, cursor: first.next_cursor! });
    expect(first.deleted_at).toBe(second.versions[0]!.superseded_at);
    expect([first.versions.length, second.versions.length, second.next_cursor]).toEqual([2, 1, null]);
    const elsewhere = { note_id: await newNote(cairn), cursor: first.next_cursor! };
    expect(await refusalOf(cairn.notes.history(elsewhere))).toMatchObject({ code: 'INVALID_CURSOR' });
  });

  it('VERSION-7 the history of what was deleted has the links that it had', async () => {
    const cairn = await test().freshTenant();
    const { trajectory_id } = await cairn.trajectories.create({ name: 'source' });
    const { note_id } = await cairn.notes.create({
      note_type: 'Fact',
      title: 'sky',
      content: 'blue',
      source_trajectory_ids: [trajectory_id],
    });
    test().advance(10);
    await cairn.notes.delete({ note_id });
    const { versions } = await cairn.notes.history({ note_id });
    expect(versions.map(({ source_trajectory_ids }) => source_trajectory_ids)).toEqual([[trajectory_id]]);
  });

  it('VERSION-8 what supersedes and contradicts is told', async () => {
    const cairn = await test().freshTenant();
    const [old, young, doubt] = [await newNote(cairn), await newNote(cairn), await newNote(cairn)];
    await link(cairn, 'Supersedes', ['Note', young], ['Note', old]);
    await link(cairn, 'Contradicts', ['Note', doubt], ['Note', young]);
    const told = async (note_id: string) => {
      const { superseded_by, contradicted_by } = await cairn.notes.get({ note_id });
      return [superseded_by, contradicted_by];
    };
    expect(await told(old)).toEqual([[young], []]);
    expect(await told(young)).toEqual([[], [doubt]]);
    expect(await told(doubt)).toEqual([[], [young]]);
    const listed = async (filter: object) => {
      const { notes, total } = await cairn.notes.list(filter);
      expect(total).toBe(notes.length);
      return notes.map(({ note_id }) => note_id);
    };
    expect(await listed({})).toEqual([young, doubt]);
    expect(await listed({ include_superseded: true })).toEqual([old, young, doubt]);
    const changed = await cairn.notes.update({ note_id: old, content: 'still there' });
    expect(changed.superseded_by).toEqual([young]);
    await cairn.notes.update({ note_id: doubt, ttl: 'Duration(1000)' });
    test().advance(2000);
    expect(await told(young)).toEqual([[], []]);
    await cairn.notes.delete({ note_id: young });
    expect([await told(old), await listed({})]).toEqual([[[], []], [old]]);
  });

  it('VERSION-8 what ended, expired or was deleted supersedes no more, erased or not', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    const { scope_id, turn_ids } = await newScope(cairn, trajectory_id, 1);
    const artifact = { trajectory_id, scope_id, artifact_type: 'Fact', name: 'n', content: 'c' };
    const { artifact_id } = await cairn.artifacts.create({ ...artifact, ttl: 'Scope' });
    const { card_id } = await cairn.cards.add({ content: 'c' });
    const kept = await cairn.artifacts.create(artifact);
    const other = await newTrajectory(cairn);
    const { packet_id } = await cairn.packets.write({ packet_type: 'x', payload: {} });
    const by: [EntityType, string][] = [
      ['Artifact', artifact_id],
      ['Turn', turn_ids[0]!],
      ['Note', await newNote(cairn, { ttl: 'Duration(1000)' })],
      ['Card', card_id],
      ['Artifact', kept.artifact_id],
      ['Trajectory', other],
      ['Scope', (await newScope(cairn, other)).scope_id],
      ['Packet', packet_id],
    ];
    const notes: string[] = [];
    for (const one of by) {
      notes.push(await newNote(cairn));
      await link(cairn, 'Supersedes', one, ['Note', notes.at(-1)!]);
    }
    /** Which of the notes are listed now, which as of a moment, and which are told to be superseded. */
    const shown = async (as_of: string) => {
      const listed = async (filter: object) => {
        const list = await cairn.notes.list(filter);
        expect(list.total).toBe(list.notes.length);
        const ids = list.notes.map(({ note_id }) => note_id);
        return notes.flatMap((id, i) => (ids.includes(id) ? [i] : []));
      };
      const told = await Promise.all(notes.map((note_id) => cairn.notes.get({ note_id })));
      for (const [i, { superseded_by }] of told.entries())
        if (superseded_by.length > 0) expect(superseded_by).toEqual([by[i]![1]]);
      const free = told.flatMap(({ superseded_by }, i) => (superseded_by.length === 0 ? [i] : []));
      const now = await listed({});
      expect(free).toEqual(now);
      return [now, await listed({ as_of })];
    };
    const before = moment();
    expect(await shown(before)).toEqual([[2], [2]]);
    await cairn.scopes.close({ scope_id });
    expect(await shown(before)).toEqual([
      [0, 1, 2],
      [0, 1, 2],
    ]);
    // What was deleted later could be read then.
    await cairn.cards.delete({ card_id });
    expect(await shown(before)).toEqual([
      [0, 1, 2, 3],
      [0, 1, 2],
    ]);
    await cairn.scopes.close({ scope_id, wait: true });
    await cairn.lifetime.sweep();
    expect((await shown(before))[0]).toEqual([0, 1, 2, 3]);
    expect((await cairn.artifacts.update({ artifact_id: kept.artifact_id, content: 'd' })).version).toBe(2);
    expect((await shown(before))[0]).toEqual([0, 1, 2, 3]);
    await cairn.trajectories.delete({ trajectory_id: other });
    expect((await shown(before))[0]).toEqual([0, 1, 2, 3, 5, 6]);
  });

  it('VERSION-9 reads by id are counted, and appending nothing', async () => {
    const cairn = await test().freshTenant();
    const note_id = await newNote(cairn);
    const as_of = moment();
    const token = await latestToken(cairn);
    for (let i = 0; i < 3; i++) await cairn.notes.get({ note_id });
    await cairn.notes.get({ note_id, as_of });
    await cairn.notes.history({ note_id });
    const { notes } = await cairn.notes.list();
    expect([notes[0]!.access_count, typeof notes[0]!.accessed_at]).toEqual([3, 'string']);
    expect((await cairn.notes.get({ note_id })).access_count).toBe(4);
    expect(await latestToken(cairn)).toBe(token);
    expect((await cairn.notes.update({ note_id, content: 'grey' })).access_count).toBe(4);
  });

  it('VERSION-10 a batch answers each item in its place', async () => {
    const cairn = await test().freshTenant();
    const [changed, removed] = [await newNote(cairn), await newNote(cairn)];
    const { results, succeeded, failed } = await cairn.notes.batch({
      items: [
        { operation: 'create', create: fact },
        { operation: 'update', note_id: changed, update: { content: 'grey' } },
        { operation: 'update', note_id: randomUUID(), update: { content: 'grey' } },
        { operation: 'delete', note_id: removed },
        { operation: 'update', note_id: changed, update: {} },
      ],
    });
    expect([succeeded, failed]).toEqual([3, 2]);
    expect(results).toMatchObject([
      { status: 'success', data: { title: 'sky', version: 1 } },
      { status: 'success', data: { note_id: changed, version: 2 } },
      { status: 'error', code: 'NOTE_NOT_FOUND' },
      { status: 'success', data: null },
      { status: 'error', code: 'INVALID_INPUT' },
    ]);
    expect((await cairn.notes.list()).total).toBe(2);
  });

  it('VERSION-10 items take effect in order, also when the first takes longest to prepare', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    const [artifact_id, derived, note_id] = [randomUUID(), randomUUID(), randomUUID()];
    const long = 'a long text takes longer to count than a short one '.repeat(4000);
    const input = { trajectory_id, artifact_type: 'Fact', name: 'n', content: 'c' };
    const artifacts = await cairn.artifacts.batch({
      items: [
        { operation: 'create', create: { ...input, artifact_id, content: long } },
        { operation: 'create', create: { ...input, artifact_id: derived, derived_from: [artifact_id] } },
        { operation: 'update', artifact_id, update: { content: `${long} still` } },
        { operation: 'update', artifact_id, update: { content: 'last' } },
        { operation: 'update', artifact_id, update: { name: 'named' } },
        { operation: 'delete', artifact_id: derived },
        { operation: 'update', artifact_id: derived, update: { name: 'gone' } },
      ],
    });
    expect(artifacts.results.map((one) => (one.status === 'success' ? (one.data?.version ?? null) : one.code))).toEqual(
      [1, 1, 2, 3, 4, null, 'ARTIFACT_NOT_FOUND'],
    );
    expect(await cairn.artifacts.get({ artifact_id })).toMatchObject({ content: 'last', name: 'named' });
    const notes = await cairn.notes.batch({
      items: [
        { operation: 'create', create: { ...fact, note_id, content: long } },
        { operation: 'update', note_id, update: { content: `${long} still` } },
        { operation: 'delete', note_id },
      ],
    });
    expect(notes).toMatchObject({ succeeded: 3, results: [{}, { data: { version: 2 } }, { data: null }] });
    const { versions, deleted_at } = await cairn.notes.history({ note_id });
    expect([versions.length, deleted_at]).toEqual([2, expect.any(String)]);
  });

  it('VERSION-10 with stop_on_error nothing after the first failure is done', async () => {
    const cairn = await test().freshTenant();
    const create = { operation: 'create' as const, create: fact };
    const { results } = await cairn.notes.batch({
      items: [create, { operation: 'delete', note_id: randomUUID() }, create],
      stop_on_error: true,
    });
    expect(results.slice(0, 2).map(({ status }) => status)).toEqual(['success', 'error']);
    expect((await cairn.notes.list()).total).toBe(1);
  });

  it('VERSION-10 an atomic batch is all or nothing, and its items see each other', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    const [artifact_id, derived] = [randomUUID(), randomUUID()];
    const input = { trajectory_id, artifact_type: 'Fact', name: 'n', content: 'c' };
    const items = [
      { operation: 'create' as const, create: { ...input, artifact_id } },
      { operation: 'create' as const, create: { ...input, artifact_id: derived, derived_from: [artifact_id] } },
      { operation: 'update' as const, artifact_id, update: { content: 'd' } },
      { operation: 'update' as const, artifact_id, update: { content: 'd' } },
      { operation: 'delete' as const, artifact_id: derived },
    ];
    const token = await latestToken(cairn);
    const bad = [...items, { operation: 'update' as const, artifact_id, update: { version: 7, name: 'm' } }];
    expect(await refusalOf(cairn.artifacts.batch({ items: bad, atomic: true }))).toMatchObject({
      code: 'CONCURRENT_MODIFICATION',
      message: expect.stringMatching(/^items\[5\]: /),
    });
    expect([(await cairn.artifacts.list()).total, await latestToken(cairn)]).toEqual([0, token]);
    const idempotency_key = randomUUID();
    const done = await cairn.artifacts.batch({ items, atomic: true }, { idempotency_key });
    expect(done.results).toMatchObject([
      { data: { artifact_id, version: 1 } },
      { data: { artifact_id: derived, version: 1 } },
      { data: { artifact_id, version: 2 } },
      { data: { artifact_id, version: 2 } },
      { data: null },
    ]);
    for (const one of done.results)
      if (one.status === 'success' && one.data) expect(one.data.updated_at < '3000').toBe(true);
    const { versions } = await cairn.artifacts.history({ artifact_id });
    expect(versions.map(({ content }) => content)).toEqual(['c', 'd']);
    expect(versions[1]!.created_at).toBe(versions[0]!.created_at);
    // Again, what is gone since is refused alone.
    const again = await cairn.artifacts.batch({ items, atomic: true }, { idempotency_key });
    expect(again.results[1]).toMatchObject({ status: 'error', code: 'ARTIFACT_NOT_FOUND' });
    expect(again).toMatchObject({ succeeded: 4, failed: 1, results: [{ data: { version: 1 } }, {}, {}, {}, {}] });
  });

  it('VERSION-10 a key gives the versions of a change again', async () => {
    const cairn = await test().freshTenant();
    const note_id = await newNote(cairn);
    const [one, two] = [{ idempotency_key: randomUUID() }, { idempotency_key: randomUUID() }];
    const input = { note_id, content: 'grey' };
    const answers = await Promise.all([1, 2, 3].map(() => cairn.notes.update(input, one)));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    await cairn.notes.update({ note_id, content: 'black' });
    expect(await cairn.notes.update(input, one)).toEqual(answers[0]);
    const items = [
      { operation: 'update' as const, note_id, update: { content: 'red' } },
      { operation: 'create' as const, create: fact },
    ];
    const first = await cairn.notes.batch({ items, atomic: true }, two);
    expect(await cairn.notes.batch({ items, atomic: true }, two)).toEqual(first);
    expect((await cairn.notes.history({ note_id })).total).toBe(4);
  });

  it('VERSION-11 every change appends one event, without content or name', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    const before = await latestToken(cairn);
    const secret = 'nobody-else-may-know';
    const { artifact_id, content_hash } = await cairn.artifacts.create({
      trajectory_id,
      artifact_type: 'Fact',
      name: secret,
      content: secret,
      metadata: { secret },
    });
    await cairn.artifacts.update({ artifact_id, name: `${secret} too` });
    await cairn.artifacts.delete({ artifact_id });
    const note_id = await newNote(cairn, { source_trajectory_ids: [trajectory_id], title: secret });
    const events = await followToNow(cairn, before);
    expect(events.map((packet) => [packet.packet_type, packet.thread_id ?? null])).toEqual([
      ['cairn.artifact.created', trajectory_id],
      ['cairn.artifact.updated', trajectory_id],
      ['cairn.artifact.deleted', trajectory_id],
      ['cairn.note.created', trajectory_id],
    ]);
    expect(events[0]!.payload).toMatchObject({ entity: { id: artifact_id, type: 'Artifact' }, version: 1 });
    expect(events[1]!.payload).toMatchObject({ version: 2 });
    expect(events[3]!.payload).toMatchObject({ entity: { id: note_id, type: 'Note' } });
    expect(JSON.stringify(events)).not.toContain(secret);
    expect(JSON.stringify(events)).not.toContain(content_hash);
  });
});
