/** The rules that find what a statement changes: their score on small stores, and how values are read. */
import { expect, it } from 'vitest';
import type { KnownNote } from '#cairn/recall/updating/known-notes.js';
import { statementFrom } from '#cairn/recall/updating/relations.js';
import { measuresIn } from '#cairn/recall/updating/revisions/measures.js';
import { relationsTo } from '#cairn/recall/updating/revisions/revising.js';
import { stores, type Told } from './revisions-corpus.js';

const DAY_MS = 86_400_000;

/** What each statement of a store changes, as pairs of positions. */
function linksIn(told: readonly Told[]): string[] {
  const statements = told.map(([text], at) =>
    statementFrom(text, null, { ms: Date.UTC(2025, 0, 1) + at * DAY_MS, given: true, day: true }),
  );
  const hidden = new Set<number>();
  return statements.flatMap((own, at) => {
    const known = statements
      .slice(0, at)
      .map((statement, i) => ({ row: { memory_id: String(i) }, statement }) as unknown as KnownNote)
      .filter((_, i) => !hidden.has(i));
    return relationsTo(own, known).flatMap((related, i) => {
      if (related?.relation !== 'replaces' && related?.relation !== 'contradicts') return [];
      const id = Number(known[i]!.row.memory_id);
      if (related.whole ?? known[i]!.statement.whole) hidden.add(id);
      return [`${told[id]![0]} | ${told[at]![0]}`];
    });
  });
}

const labelled = (told: readonly Told[]): string[] =>
  told.flatMap(([text, changes]) => (changes === undefined ? [] : [`${told[changes]![0]} | ${text}`]));

it('UPD-11 the rules link nothing in small stores that people would not, and most of what they would', () => {
  const all = Object.values(stores);
  const expected = all.flatMap(labelled);
  const found = all.flatMap(linksIn);
  expect(found.filter((one) => !expected.includes(one))).toEqual([]);
  const missed = expected.filter((one) => !found.includes(one));
  expect(missed.length / expected.length, missed.join('\n')).toBeLessThan(0.12);
});

it('UPD-11 values are read by their form, in several languages', () => {
  const read = (text: string) => measuresIn(text).map(({ kind, unit, value }) => `${kind} ${unit} ${value}`.trim());
  expect(read('Yoga is on Tuesdays at half past six, 12 euros a go')).toEqual([
    'weekday  2',
    'clock  half past six',
    'money go 12',
  ]);
  expect(read('La réunion est le mardi à 9h30')).toEqual(['weekday  2', 'clock  9:30']);
  expect(read('Die Miete beträgt 1.250 Euro, Heizung 17 Grad')).toEqual(['money  1250', 'amount grad 17']);
  expect(read('房贷每月还一万一千二')).toEqual(['interval  每月', 'money  11200']);
  expect(read('Postgres 16 holds twelve tables of 2.5k rows')).toEqual([
    'amount  16',
    'amount table 12',
    'amount row 2500',
  ]);
  expect(read('from 3 to 8 July, every two weeks, 40 %')).toEqual([
    'day  6-3',
    'interval  every two weeks',
    'share  40',
  ]);
  expect(read('since 2019, one of them')).toEqual([]);
});
