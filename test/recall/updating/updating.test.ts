/** Updating: what remembering a statement does to what is known, and how the known is marked. */
import { expect, it } from 'vitest';
import { tenantOf } from '../../support/nouns/hierarchy.js';
import { someScope } from '../../support/nouns/scopes.js';
import { onEveryTarget, refusalOf } from '../../support/targets.js';

onEveryTarget('updating', (test) => {
  const today = () => new Date().toISOString().slice(0, 10);

  it('UPD-1 a new value supersedes the known one, and the answer names it', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.memory.remember({ text: 'Lena lives in Hamburg.', occurred_at: '2024-05-01' });
    expect(first).toMatchObject({ outcome: 'added' });
    expect(first).not.toHaveProperty('superseded');
    const second = await cairn.memory.remember({ text: 'Lena lives in Munich now.', occurred_at: '2026-03-01' });
    expect(second).toMatchObject({
      outcome: 'superseded',
      superseded: [
        { id: first.id, text: 'Lena lives in Hamburg.', value: 'Hamburg', occurred_at: '2024-05-01T00:00:00.000Z' },
      ],
    });
    expect(await cairn.notes.get({ note_id: first.id })).toMatchObject({ superseded_by: [second.id] });
  });

  it('UPD-2 recall returns the current value with its mark, and the former one no more', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.memory.remember({ text: 'Lena lives in Hamburg.', occurred_at: '2024-05-01' });
    await cairn.memory.remember({ text: 'Lena lives in Munich now.', occurred_at: '2026-03-01' });
    const { passages } = await cairn.memory.recall({ query: 'Where does Lena live?' });
    expect(passages).toMatchObject([
      {
        text: 'Lena lives in Munich now. (since 2026-03-01; before: Hamburg)',
        mark: 'since 2026-03-01; before: Hamburg',
        since: '2026-03-01T00:00:00.000Z',
        before: [{ id: first.id, value: 'Hamburg', occurred_at: '2024-05-01T00:00:00.000Z' }],
      },
    ]);
    const third = await cairn.memory.remember({ text: 'Lena moved to Bremen.' });
    expect(third).toMatchObject({ outcome: 'superseded', superseded: [{ value: 'Munich' }] });
    const after = await cairn.memory.recall({ query: 'Where does Lena live?' });
    expect(after.passages.map(({ text }) => text)).toEqual([
      `Lena moved to Bremen. (since ${today()}; before: Munich)`,
    ]);
  });

  it('UPD-1 what is known already is stored again and strengthens it, a turn is added', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.memory.remember({ text: 'Tom works at Siemens.' });
    const again = await cairn.memory.remember({ text: 'Tom works for Siemens.' });
    expect(again).toMatchObject({ outcome: 'strengthened', strengthens: [{ id: first.id }] });
    expect((await cairn.notes.list()).total).toBe(2);
    const { edges } = await cairn.edges.list({ edge_type: 'Supports' });
    expect(edges.map(({ participants }) => participants.map(({ entity_id }) => entity_id))).toEqual([
      [again.id, first.id],
    ]);
    expect(await cairn.memory.remember({ text: 'Tom works at Bosch now.', as: 'turn' })).toMatchObject({
      outcome: 'added',
    });
    const now = await cairn.memory.remember({ text: 'Tom works at Bosch now.' });
    expect(now).toMatchObject({ outcome: 'superseded' });
    expect(now.superseded!.map(({ id }) => id).sort()).toEqual([first.id, again.id].sort());
  });

  it('UPD-2 a mark ends with the note that it names', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.memory.remember({ text: 'Lena lives in Hamburg.' });
    const second = await cairn.memory.remember({ text: 'Lena lives in Munich now.' });
    await cairn.notes.delete({ note_id: first.id });
    const unmarked = await cairn.memory.recall({ query: 'Where does Lena live?' });
    expect(unmarked.passages.map(({ text }) => text)).toEqual(['Lena lives in Munich now.']);
    const third = await cairn.memory.remember({ text: 'Lena moved to Bremen.' });
    await cairn.notes.delete({ note_id: third.id });
    const back = await cairn.memory.recall({ query: 'Where does Lena live?' });
    expect(back.passages.map(({ id }) => id)).toEqual([second.id]);
  });

  it('UPD-3 an old fact that is told later supersedes nothing', async () => {
    const cairn = await test().freshTenant();
    const current = await cairn.memory.remember({ text: 'Lena lives in Munich.', occurred_at: '2026-03-01' });
    const older = await cairn.memory.remember({ text: 'Lena lives in Hamburg.', occurred_at: '2020-01-01' });
    expect(older).toMatchObject({ outcome: 'added', superseded_by: [{ id: current.id, value: 'Munich' }] });
    const oldest = await cairn.memory.remember({ text: 'Lena lives in Kiel.', occurred_at: '2012-01-01' });
    expect(oldest).toMatchObject({ outcome: 'added' });
    const { passages } = await cairn.memory.recall({ query: 'Where does Lena live?' });
    expect(passages.map(({ text }) => text)).toEqual(['Lena lives in Munich. (since 2026-03-01; before: Hamburg)']);
    expect(passages[0]!.before!.map(({ value }) => value)).toEqual(['Hamburg', 'Kiel']);
  });

  it('UPD-3 of two values on the same day neither is newer: both are shown, each names the other', async () => {
    const cairn = await test().freshTenant();
    const occurred_at = '2026-03-01';
    const first = await cairn.memory.remember({ text: 'Lena lives in Rome.', occurred_at });
    const second = await cairn.memory.remember({ text: 'Lena lives in Oslo.', occurred_at });
    expect(second).toMatchObject({ outcome: 'contradictory', contradicts: [{ id: first.id, value: 'Rome' }] });
    const { passages } = await cairn.memory.recall({ query: 'Where does Lena live?' });
    expect(passages.map(({ text }) => text).sort()).toEqual([
      'Lena lives in Oslo. (contradicts: "Lena lives in Rome." (2026-03-01))',
      'Lena lives in Rome. (contradicts: "Lena lives in Oslo." (2026-03-01))',
    ]);
  });

  it('UPD-4 "I" is the speaker, and speakers who disagree contradict each other', async () => {
    const cairn = await test().freshTenant();
    const by = (speaker: string, text: string) => cairn.memory.remember({ text, speaker });
    await by('Anna', 'I live in Rome.');
    expect(await by('Ben', 'I live in Oslo now.')).toMatchObject({ outcome: 'added' });
    expect(await by('Anna', 'I moved to Turin.')).toMatchObject({ outcome: 'superseded' });
    await by('Anna', 'The deadline is May 1.');
    expect(await by('Ben', 'The deadline is May 7.')).toMatchObject({ outcome: 'contradictory' });
    expect(await by('Cleo', 'The deadline moved to May 9.')).toMatchObject({ outcome: 'superseded' });
  });

  it('UPD-5 what adds, asks, plans or repeats an appointment replaces nothing', async () => {
    const cairn = await test().freshTenant();
    const texts = [
      'Anna likes coffee.',
      'Anna also likes tea.',
      'The dentist appointment is on May 3.',
      'The dentist appointment is on June 7.',
      'Lena lives in Hamburg.',
      'Lena might move to Munich.',
      'Does Lena live in Munich now?',
      'Lena lives in Munich for the summer.',
    ];
    for (const text of texts) expect(await cairn.memory.remember({ text }), text).toMatchObject({ outcome: 'added' });
  });

  it('UPD-6 a note that states more stays, and both carry marks', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.memory.remember({
      text: 'Lena lives in Hamburg with her two cats.',
      occurred_at: '2024-05-01',
    });
    const second = await cairn.memory.remember({ text: 'Lena lives in Munich now.', occurred_at: '2026-03-01' });
    expect(second).toMatchObject({ outcome: 'contradictory', contradicts: [{ id: first.id, value: 'Hamburg' }] });
    const { passages } = await cairn.memory.recall({ query: 'Where does Lena live?' });
    expect(new Map(passages.map(({ id, mark }) => [id, mark]))).toEqual(
      new Map([
        [first.id, 'contradicts: "Lena lives in Munich now." (2026-03-01, newer)'],
        [
          second.id,
          'since 2026-03-01; before: Hamburg; contradicts: "Lena lives in Hamburg with her two cats." (2024-05-01, older)',
        ],
      ]),
    );
  });

  it('UPD-7 concurrent writers of one value make one chain', async () => {
    const cairn = await test().freshTenant();
    await cairn.memory.remember({ text: 'Lena lives in Hamburg.' });
    const places = ['Munich', 'Bremen', 'Kiel', 'Mainz', 'Trier', 'Worms', 'Ulm', 'Jena'];
    const told = await Promise.all(
      places.map((place) => cairn.memory.remember({ text: `Lena lives in ${place} now.` })),
    );
    expect(told.map(({ outcome }) => outcome)).toEqual(places.map(() => 'superseded'));
    expect(new Set(told.flatMap(({ superseded }) => superseded!.map(({ id }) => id))).size).toBe(places.length);
    const { passages } = await cairn.memory.recall({ query: 'Where does Lena live?' });
    expect(passages).toHaveLength(1);
    expect((await cairn.notes.list({ include_superseded: true })).total).toBe(places.length + 1);
  });

  it('UPD-10 an agent supersedes what it may write, and sees no value of what it may not read', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const all = { memory_type: '*' as const, scope: 'all' as const };
    const own = { memory_type: '*' as const, scope: 'own' as const };
    const agents = { reader: { read: [all], write: [own] }, hermit: { read: [own], write: [own] } };
    for (const [agent_id, memory_access] of Object.entries(agents))
      await cairn.agents.register({ agent_id, agent_type: 'a', capabilities: ['x'], memory_access });
    const first = await cairn.memory.remember({ text: 'Lena lives in Hamburg.' });
    const as = (agent: string) => test().as({ tenant, agent });
    const hermit = await (await as('hermit')).memory.remember({ text: 'Lena lives in Ulm now.' });
    expect(hermit).toMatchObject({ outcome: 'added' });
    expect(JSON.stringify(hermit)).not.toContain('Hamburg');
    const reader = await (await as('reader')).memory.remember({ text: 'Lena lives in Munich now.' });
    expect(reader).toMatchObject({ outcome: 'contradictory' });
    expect(reader.contradicts!.map(({ id }) => id).sort()).toEqual([first.id, hermit.id].sort());
    const { passages } = await (await as('hermit')).memory.recall({ query: 'Where does Lena live?' });
    expect(passages.map(({ text }) => text)).toEqual(['Lena lives in Ulm now.']);
  });

  it('UPD-2 a context shows the current value with its mark, and its replay too', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.memory.remember({ text: 'Lena lives in Hamburg.', occurred_at: '2024-05-01' });
    const second = await cairn.memory.remember({ text: 'Lena lives in Munich now.', occurred_at: '2026-03-01' });
    const shown = 'Lena lives in Munich now. (since 2026-03-01; before: Hamburg)';
    for (const format of ['messages', 'markdown', 'xml', 'json'] as const) {
      const context = await cairn.context.assemble({ query: 'Where does Lena live?', format });
      const text = context.text ?? JSON.stringify(context.messages);
      expect(text).toContain(shown);
      expect(text.split('Hamburg')).toHaveLength(2);
      expect(context.trace.find(({ id }) => id === second.id)).toMatchObject({
        replaces: { entity_type: 'Note', id: first.id, start: 14, end: 21 },
      });
      const replay = await cairn.manifests.replay({ manifest_id: context.manifest_id });
      expect(replay.text ?? JSON.stringify(replay.messages)).toBe(text);
      const { manifests } = await cairn.manifests.list({ card_id: first.id });
      expect(manifests.map(({ manifest_id }) => manifest_id)).toContain(context.manifest_id);
    }
    const { manifest_id } = await cairn.context.assemble({ query: 'Where does Lena live?' });
    await cairn.notes.delete({ note_id: first.id });
    expect(await refusalOf(cairn.manifests.replay({ manifest_id }))).toMatchObject({ code: 'CONTENT_ERASED' });
    const after = await cairn.context.assemble({ query: 'Where does Lena live?', format: 'markdown' });
    expect(after.text).not.toContain('Hamburg');
  });

  it('UPD-1 what a conversation told is known as well', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    for (const content of ['I live in Hamburg.', 'We decided to use Postgres for the ledger.'])
      await cairn.turns.add({ scope_id, role: 'User', content });
    const { notes, artifacts } = await cairn.scopes.extract({ scope_id });
    const moved = await cairn.memory.remember({ text: 'I moved to Munich.' });
    expect(moved).toMatchObject({ outcome: 'superseded', superseded: [{ id: notes[0]!.note_id, value: 'Hamburg' }] });
    const chosen = await cairn.memory.remember({ text: 'We switched from Postgres to MySQL.' });
    expect(chosen).toMatchObject({ outcome: 'superseded', superseded: [{ id: artifacts[0]!.artifact_id }] });
    const { passages } = await cairn.memory.recall({
      query: 'Hamburg, Munich, Postgres or MySQL?',
      entity_types: ['Note', 'Artifact'],
    });
    expect(passages.map(({ id }) => id).sort()).toEqual([moved.id, chosen.id].sort());
  });
});
