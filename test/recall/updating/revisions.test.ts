/** Changes told in other words than the known statement: what `remember` links, and how `recall` marks and orders it. */
import { expect, it } from 'vitest';
import { onEveryTarget } from '../../support/targets.js';

onEveryTarget('revisions', (test) => {
  const remembered = async (...told: readonly (readonly [text: string, occurred_at?: string])[]) => {
    const cairn = await test().freshTenant();
    const notes = [];
    for (const [text, occurred_at] of told)
      notes.push(await cairn.memory.remember({ text, ...(occurred_at === undefined ? {} : { occurred_at }) }));
    return { cairn, notes };
  };

  it('UPD-11 a change told in other words is linked to what it changes, and both carry marks', async () => {
    const { cairn, notes } = await remembered(
      ['Gloves come from Medistock, boxes of 200.', '2025-01-10'],
      ['The staff room has a new kettle.', '2025-02-01'],
      ['Medistock went bust, so we order gloves at Hygienia now.', '2025-06-02'],
    );
    expect(notes[1]).toMatchObject({ outcome: 'added' });
    expect(notes[2]).toMatchObject({
      outcome: 'contradictory',
      contradicts: [{ id: notes[0]!.id, value: 'Medistock' }],
    });
    const { passages } = await cairn.memory.recall({ query: 'Where do we buy gloves?' });
    expect(new Map(passages.map(({ id, mark }) => [id, mark]))).toEqual(
      new Map([
        [
          notes[2]!.id,
          'since 2025-06-02; before: Medistock; contradicts: "Gloves come from Medistock, boxes of 200." (2025-01-10, older)',
        ],
        [notes[0]!.id, 'contradicts: "Medistock went bust, so we order gloves at Hygienia now." (2025-06-02, newer)'],
        [notes[1]!.id, undefined],
      ]),
    );
  });

  it('UPD-11 what states nothing else is superseded', async () => {
    const cases = [
      ['Deploy day is Wednesday.', 'The deploy was moved to Thursday.'],
      ['Tom drives a Volvo.', 'Tom sold the Volvo and drives a Tesla.'],
      ['The meeting is on Monday', 'The meeting is on Tuesday now'],
      ['The dog sleeps in the kitchen.', 'The dog sleeps in the hall now.'],
      ['Log files are kept for 14 days.', 'Log retention was extended to 30 days.'],
    ] as const;
    for (const [known, told] of cases) {
      const { cairn, notes } = await remembered([known], [told]);
      expect(notes[1], told).toMatchObject({ outcome: 'superseded', superseded: [{ id: notes[0]!.id }] });
      const { passages } = await cairn.memory.recall({ query: known });
      expect(passages.map(({ text }) => text)).toEqual([expect.stringContaining('; before: ')]);
    }
  });

  it('UPD-11 a change that happened before what is known is superseded by it', async () => {
    const { notes } = await remembered(
      ['From May on reception stays open until 19:30.', '2025-05-01'],
      ['Since January reception stays open until 18:00 only.', '2025-01-01'],
    );
    expect(notes[1]).toMatchObject({ outcome: 'added' });
    expect(notes[1]!.superseded_by ?? notes[1]!.contradicts).toMatchObject([{ id: notes[0]!.id }]);
  });

  it('UPD-5 plans, questions, additions and other things change nothing', async () => {
    const known = [
      'Gloves come from Medistock, boxes of 200.',
      'The summer concert is planned for 14 June.',
      'Reception closes at 18:00 on weekdays.',
      'Room 3 is painted green.',
      'Rosa gets 14 an hour.',
    ];
    const { cairn } = await remembered(...known.map((text) => [text] as const));
    const told = [
      'Maybe we should order gloves at Hygienia instead of Medistock.',
      'Do we order gloves at Hygienia instead of Medistock now?',
      'The Christmas concert was moved to 12 December.',
      'We also order gloves at Hygienia now.',
      'Room 4 was painted blue and is now 20 euros cheaper.',
      'The reception desk has new lamps.',
      'Nils gets 16 an hour now.',
    ];
    for (const text of told) expect(await cairn.memory.remember({ text }), text).toMatchObject({ outcome: 'added' });
  });

  it('UPD-11 "I" of another speaker changes nothing', async () => {
    const cairn = await test().freshTenant();
    await cairn.memory.remember({ text: 'My gym is FitInn on the corner, 29 a month.', speaker: 'Anna' });
    const told = { text: 'Cancelled FitInn; my gym is the climbing hall now, 45 a month.' };
    expect(await cairn.memory.remember({ ...told, speaker: 'Ben' })).toMatchObject({ outcome: 'added' });
    expect(await cairn.memory.remember({ ...told, speaker: 'Anna' })).toMatchObject({ outcome: 'contradictory' });
  });

  it('UPD-12 two values of the same statement are linked: by date the newer replaces, on one day they contradict', async () => {
    const dated = await remembered(
      ['Sourdough bread costs 7.50 euros.', '2025-01-10'],
      ['Sourdough bread costs 8.25 euros.', '2025-06-10'],
    );
    expect(dated.notes[1]).toMatchObject({ outcome: 'superseded', superseded: [{ value: '7.50 euros' }] });
    const sameDay = await remembered(
      ['The hall holds 120 people.', '2025-01-10'],
      ['The hall holds 150 people.', '2025-01-10'],
    );
    expect(sameDay.notes[1]).toMatchObject({ outcome: 'contradictory', contradicts: [{ id: sameDay.notes[0]!.id }] });
    const { passages } = await sameDay.cairn.memory.recall({ query: 'How many people does the hall hold?' });
    expect(passages.map(({ mark }) => mark?.replace(/".*"/, '…'))).toEqual([
      'contradicts: … (2025-01-10)',
      'contradicts: … (2025-01-10)',
    ]);
    const events = await remembered(['Ran 10 km in the park.', '2025-01-10'], ['Ran 12 km in the park.', '2025-01-12']);
    expect(events.notes[1]).toMatchObject({ outcome: 'added' });
    const numbered = await remembered(['Parcel 17 has arrived at the depot.'], ['Parcel 18 has arrived at the depot.']);
    expect(numbered.notes[1]).toMatchObject({ outcome: 'added' });
  });

  it('UPD-13 recall returns what replaced a statement before the statement', async () => {
    const { cairn, notes } = await remembered(
      ['Wine comes from Cellars of Corney on account, with thirty days to settle.', '2024-02-17'],
      ['Corney closed our account, so wine is bought at Tutto now and settled by card.', '2024-12-01'],
      ['The long table has twelve seats.', '2024-12-05'],
    );
    const { passages } = await cairn.memory.recall({ query: 'wine on account: how many days to settle with Corney?' });
    const ids = passages.map(({ id }) => id);
    expect(ids.indexOf(notes[1]!.id)).toBe(ids.indexOf(notes[0]!.id) - 1);
  });
});
