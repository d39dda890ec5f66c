/** Artifacts: what they are made of, where they belong, and how they are found. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { linksOf } from '#cairn/memory/edges/store.js';
import { closeScope, deleteTrajectory, finishTrajectory, newScope, newTrajectory } from '../support/nouns/memory.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const fact = (trajectory_id: string) => ({
  trajectory_id,
  artifact_type: 'Fact',
  name: 'a fact',
  content: 'It is so.',
});

onEveryTarget('artifacts', (test) => {
  const start = async (): Promise<[Api, string]> => {
    const cairn = await test().freshTenant();
    return [cairn, await newTrajectory(cairn)];
  };

  /** Where the edges of an artifact say that it came from. */
  const sourcesOf = async (cairn: Api, id: string) => {
    const { tenant_id } = await cairn.auth.whoami();
    const links = await linksOf(test().store.driver.at(tenant_id), [id], ['DerivedFrom']);
    return links
      .filter(({ of_position }) => of_position === 1)
      .map(({ entity_type, entity_id }) => [entity_type, entity_id]);
  };

  it('ART-1 an artifact has what was sent, what follows from it, and defaults', async () => {
    const [cairn, trajectory_id] = await start();
    const made = await cairn.artifacts.create({
      trajectory_id,
      artifact_type: 'Decision',
      name: 'auth',
      content: { use: 'sessions' },
      abstraction_level: 'L2',
      confidence: 0.5,
      extraction_method: 'Inferred',
      ttl: 'Permanent',
      agent_id: 'ann',
      metadata: { ticket: 7 },
    });
    expect(made).toMatchObject({
      trajectory_id,
      scope_id: null,
      artifact_type: 'Decision',
      name: 'auth',
      content: { use: 'sessions' },
      abstraction_level: 'L2',
      provenance: { source_turn: null, extraction_method: 'Inferred', confidence: 0.5 },
      ttl: 'Permanent',
      lifetime: 'Persistent',
      expires_at: null,
      agent_id: 'ann',
      metadata: { ticket: 7 },
      version: 1,
      access_count: 0,
      accessed_at: null,
      superseded_by: [],
      contradicted_by: [],
    });
    expect(made.token_count).toBeGreaterThan(0);
    expect(made.updated_at).toBe(made.created_at);
    const { content, content_hash } = await cairn.cards.get({ card_id: made.card_id });
    expect([content, content_hash]).toEqual([made.content, made.content_hash]);
    const plain = await cairn.artifacts.create(fact(trajectory_id));
    expect(plain).toMatchObject({
      abstraction_level: 'L0',
      provenance: { source_turn: null, extraction_method: 'Explicit', confidence: null },
      ttl: 'Persistent',
      agent_id: null,
      metadata: {},
    });
    const read = await cairn.artifacts.get({ artifact_id: plain.artifact_id });
    expect({ ...read, access_count: 0, accessed_at: null }).toEqual(plain);
  });

  it('ART-1 the type is any word, the content any JSON', async () => {
    const [cairn, trajectory_id] = await start();
    for (const content of ['', 0, false, null, [], ['a', { b: null }], { deep: { er: [1] } }]) {
      const { artifact_id } = await cairn.artifacts.create({
        ...fact(trajectory_id),
        artifact_type: 'a word of ours',
        content,
      });
      const read = await cairn.artifacts.get({ artifact_id });
      expect([read.content, read.artifact_type]).toEqual([content, 'a word of ours']);
    }
  });

  it('ART-2 the same id by another agent is a conflict', async () => {
    const [cairn, trajectory_id] = await start();
    const { tenant_id: tenant } = await cairn.auth.whoami();
    const [ann, bob] = [await test().as({ tenant, agent: 'ann' }), await test().as({ tenant, agent: 'bob' })];
    const artifact = { ...fact(trajectory_id), artifact_id: randomUUID() };
    const note = { note_id: randomUUID(), note_type: 'Fact', title: 't', content: 'c' };
    const made = [await ann.artifacts.create(artifact), await ann.notes.create(note)];
    expect([await ann.artifacts.create(artifact), await ann.notes.create(note)]).toEqual(made);
    for (const other of [bob, cairn]) {
      const taken = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
      expect(await refusalOf(other.artifacts.create(artifact))).toMatchObject(taken);
      expect(await refusalOf(other.notes.create(note))).toMatchObject(taken);
    }
  });

  it('ART-2 the same id again is the same artifact, another body a conflict, a used one gone', async () => {
    const [cairn, trajectory_id] = await start();
    const input = { ...fact(trajectory_id), artifact_id: randomUUID() };
    const made = await cairn.artifacts.create(input);
    expect(await cairn.artifacts.create(input)).toEqual(made);
    const other = { ...input, content: 'It is not.' };
    expect(await refusalOf(cairn.artifacts.create(other))).toMatchObject({
      code: 'ENTITY_ALREADY_EXISTS',
      status: 409,
    });
    const note = { note_id: made.artifact_id, note_type: 'Fact', title: 't', content: 'c' };
    expect(await refusalOf(cairn.notes.create(note))).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS' });
    await cairn.artifacts.delete({ artifact_id: made.artifact_id });
    expect(await refusalOf(cairn.artifacts.create(input))).toMatchObject({ code: 'ENTITY_GONE', status: 410 });
    expect((await cairn.artifacts.list()).total).toBe(0);
  });

  it('ART-2 many at once with one id make one artifact', async () => {
    const [cairn, trajectory_id] = await start();
    const input = { ...fact(trajectory_id), artifact_id: randomUUID() };
    const made = await Promise.all(Array.from({ length: 10 }, () => cairn.artifacts.create(input)));
    expect(new Set(made.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(made[0]!.created_at < '3000').toBe(true);
    expect((await cairn.artifacts.history({ artifact_id: input.artifact_id })).total).toBe(1);
  });

  it('ART-3 an artifact belongs to a trajectory that is there and not finished', async () => {
    const [cairn, trajectory_id] = await start();
    const { artifact_id } = await cairn.artifacts.create(fact(trajectory_id));
    const nowhere = randomUUID();
    expect(await refusalOf(cairn.artifacts.create(fact(nowhere)))).toMatchObject({
      code: 'UNKNOWN_ENTITY',
      status: 400,
      message: expect.stringContaining(nowhere),
    });
    const { trajectory_id: _, ...homeless } = fact(trajectory_id);
    expect(await refusalOf(cairn.artifacts.create(homeless))).toMatchObject({ code: 'INVALID_INPUT' });
    await finishTrajectory(cairn, trajectory_id);
    const conflict = { code: 'STATE_CONFLICT', status: 409 };
    expect(await refusalOf(cairn.artifacts.create(fact(trajectory_id)))).toMatchObject(conflict);
    expect(await refusalOf(cairn.artifacts.update({ artifact_id, name: 'n' }))).toMatchObject(conflict);
    expect(await refusalOf(cairn.artifacts.delete({ artifact_id }))).toMatchObject(conflict);
    expect(await cairn.artifacts.get({ artifact_id })).toMatchObject({ version: 1 });
    await deleteTrajectory(cairn, trajectory_id);
    expect(await refusalOf(cairn.artifacts.create(fact(trajectory_id)))).toMatchObject({ code: 'UNKNOWN_ENTITY' });
    expect(await refusalOf(cairn.artifacts.get({ artifact_id }))).toMatchObject({
      code: 'CONTENT_ERASED',
      status: 410,
      details: { artifact_ids: [artifact_id] },
    });
  });

  it('ART-4 a scope gives its trajectory, and must be in the one that is named', async () => {
    const [cairn, trajectory_id] = await start();
    const { scope_id } = await newScope(cairn, trajectory_id);
    const { trajectory_id: _, ...rest } = fact(trajectory_id);
    const made = await cairn.artifacts.create({ ...rest, scope_id });
    expect([made.trajectory_id, made.scope_id]).toEqual([trajectory_id, scope_id]);
    const elsewhere = { ...fact(await newTrajectory(cairn)), scope_id };
    expect(await refusalOf(cairn.artifacts.create(elsewhere))).toMatchObject({ code: 'UNKNOWN_ENTITY' });
    const unknown = { ...fact(trajectory_id), scope_id: randomUUID() };
    expect(await refusalOf(cairn.artifacts.create(unknown))).toMatchObject({ code: 'UNKNOWN_ENTITY' });
    await closeScope(cairn, scope_id);
    const named = await cairn.artifacts.create({ ...fact(trajectory_id), scope_id });
    expect(named.scope_id).toBe(scope_id);
    const closed = { code: 'SCOPE_CLOSED', status: 409 };
    const bound = { ...fact(trajectory_id), scope_id, ttl: 'Scope' as const };
    expect(await refusalOf(cairn.artifacts.create(bound))).toMatchObject(closed);
  });

  it('ART-5 source_turn is a turn of the scope', async () => {
    const [cairn, trajectory_id] = await start();
    const { scope_id, turn_ids } = await newScope(cairn, trajectory_id, 3);
    const input = { ...fact(trajectory_id), scope_id };
    const made = await cairn.artifacts.create({ ...input, source_turn: 2 });
    expect(made.provenance.source_turn).toBe(2);
    expect(await sourcesOf(cairn, made.artifact_id)).toEqual([['Turn', turn_ids[1]]]);
  });

  it('ART-5 an artifact is linked to its turn when that is added after it', async () => {
    const [cairn, trajectory_id] = await start();
    const { scope_id } = await newScope(cairn, trajectory_id, 1);
    const input = { ...fact(trajectory_id), scope_id };
    const third = await cairn.artifacts.create({ ...input, source_turn: 3 });
    const second = await cairn.artifacts.create({ ...input, source_turn: 2 });
    const never = await cairn.artifacts.create({ ...input, source_turn: 9 });
    await cairn.artifacts.update({ artifact_id: third.artifact_id, content: 'changed' });
    const add = async () => (await cairn.turns.add({ scope_id, role: 'User', content: 'x' })).turn_id;
    const turn2 = await add();
    expect(await sourcesOf(cairn, second.artifact_id)).toEqual([['Turn', turn2]]);
    expect(await sourcesOf(cairn, third.artifact_id)).toEqual([]);
    const create = { scope_id, role: 'User', content: 'y' };
    const { results } = await cairn.turns.batch({ items: [{ create }, { create }] });
    const [turn3] = results.map((one) => (one.status === 'success' ? one.data.turn_id : ''));
    expect(await sourcesOf(cairn, third.artifact_id)).toEqual([['Turn', turn3]]);
    expect(await sourcesOf(cairn, second.artifact_id)).toEqual([['Turn', turn2]]);
    expect(await sourcesOf(cairn, never.artifact_id)).toEqual([]);
    const { sources } = await cairn.artifacts.expand({ artifact_id: third.artifact_id });
    expect(sources).toMatchObject([{ entity_type: 'Turn', id: turn3, sequence: 3 }]);
  });

  it('ART-5 the number of a turn that was never stored, or is gone, is kept without a link', async () => {
    const [cairn, trajectory_id] = await start();
    const { scope_id } = await newScope(cairn, trajectory_id, 3);
    const { scope_id: closed } = await newScope(cairn, trajectory_id, 3);
    await closeScope(cairn, closed);
    for (const place of [{ scope_id, source_turn: 5 }, { scope_id: closed, source_turn: 2 }, { source_turn: 5 }]) {
      const made = await cairn.artifacts.create({ ...fact(trajectory_id), ...place });
      expect(made.provenance.source_turn).toBe(place.source_turn);
      expect(await sourcesOf(cairn, made.artifact_id)).toEqual([]);
    }
  });

  it('ART-5 source_turn is at most 1,000,000,000', async () => {
    const [cairn, trajectory_id] = await start();
    const { scope_id } = await newScope(cairn, trajectory_id, 1);
    const input = { ...fact(trajectory_id), scope_id };
    for (const place of [{ source_turn: 1_000_000_001 }, { provenance: { source_turn: 1_700_000_000_000 } }]) {
      const refusal = await refusalOf(cairn.artifacts.create({ ...input, ...place }));
      expect(refusal).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('source_turn') });
    }
    const made = await cairn.artifacts.create({ ...input, source_turn: 1_000_000_000 });
    expect(made.provenance.source_turn).toBe(1_000_000_000);
  });

  it('ART-6 derived_from names artifacts that can be read', async () => {
    const [cairn, trajectory_id] = await start();
    const first = await cairn.artifacts.create(fact(trajectory_id));
    const gone = await cairn.artifacts.create(fact(trajectory_id));
    await cairn.artifacts.delete({ artifact_id: gone.artifact_id });
    const from = (...derived_from: string[]) => cairn.artifacts.create({ ...fact(trajectory_id), derived_from });
    const derived = await from(first.artifact_id, first.artifact_id);
    expect(await sourcesOf(cairn, derived.artifact_id)).toEqual([['Artifact', first.artifact_id]]);
    for (const id of [gone.artifact_id, randomUUID()]) {
      expect(await refusalOf(from(first.artifact_id, id))).toMatchObject({
        code: 'UNKNOWN_ENTITY',
        details: { missing_ids: [id] },
      });
    }
  });

  it('ART-7 lists have every filter', async () => {
    const [cairn, trajectory_id] = await start();
    const other = await newTrajectory(cairn);
    const { scope_id } = await newScope(cairn, trajectory_id);
    const make = async (more: object) =>
      (await cairn.artifacts.create({ ...fact(trajectory_id), ...more })).artifact_id;
    const ids = {
      plain: await make({ name: 'alpha' }),
      typed: await make({ name: 'alphabet', artifact_type: 'Plan' }),
      scoped: await make({ name: 'beta', scope_id, abstraction_level: 'L1' }),
      ann: await make({ name: 'Alpha', agent_id: 'ann', trajectory_id: other }),
      short: await make({ name: 'al\u{1f600}', ttl: 'ShortTerm', subject_ids: ['bob', 'eve'] }),
    };
    const found = async (filter: object) => {
      const { artifacts, total } = await cairn.artifacts.list(filter);
      expect(artifacts.length).toBe(total);
      return artifacts.map(({ artifact_id }) =>
        Object.keys(ids).find((name) => ids[name as keyof typeof ids] === artifact_id),
      );
    };
    expect(await found({})).toEqual(['plain', 'typed', 'scoped', 'ann', 'short']);
    expect(await found({ artifact_type: 'Plan' })).toEqual(['typed']);
    expect(await found({ name: 'al' })).toEqual(['plain', 'typed', 'short']);
    expect(await found({ name: 'alpha' })).toEqual(['plain', 'typed']);
    expect(await found({ name: 'al%' })).toEqual([]);
    expect(await found({ agent_id: 'ann' })).toEqual(['ann']);
    expect(await found({ subject_id: 'eve' })).toEqual(['short']);
    expect(await found({ trajectory_id: other })).toEqual(['ann']);
    expect(await found({ scope_id })).toEqual(['scoped']);
    expect(await found({ abstraction_level: 'L1' })).toEqual(['scoped']);
    expect(await found({ lifetime: 'Duration' })).toEqual(['short']);
    expect(await found({ lifetime: 'Persistent', name: 'a' })).toEqual(['plain', 'typed']);
    expect(await found({ scope_id: randomUUID() })).toEqual([]);
    const page = await cairn.artifacts.list({ limit: 2 });
    expect(page.total).toBe(5);
    const next = await cairn.artifacts.list({ limit: 2, cursor: page.next_cursor! });
    expect([next.artifacts[0]!.artifact_id, next.total]).toEqual([ids.scoped, null]);
    const wrong = cairn.artifacts.list({ limit: 2, cursor: page.next_cursor!, agent_id: 'ann' });
    expect(await refusalOf(wrong)).toMatchObject({ code: 'INVALID_CURSOR' });
  });

  it('ART-8 an unknown one is not found', async () => {
    const [cairn, trajectory_id] = await start();
    const { note_id } = await cairn.notes.create({ note_type: 'Fact', title: 't', content: 'c' });
    await cairn.artifacts.create(fact(trajectory_id));
    for (const artifact_id of [randomUUID(), note_id]) {
      const refused = { code: 'ARTIFACT_NOT_FOUND', status: 404 };
      expect(await refusalOf(cairn.artifacts.get({ artifact_id }))).toMatchObject(refused);
      expect(await refusalOf(cairn.artifacts.update({ artifact_id, name: 'n' }))).toMatchObject(refused);
      expect(await refusalOf(cairn.artifacts.delete({ artifact_id }))).toMatchObject(refused);
      expect(await refusalOf(cairn.artifacts.history({ artifact_id }))).toMatchObject(refused);
    }
  });
});
