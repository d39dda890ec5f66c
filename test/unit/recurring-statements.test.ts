/** What several trajectories have in common, and silence when they have nothing. */
import { describe, expect, it } from 'vitest';
import { givingWay } from '#cairn/domain/giving-way.js';
import { recurringStatements } from '#cairn/domain/recurring-statements.js';
import type { TextSource } from '#cairn/domain/sources.js';
import { offlineSummarizer } from '#cairn/provider/offline-summarizer.js';

const note = (id: string, trajectory_id: string, text: string): TextSource => ({ id, trajectory_id, text });
const recurring = (sources: readonly TextSource[], threshold?: number) =>
  recurringStatements(sources, { give_way: givingWay(), ...(threshold === undefined ? {} : { threshold }) });

const notes = [
  note('n1', 't1', 'The importer was rewritten. Validate every input at the boundary of the system.'),
  note('n2', 't2', 'Inputs must be validated at every boundary of the system. The colours were changed.'),
  note('n3', 't3', '[2024-01-02] Ana: Validate inputs at the system boundary.'),
  note('n4', 't3', 'Validate inputs at the system boundary!'),
  note('n5', 't2', 'Retries wait 30 seconds before the next call.'),
  note('n6', 't1', 'Retries wait 60 seconds before the next call.'),
  note('n7', 't1', 'Deploys on Friday are allowed for the web team.'),
  note('n8', 't2', 'Deploys on Friday are not allowed for the web team.'),
];

describe('statements', () => {
  it('recur when two or more trajectories make them, whatever the wording', async () => {
    expect(await recurring(notes)).toEqual([
      {
        text: expect.stringMatching(/boundary/),
        source_ids: ['n1', 'n2', 'n3', 'n4'],
        trajectory_ids: ['t1', 't2', 't3'],
      },
    ]);
  });

  it('do not recur within one trajectory, nor with another number, nor as the contrary', async () => {
    expect(await recurring(notes.slice(2, 4))).toEqual([]);
    expect(await recurring(notes.slice(4))).toEqual([]);
    expect(await recurring([])).toEqual([]);
  });

  it('recur more easily with a lower threshold', async () => {
    const loose = [
      note('a', 't1', 'Small commits make reviews faster for everyone.'),
      note('b', 't2', 'Small commits help the reviews.'),
    ];
    expect(await recurring(loose, 0.9)).toEqual([]);
    expect(await recurring(loose, 0.5)).toHaveLength(1);
  });

  it('make an L2 summary within its budget, and none when nothing recurs', async () => {
    const made = await offlineSummarizer.summarize({ sources: notes, max_tokens: 40, level: 'L2' });
    expect(made.text).toMatch(/^- .*boundary/);
    expect(made.source_ids).toEqual(['n1', 'n2', 'n3', 'n4']);
    expect(made.cost).toMatchObject({ provider: 'offline', model: null, attempts: 0 });
    expect(await offlineSummarizer.summarize({ sources: notes, max_tokens: 3, level: 'L2' })).toMatchObject({
      text: '',
      source_ids: [],
    });
    expect(
      await offlineSummarizer.summarize({ sources: notes.slice(4), max_tokens: 99, level: 'L2' }),
    ).toMatchObject({
      text: '',
      source_ids: [],
    });
  });
});
