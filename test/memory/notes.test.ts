/** Notes: what they are made of, where they were learned, and how they are found. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { deleteTrajectory, finishTrajectory, newTrajectory } from '../support/nouns/memory.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const gotcha = { note_type: 'Gotcha', title: 'status', content: 'It answers 500, not 401.' };
const invalid = { code: 'INVALID_INPUT', status: 400 };

onEveryTarget('notes', (test) => {
  it('NOTE-1 a note has what was sent, what follows from it, and defaults', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.notes.create({
      ...gotcha,
      content: ['any', { JSON: true }],
      abstraction_level: 'L1',
      confidence: 1,
      ttl: { Duration: 60_000 },
      agent_id: 'ann',
      metadata: { seen: 3 },
    });
    expect(made).toMatchObject({
      note_type: 'Gotcha',
      title: 'status',
      content: ['any', { JSON: true }],
      abstraction_level: 'L1',
      confidence: 1,
      ttl: { Duration: 60_000 },
      lifetime: 'Duration',
      agent_id: 'ann',
      metadata: { seen: 3 },
      version: 1,
      source_trajectory_ids: [],
      source_artifact_ids: [],
    });
    const plain = await cairn.notes.create({ ...gotcha, note_type: 'a word of ours' });
    expect(plain).toMatchObject({
      note_type: 'a word of ours',
      abstraction_level: 'L0',
      confidence: null,
      ttl: 'Persistent',
      lifetime: 'Persistent',
      expires_at: null,
      agent_id: null,
      metadata: {},
    });
    const read = await cairn.notes.get({ note_id: plain.note_id });
    expect({ ...read, access_count: 0, accessed_at: null }).toEqual(plain);
    const input = { ...gotcha, note_id: randomUUID() };
    expect(await cairn.notes.create(input)).toEqual(await cairn.notes.create(input));
  });

  it('NOTE-2 a note names where it was learned, and that must be there', async () => {
    const cairn = await test().freshTenant();
    const [one, two] = [await newTrajectory(cairn), await newTrajectory(cairn)];
    const { artifact_id } = await cairn.artifacts.create({
      trajectory_id: one,
      artifact_type: 'Fact',
      name: 'n',
      content: 'c',
    });
    await finishTrajectory(cairn, two);
    const made = await cairn.notes.create({
      ...gotcha,
      source_trajectory_ids: [two, one, two],
      source_artifact_ids: [artifact_id],
    });
    expect(made.source_trajectory_ids).toEqual([two, one]);
    expect(made.source_artifact_ids).toEqual([artifact_id]);
    expect(await cairn.notes.get({ note_id: made.note_id })).toMatchObject({
      source_trajectory_ids: [two, one],
      source_artifact_ids: [artifact_id],
    });
    const missing = randomUUID();
    for (const sources of [
      { source_trajectory_ids: [one, missing] },
      { source_artifact_ids: [missing] },
      { source_artifact_ids: [made.note_id] },
    ]) {
      expect(await refusalOf(cairn.notes.create({ ...gotcha, ...sources }))).toMatchObject({
        code: 'UNKNOWN_ENTITY',
        status: 400,
      });
    }
    await cairn.artifacts.delete({ artifact_id });
    expect((await cairn.notes.get({ note_id: made.note_id })).source_artifact_ids).toEqual([]);
  });

  it('NOTE-3 a note has no scope, and a session only with a trajectory that goes on', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    for (const ttl of ['Scope', 'Ephemeral', 'Session'] as const)
      expect(await refusalOf(cairn.notes.create({ ...gotcha, ttl }))).toMatchObject(invalid);
    const { note_id } = await cairn.notes.create(gotcha);
    for (const ttl of ['Scope', 'Ephemeral', 'Session'] as const)
      expect(await refusalOf(cairn.notes.update({ note_id, ttl }))).toMatchObject(invalid);
    const session = { ...gotcha, ttl: 'Session' as const, source_trajectory_ids: [trajectory_id] };
    const made = await cairn.notes.create(session);
    const lasting = await cairn.notes.create({ ...session, ttl: 'LongTerm' });
    expect(made.lifetime).toBe('Session');
    await finishTrajectory(cairn, trajectory_id);
    expect(await refusalOf(cairn.notes.get({ note_id: made.note_id }))).toMatchObject({
      code: 'CONTENT_ERASED',
      status: 410,
      details: { note_ids: [made.note_id] },
    });
    expect(await refusalOf(cairn.notes.create(session))).toMatchObject({ code: 'STATE_CONFLICT' });
    const later = { note_id: lasting.note_id, ttl: 'Session' as const };
    expect(await refusalOf(cairn.notes.update(later))).toMatchObject({ code: 'STATE_CONFLICT' });
    await deleteTrajectory(cairn, trajectory_id);
    expect((await cairn.notes.list()).notes.map((note) => note.note_id)).toEqual([note_id, lasting.note_id]);
  });

  it('NOTE-4 a procedure is permanent', async () => {
    const cairn = await test().freshTenant();
    const procedure = { ...gotcha, note_type: 'Procedure' };
    const { note_id } = await cairn.notes.create({ ...procedure, ttl: 'Permanent' });
    expect(await refusalOf(cairn.notes.create({ ...procedure, ttl: 'LongTerm' }))).toMatchObject(invalid);
    expect(await refusalOf(cairn.notes.update({ note_id, ttl: 'Duration(5)' }))).toMatchObject(invalid);
    const brief = await cairn.notes.create({ ...gotcha, ttl: 'LongTerm' });
    const becomes = { note_id: brief.note_id, note_type: 'Procedure' };
    expect(await refusalOf(cairn.notes.update(becomes))).toMatchObject(invalid);
    const both = await cairn.notes.update({ ...becomes, ttl: 'Persistent' });
    expect([both.version, both.expires_at]).toEqual([2, null]);
    const freed = await cairn.notes.update({ note_id, note_type: 'Fact', ttl: 'ShortTerm' });
    expect(freed.lifetime).toBe('Duration');
  });

  it('NOTE-5 lists have every filter', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    const { artifact_id } = await cairn.artifacts.create({
      trajectory_id,
      artifact_type: 'Fact',
      name: 'n',
      content: 'c',
    });
    const make = async (more: object) => (await cairn.notes.create({ ...gotcha, ...more })).note_id;
    const ids: Record<string, string> = {
      plain: await make({ title: 'alpha' }),
      typed: await make({ title: 'alphabet', note_type: 'Strategy' }),
      learned: await make({ source_trajectory_ids: [trajectory_id], abstraction_level: 'L2' }),
      drawn: await make({ source_trajectory_ids: [trajectory_id], source_artifact_ids: [artifact_id] }),
      ann: await make({ agent_id: 'ann', ttl: 'ShortTerm' }),
      about: await make({ subject_ids: ['bob', 'eve'] }),
    };
    await cairn.notes.update({ note_id: ids.about!, content: 'twice' });
    const found = async (filter: object) => {
      const { notes, total } = await cairn.notes.list(filter);
      expect(notes.length).toBe(total);
      return notes.map(({ note_id }) => Object.keys(ids).find((name) => ids[name] === note_id));
    };
    expect(await found({})).toEqual(['plain', 'typed', 'learned', 'drawn', 'ann', 'about']);
    expect(await found({ note_type: 'Strategy' })).toEqual(['typed']);
    expect(await found({ title: 'alpha' })).toEqual(['plain', 'typed']);
    expect(await found({ trajectory_id })).toEqual(['learned', 'drawn']);
    expect(await found({ artifact_id })).toEqual(['drawn']);
    expect(await found({ artifact_id, trajectory_id: randomUUID() })).toEqual([]);
    expect(await found({ agent_id: 'ann' })).toEqual(['ann']);
    expect(await found({ subject_id: 'eve' })).toEqual(['about']);
    expect(await found({ subject_id: 'ann' })).toEqual([]);
    expect(await found({ abstraction_level: 'L2' })).toEqual(['learned']);
    expect(await found({ lifetime: 'Duration' })).toEqual(['ann']);
  });

  it('NOTE-6 an unknown one is not found', async () => {
    const cairn = await test().freshTenant();
    const note_id = randomUUID();
    const refused = { code: 'NOTE_NOT_FOUND', status: 404 };
    expect(await refusalOf(cairn.notes.get({ note_id }))).toMatchObject(refused);
    expect(await refusalOf(cairn.notes.update({ note_id, title: 'n' }))).toMatchObject(refused);
    expect(await refusalOf(cairn.notes.delete({ note_id }))).toMatchObject(refused);
    expect(await refusalOf(cairn.notes.history({ note_id }))).toMatchObject(refused);
  });
});
