/** The lifetime of artifacts and notes whose request names none: by the settings of the tenant. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Ttl } from '#cairn/engine/contract.js';
import { closeScope, finishTrajectory, newScope, newTrajectory } from '../support/nouns/memory.js';
import { say } from '../support/nouns/scopes.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const HOUR = 3_600_000;
const gone = { code: 'CONTENT_ERASED', status: 410 };
const artifact = { artifact_type: 'Code', name: 'a name', content: 'a content' };
const note = { note_type: 'Fact', title: 'a title', content: 'a content' };

onEveryTarget('default lifetimes', (test) => {
  it.each<[Ttl, string, number | null]>([
    ['Persistent', 'Persistent', null],
    ['Session', 'Session', null],
    ['ShortTerm', 'Duration', HOUR],
    ['Duration(7000)', 'Duration', 7000],
    [{ Duration: 9000 }, 'Duration', 9000],
  ])('TTL-5 an artifact and a note without ttl get %j', async (ttl, lifetime, ms) => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    await cairn.settings.update({ artifact_ttls: { Code: ttl }, note_ttls: { Fact: ttl } });
    const made = await cairn.artifacts.create({ ...artifact, trajectory_id });
    const noted = await cairn.notes.create({ ...note, source_trajectory_ids: [trajectory_id] });
    for (const one of [made, noted]) {
      expect(one).toMatchObject({ ttl, lifetime });
      const created = Date.parse(one.created_at);
      if (ms === null) expect(one.expires_at).toBeNull();
      else expect(Math.abs(Date.parse(one.expires_at!) - created - ms)).toBeLessThan(2000);
    }
    if (ms === null) return;
    test().advance(ms + 2000);
    expect(await refusalOf(cairn.artifacts.get({ artifact_id: made.artifact_id }))).toMatchObject(gone);
    expect(await refusalOf(cairn.notes.get({ note_id: noted.note_id }))).toMatchObject(gone);
  });

  it('TTL-5 the type counts before *, a given ttl before both, and null is no ttl', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    await cairn.settings.update({
      artifact_ttls: { Code: 'ShortTerm', '*': 'LongTerm' },
      note_ttls: { '*': 'MediumTerm' },
    });
    const ttlOf = async (artifact_type: string, ttl?: Ttl | null) =>
      (
        await cairn.artifacts.create({
          ...artifact,
          trajectory_id,
          artifact_type,
          ...(ttl === undefined ? {} : { ttl }),
        })
      ).ttl;
    expect(await ttlOf('Code')).toBe('ShortTerm');
    expect(await ttlOf('code')).toBe('LongTerm');
    expect(await ttlOf('constructor')).toBe('LongTerm');
    expect(await ttlOf('Code', 'Persistent')).toBe('Persistent');
    expect(await ttlOf('Code', 'Session')).toBe('Session');
    expect(await ttlOf('Code', null)).toBe('ShortTerm');
    expect((await cairn.notes.create(note)).ttl).toBe('MediumTerm');
    expect((await cairn.notes.create({ ...note, ttl: 'Persistent' })).ttl).toBe('Persistent');
    expect((await cairn.notes.create({ ...note, lifetime: 'Persistent' })).ttl).toBe('Persistent');
    expect((await cairn.memory.remember({ text: 'Anna likes tea.' })).id).toBeDefined();
    const { notes } = await cairn.notes.list({ note_type: 'Fact', order: 'desc', limit: 1 });
    expect(notes[0]).toMatchObject({ content: 'Anna likes tea.', ttl: 'MediumTerm' });
  });

  it('TTL-5 batches and repeated requests follow the settings of their first time', async () => {
    const cairn = await test().freshTenant();
    const create = { ...note, note_id: randomUUID() };
    await cairn.settings.update({ note_ttls: { '*': 'LongTerm' } });
    const { results } = await cairn.notes.batch({
      items: [
        { operation: 'create', create },
        { operation: 'create', create: { ...note, ttl: 'ShortTerm' } },
      ],
      atomic: true,
    });
    expect(results.map((one) => (one.status === 'success' ? one.data?.ttl : one))).toEqual(['LongTerm', 'ShortTerm']);
    await cairn.settings.update({ note_ttls: null });
    // The same body is the same request, whatever the default is by now.
    expect(await cairn.notes.create(create)).toMatchObject({ ttl: 'LongTerm', version: 1 });
    expect((await cairn.notes.create(note)).ttl).toBe('Persistent');
  });

  it('TTL-5 a new version keeps the lifetime, and null at PATCH still means Persistent', async () => {
    const cairn = await test().freshTenant();
    const { note_id } = await cairn.notes.create(note);
    await cairn.settings.update({ note_ttls: { '*': 'ShortTerm' } });
    expect(await cairn.notes.update({ note_id, content: 'another' })).toMatchObject({ version: 2, ttl: 'Persistent' });
    const limited = await cairn.notes.create({ ...note, content: 'second' });
    await cairn.settings.update({ note_ttls: null });
    const changed = await cairn.notes.update({ note_id: limited.note_id, title: 'renamed' });
    expect(changed).toMatchObject({ ttl: 'ShortTerm', expires_at: limited.expires_at });
    const freed = await cairn.notes.update({ note_id: limited.note_id, ttl: null });
    expect(freed).toMatchObject({ ttl: 'Persistent', expires_at: null });
  });

  it('TTL-6 a default that the entity cannot have gives way to the next longer one', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    const { scope_id } = await newScope(cairn, trajectory_id);
    await cairn.settings.update({ artifact_ttls: { '*': 'Ephemeral' }, note_ttls: { '*': 'Session' } });
    const scoped = await cairn.artifacts.create({ ...artifact, scope_id });
    expect(scoped).toMatchObject({ ttl: 'Ephemeral', lifetime: 'Scope' });
    expect(await cairn.artifacts.create({ ...artifact, trajectory_id })).toMatchObject({ ttl: 'Session' });
    expect(await cairn.notes.create(note)).toMatchObject({ ttl: 'Persistent' });
    expect(await cairn.notes.create({ ...note, note_type: 'Procedure' })).toMatchObject({ ttl: 'Persistent' });
    const learned = await cairn.notes.create({ ...note, source_trajectory_ids: [trajectory_id] });
    expect(learned).toMatchObject({ ttl: 'Session', lifetime: 'Session' });
    await closeScope(cairn, scope_id);
    expect(await refusalOf(cairn.artifacts.get({ artifact_id: scoped.artifact_id }))).toMatchObject(gone);
    expect(await cairn.artifacts.create({ ...artifact, scope_id })).toMatchObject({ ttl: 'Session' });
    await finishTrajectory(cairn, trajectory_id);
    expect(await refusalOf(cairn.notes.get({ note_id: learned.note_id }))).toMatchObject(gone);
    const late = await cairn.notes.create({ ...note, source_trajectory_ids: [trajectory_id] });
    expect(late).toMatchObject({ ttl: 'Persistent', lifetime: 'Persistent' });
    // A request that asks for it is refused as ever.
    expect(await refusalOf(cairn.notes.create({ ...note, ttl: 'Session' }))).toMatchObject({ status: 400 });
  });

  it('TTL-7 summaries and extracted facts get the default of their type, and outlive their scope', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await newTrajectory(cairn);
    const { scope_id } = await newScope(cairn, trajectory_id);
    await say(cairn, scope_id, 'My name is Anna. I live in Lisbon. We decided to use PostgreSQL for the invoices.');
    await cairn.settings.update({
      artifact_ttls: { Summary: 'LongTerm', '*': 'Scope' },
      note_ttls: { '*': 'ShortTerm' },
    });
    const { artifact: summary } = await cairn.scopes.summarize({ scope_id });
    expect(summary).toMatchObject({ artifact_type: 'Summary', ttl: 'LongTerm' });
    const facts = await cairn.scopes.extract({ scope_id });
    expect(facts.notes.length).toBeGreaterThan(0);
    expect(new Set(facts.notes.map(({ ttl }) => ttl))).toEqual(new Set(['ShortTerm']));
    for (const { ttl, lifetime } of facts.artifacts) expect([ttl, lifetime]).toEqual(['Session', 'Session']);
    await closeScope(cairn, scope_id);
    const { artifact_id } = summary!;
    expect(await cairn.artifacts.get({ artifact_id })).toMatchObject({ lifetime: 'Duration' });
    test().advance(8 * 24 * HOUR);
    expect(await refusalOf(cairn.artifacts.get({ artifact_id }))).toMatchObject(gone);
  });
});
