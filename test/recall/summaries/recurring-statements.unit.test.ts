/** What several trajectories have in common, and silence when they have nothing. */
import { describe, expect, it } from 'vitest';
import { cooperativeYield } from '#cairn/kernel/index.js';
import { offlineSummarizer } from '#cairn/recall/summaries/offline-summarizer.js';
import { recurringStatements } from '#cairn/recall/summaries/recurring-statements.js';
import type { TextSource } from '#cairn/recall/summaries/sources.js';

const note = (id: string, trajectory_id: string, text: string): TextSource => ({ id, trajectory_id, text });
const recurring = (sources: readonly TextSource[]) => recurringStatements(sources, { maybe_yield: cooperativeYield() });
/** What two trajectories have in common that say one thing each. */
const common = async (a: string, b: string) =>
  (await recurring([note('a', 't1', a), note('b', 't2', b)])).map(({ text }) => text);

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
  it('recur when two or more trajectories make them, in wordings that say the same', async () => {
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

  it.each([
    ['Always validate inputs at the boundary.', 'always validate the input at the boundary'],
    ['Always validate inputs at the boundary.', 'Please, always validate all inputs at the "boundary"!'],
    ['Always validate inputs at the boundary.', 'We should always validate inputs at the boundary.'],
    ['Always validate inputs at the boundary.', 'ALWAYS VALIDATE INPUTS AT THE BOUNDARY'],
    [
      'Always validate inputs at the boundary.',
      'User: The build is red; inputs must always be validated at the boundary',
    ],
    ['Never deploy services on Friday.', 'Okay, don’t deploy the services on Friday.'],
    ['Never deploy services on Friday.', 'Services must not be deployed on Friday.'],
    ['The parser has failed after the update.', 'The parser is failing after the update.'],
    ['Retries wait thirty-two seconds after 1,000 calls.', 'A retry waits thirty-two seconds after 1000 calls.'],
    ['Backups are kept in two regions.', 'The backup is kept in 2 regions.'],
    ['The policies were reviewed by the board.', 'The policy was reviewed by the board.'],
    ['User: I prefer tabs over spaces in Python.', 'User: I prefer tabs over spaces in Python.'],
    ['入力は必ず境界で検証する。', '入力は必ず境界で検証する'],
    ['Never deploy services on Friday.', 'Do NOT deploy services on Friday.'],
    ['Never deploy services on Friday.', '- NEVER deploy (the) *services* on Friday.'],
    ['Lists in the docs begin with *.', 'Lists in the docs begin with *'],
    ['IT must sign the new contracts.', 'IT must sign new contracts!'],
  ])('recur with differences that change nothing: %s / %s', async (a, b) => {
    expect(await common(a, b)).toHaveLength(1);
  });

  it.each([
    ['The tests of the parser passed after the fix.', 'The tests of the parser failed after the fix.'],
    ['Orders above 1000 euros need a signature.', 'Orders below 1000 euros need a signature.'],
    ['The audit is in the third week of March.', 'The audit is in the third week of April.'],
    ['The customer Anna wants a refund.', 'The customer Bernd wants a refund.'],
    ['Deploy the frontend before you restart the database.', 'Deploy the database before you restart the frontend.'],
    ['Backups are kept in one region.', 'Backups are kept in two regions.'],
    ['The audit is in the third week of March.', 'The audit is in the fourth week of March.'],
    ['Use Go instead of Rust for the parser.', 'Use Rust instead of Go for the parser.'],
    ['The customers of the bank sued in May.', 'The bank sued the customers in May.'],
    ['The customer was charged for the order.', 'The customer charged for the order.'],
    ['The team has limited access to the database.', 'The team limited access to the database.'],
    ['You do not have to validate inputs at the boundary.', 'Do not validate inputs at the boundary.'],
    ['Do not validate every input at the boundary.', 'Do not validate inputs at the boundary.'],
    ['Validated the inputs at the boundary.', 'Validate the inputs at the boundary.'],
    ['The tests must pass after the fix.', 'The tests pass after the fix.'],
    ['The tests that failed ran after the fix.', 'The tests failed, ran after the fix.'],
    ['Write the important files to disk first.', 'Write the import files to disk first.'],
    ['Small commits make better reviews.', 'Small commits make good reviews.'],
    ['Write the new parser in C++ this spring.', 'Write the new parser in C# this spring.'],
    ['The disk is at most 5% full.', 'The disk is at most 5 GB full.'],
    ['Customer Mann wants the refund in cash.', 'The customer Manning wants the refund in cash.'],
    ['Anna: I want a refund for the order.', 'Bernd: I want a refund for the order.'],
    ['[2024-01-02] Anna: The release is shipped tomorrow.', '[2024-03-02] Anna: The release is shipped tomorrow.'],
    ['Small commits make reviews faster for everyone.', 'Small commits help the reviews.'],
    ['入力は必ず境界で検証する。', '出力は必ず境界で検証する。'],
    [`Use ' for string quotes in code.`, `Use " for string quotes in code.`],
    ['Run the linter with -v on every commit.', 'Run the linter with -V on every commit.'],
    ['Use * for bullet lists in the docs.', 'Use - for bullet lists in the docs.'],
    ['Lists in the docs begin with *.', 'Lists in the docs begin with -.'],
    ['Query the table by _id in the importer.', 'Query the table by id in the importer.'],
    ['Rename the method __init__ in the parser.', 'Rename the method init in the parser.'],
    ['Pass *args to the wrapped function.', 'Pass args to the wrapped function.'],
    ['Uploads have a limit of 5 MB each.', 'Uploads have a limit of 5 Mb each.'],
    ['Uploads have a limit of 5 mb each.', 'Uploads have a limit of 5 Mb each.'],
    ['Set the timeout of jobs to 10m.', 'Set the timeout of jobs to 10M.'],
    [`Leave a gap of 5' between racks.`, 'Leave a gap of 5" between racks.'],
    ['Ask IT to approve the new laptop.', 'Ask it to approve the new laptop.'],
    ['IT must sign the new contracts.', 'It must sign the new contracts.'],
    ['Customers on plan A pay monthly.', 'Customers on the plan pay monthly.'],
    ['The database was hosted in Berlin.', 'The database is hosted in Berlin.'],
    ['The databases were running in Berlin.', 'The databases are running in Berlin.'],
  ])('do not recur where another thing is said: %s / %s', async (a, b) => {
    expect(await common(a, b)).toEqual([]);
    expect(await common(b, a)).toEqual([]);
  });

  it('that another trajectory denies are none that hold across them', async () => {
    const allowed = 'Deploys on Friday are allowed for the web team.';
    const said = [note('a', 't1', allowed), note('b', 't2', allowed)];
    expect(await recurring(said)).toHaveLength(1);
    const denied = note('c', 't3', "Deploys on Friday aren't allowed for the web team.");
    expect(await recurring([...said, denied])).toEqual([]);
    const stressed = note('c', 't3', 'Deploys on Friday are NOT allowed for the WEB team.');
    expect(await recurring([...said, stressed])).toEqual([]);
    expect(await recurring([...said, note('c', 't3', 'Deploys on Friday are ALLOWED for the web team.')])).toHaveLength(
      1,
    );
  });

  it('are compared with pauses, as they are read: many of them hold nothing else up', async () => {
    const text = Array.from({ length: 500 }, (_, at) => `Customer ${at} wants a refund.`).join(' ');
    let asked = 0;
    const maybe_yield = () => {
      asked++;
      return undefined;
    };
    expect(await recurringStatements([note('a', 't1', text), note('b', 't2', text)], { maybe_yield })).toHaveLength(
      500,
    );
    expect(asked).toBeGreaterThanOrEqual(1500);
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
    expect(await offlineSummarizer.summarize({ sources: notes.slice(4), max_tokens: 99, level: 'L2' })).toMatchObject({
      text: '',
      source_ids: [],
    });
  });
});
