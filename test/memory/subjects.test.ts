/** Whom content is about: given at the write, shown at the read, inherited by all that is made in it or from it. */
import { expect, it } from 'vitest';
import { onEveryTarget } from '../support/targets.js';

const ANN = ['ann'];
const BOTH = ['ann', 'bob'];

onEveryTarget('subjects', (test) => {
  it('SUBJECT-1 every noun with content takes subject_ids and shows them', async () => {
    const { trajectories, scopes, turns, artifacts, notes, executions, boxes, cards } = await test().freshTenant();
    const about = { subject_ids: BOTH };
    const { trajectory_id } = await trajectories.create({ name: 't' });
    const { scope_id } = await scopes.create({ trajectory_id, name: 's' });
    const fact = { trajectory_id, artifact_type: 'Fact', name: 'a', content: 'x' };
    const made = [
      await trajectories.create({ name: 't', ...about }),
      await scopes.create({ trajectory_id, name: 's', ...about }),
      await turns.add({ scope_id, role: 'User', content: 'x', ...about }),
      await artifacts.create({ ...fact, ...about }),
      await notes.create({ note_type: 'Fact', title: 'n', content: 'x', ...about }),
      await executions.create(about),
      await boxes.create(about),
      await cards.add({ content: 'x', ...about }),
    ];
    for (const one of made) expect(one).toMatchObject(about);
    expect(await artifacts.create(fact)).toMatchObject({ subject_ids: [] });
    expect((await scopes.turns({ scope_id })).turns).toMatchObject([about]);
    expect((await trajectories.get({ trajectory_id })).subject_ids).toEqual([]);
  });

  it('SUBJECT-2 what is in a trajectory or scope is about the same people', async () => {
    const { trajectories, scopes, turns, artifacts, executions, cards, boxes } = await test().freshTenant();
    const { trajectory_id } = await trajectories.create({ name: 't', subject_ids: ANN });
    const child = await trajectories.create({ name: 'c', parent_trajectory_id: trajectory_id, subject_ids: ['bob'] });
    expect(new Set(child.subject_ids)).toEqual(new Set(BOTH));
    const { scope_id, box_id, subject_ids } = await scopes.create({ trajectory_id, name: 's' });
    expect(subject_ids).toEqual(ANN);
    expect((await boxes.load({ box_id })).subject_ids).toEqual(ANN);
    const turn = await turns.add({ scope_id, role: 'User', content: 'x' });
    const batch = await turns.batch({
      items: [{ operation: 'create', create: { scope_id, role: 'User', content: 'y' } }],
    });
    expect([turn.subject_ids, batch.results[0]]).toMatchObject([ANN, { data: { subject_ids: ANN } }]);
    expect((await cards.list({ subject_id: 'ann' })).cards.map(({ card_id }) => card_id)).toContain(turn.turn_id);
    const artifact = await artifacts.create({ scope_id, artifact_type: 'Fact', name: 'a', content: 'x' });
    expect(artifact.subject_ids).toEqual(ANN);
    expect((await executions.create({ trajectory_id })).subject_ids).toEqual(ANN);
    await scopes.checkpoint({ scope_id });
    expect((await scopes.restore({ scope_id })).subject_ids).toEqual(ANN);
    expect((await boxes.fork({ box_id })).subject_ids).toEqual(ANN);
  });

  it('SUBJECT-2 what is made from content is about the same people, in every version', async () => {
    const { trajectories, scopes, turns, artifacts, notes, cards } = await test().freshTenant();
    const { trajectory_id } = await trajectories.create({ name: 't' });
    const { scope_id } = await scopes.create({ trajectory_id, name: 's' });
    const fact = { scope_id, artifact_type: 'Fact', name: 'a', content: 'x' };
    await turns.add({ scope_id, role: 'User', content: 'x', subject_ids: ANN });
    const source = await artifacts.create({ ...fact, source_turn: 1 });
    expect(source.subject_ids).toEqual(ANN);
    const { artifact_id } = source;
    const derived = await artifacts.create({ ...fact, derived_from: [artifact_id], subject_ids: ['bob'] });
    expect(new Set(derived.subject_ids)).toEqual(new Set(BOTH));
    const note = await notes.create({
      note_type: 'Fact',
      title: 'n',
      content: 'x',
      source_artifact_ids: [artifact_id],
    });
    expect(note.subject_ids).toEqual(ANN);
    const { note_id } = note;
    const changed = await notes.update({ note_id, content: 'y' });
    expect(changed.subject_ids).toEqual(ANN);
    expect((await cards.get({ card_id: changed.card_id })).subject_ids).toEqual(ANN);
    expect((await notes.history({ note_id })).versions.map(({ subject_ids }) => subject_ids)).toEqual([ANN, ANN]);
  });

  it('SUBJECT-3 summaries, digests and extracted facts are about those of the turns that they were made from', async () => {
    const { trajectories, scopes, turns, artifacts, notes } = await test().freshTenant();
    const { trajectory_id } = await trajectories.create({ name: 't' });
    const { scope_id } = await scopes.create({ trajectory_id, name: 's', subject_ids: ANN, retain: 'digest' });
    for (const content of ['My name is Ann Berger.', 'We decided to use PostgreSQL 17 because of the extensions.'])
      await turns.add({ scope_id, role: 'User', content });
    const extracted = await scopes.extract({ scope_id });
    await scopes.summarize({ scope_id });
    await turns.add({ scope_id, role: 'User', content: 'The deadline of the migration is 3 March 2027.' });
    await scopes.close({ scope_id });
    const kept = [...(await artifacts.list({})).artifacts, ...(await notes.list({})).notes];
    expect(kept.length).toBeGreaterThan(2);
    for (const one of [...kept, ...extracted.artifacts, ...extracted.notes]) expect(one.subject_ids).toEqual(ANN);
  });
});
