/** The summariser that needs no model: what it chooses, that the budget holds, and that it lets others have their turn. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cooperativeYield } from '#cairn/kernel/index.js';
import { extractiveSummary } from '#cairn/recall/summaries/extractive-summary.js';
import { type TextSource, wholeGroups } from '#cairn/recall/summaries/sources.js';
import { countTokens } from '#cairn/text/index.js';

const summarise = (sources: readonly TextSource[], max_tokens: number, signal?: AbortSignal) =>
  extractiveSummary(sources, { max_tokens, count: countTokens, maybe_yield: cooperativeYield(signal) });

const turn = (id: string, role: string, text: string, more: Partial<TextSource> = {}): TextSource => ({
  id,
  role,
  text,
  ...more,
});

const talk = [
  turn('1', 'User', 'Hi! The nightly import of orders has been failing since the move to the new cluster.'),
  turn('2', 'Assistant', 'Sure, let me look at that. I hope this helps.'),
  turn('3', 'Assistant', 'The nightly import fails because the orders table has no index on customer_id.'),
  turn('4', 'User', 'Great, thanks!'),
  turn('5', 'User', 'Which database do we keep for the archive?'),
  turn('6', 'Assistant', 'PostgreSQL 15.'),
  turn('7', 'User', 'We decided to add the index tonight and to run the nightly import again tomorrow.'),
  turn('8', 'User', 'So: we decided to add the index tonight and to run the nightly import again tomorrow.'),
];

describe('a summary', () => {
  it('keeps what was found out and decided, leaves out what is only said, and says nothing twice', async () => {
    const { text, source_ids } = await summarise(talk, 70);
    expect(text).toContain('fails because the orders table has no index');
    expect(text.match(/run the nightly import again/g)).toHaveLength(1);
    expect(text).not.toMatch(/thanks|hope this helps/);
    // Both that say it are linked, though one of them is quoted.
    expect(source_ids).toEqual(expect.arrayContaining(['7', '8']));
  });

  it('puts the subject of the question before a short answer, and links both', async () => {
    const { sentences, source_ids } = await summarise(talk, 200);
    expect(sentences.map(({ text }) => text)).toContain('database, archive: PostgreSQL 15.');
    expect(source_ids).toEqual(expect.arrayContaining(['5', '6']));
  });

  it('has its sentences word for word, in their order, and names who speaks and when', async () => {
    const sources = [
      turn('a', 'User', 'The launch moved to autumn. Our partner needs more time.', {
        speaker: 'Ines',
        occurred_at: '2024-05-02T10:00:00Z',
      }),
      turn('b', 'User', 'I will tell the sales team about the launch.', { speaker: 'Omar', occurred_at: '2024-05-02' }),
      turn('c', 'User', 'The sales team agreed to the launch in autumn.', {
        speaker: 'Omar',
        occurred_at: '2024-05-03',
      }),
    ];
    const { text, sentences } = await summarise(sources, 500);
    expect(text).toBe(
      [
        '[2024-05-02] Ines: The launch moved to autumn. Our partner needs more time.',
        'Omar: I will tell the sales team about the launch.',
        '[2024-05-03] Omar: The sales team agreed to the launch in autumn.',
      ].join('\n'),
    );
    expect(sentences.map(({ source }) => source)).toEqual([0, 0, 1, 2]);
  });

  it('links a tool call and its result together', async () => {
    const sources = [
      turn('ask', 'User', 'How full is the disk of the build server?'),
      turn('call', 'Assistant', 'I will look at the disk of the build server with df.', { group: 'g1' }),
      turn('result', 'Tool', '/dev/sda1 97%', { group: 'g1' }),
      turn('other', 'User', 'Remember to water the plants in the office.'),
    ];
    for (const budget of [20, 30, 60, 200]) {
      const { source_ids } = await summarise(sources, budget);
      expect(source_ids.includes('call')).toBe(source_ids.includes('result'));
    }
    expect((await summarise(sources, 200)).source_ids).toContain('result');
  });

  it('is empty when there is nothing to say, or no sentence that fits', async () => {
    expect(await summarise([], 100)).toEqual({ text: '', source_ids: [], sentences: [] });
    expect((await summarise(talk, 3)).text).toBe('');
    expect((await summarise([turn('1', 'User', '```\nx\n```\n| a |')], 100)).text).toBe('');
  });

  it('is the same again', async () => {
    expect(await summarise(talk, 60)).toEqual(await summarise(talk, 60));
  });

  it('of a long conversation lets others have their turn, and stops when it is told to', async () => {
    const many = Array.from({ length: 3000 }, (_, i) =>
      turn(`${i}`, 'User', `Ticket ${i} about module ${i % 37} was closed. The fix for case ${i % 91} is in review.`),
    );
    let turns = 0;
    const tick = setInterval(() => turns++, 0);
    const { text } = await summarise(many, 300).finally(() => clearInterval(tick));
    expect(turns).toBeGreaterThan(3);
    expect(await countTokens(text)).toBeGreaterThan(150);

    const stop = new AbortController();
    const stopped = summarise(many, 300, stop.signal);
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
  });
});

const SCRIPTS = [
  'We decided to use the blue one. ',
  'The price is 4,500.50 EUR! ',
  'Wir haben beschlossen, am 5. März zu beginnen. ',
  '我们决定明天开始。',
  'これは大事な決定です。',
  'Мы решили начать завтра. ',
  'قررنا أن نبدأ غدا. ',
  'हमने कल शुरू करने का फैसला किया। ',
  '우리는 내일 시작하기로 했다. ',
  'เราตัดสินใจเริ่มพรุ่งนี้ ',
  '👩‍👩‍👧‍👦🏳️‍🌈 yes! ',
  '\n```js\nlet a = 1;\n```\n',
  '- item one\n',
  'const x = {a: [1,2]}; ',
  'a\ud800b ',
  '\n\n',
];

const anySource = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
  role: fc.constantFrom('User', 'assistant', 'Tool', 'System'),
  speaker: fc.constantFrom(null, 'Ana', '田中', 'x\ny'),
  text: fc
    .array(fc.oneof(fc.constantFrom(...SCRIPTS), fc.string({ unit: 'grapheme', maxLength: 30 })), { maxLength: 12 })
    .map((parts) => parts.join('')),
  occurred_at: fc.constantFrom(null, '2024-03-05', 'no date', 1_700_000_000_000),
  group: fc.constantFrom(null, 'g', 'h'),
});

describe('any summary', () => {
  it('keeps the budget, cites only its sources and whole groups, and is the same again', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(anySource, { maxLength: 8, selector: ({ id }) => id }),
        fc.integer({ min: 0, max: 150 }),
        async (sources, max_tokens) => {
          const made = await summarise(sources, max_tokens);
          expect(await countTokens(made.text)).toBeLessThanOrEqual(max_tokens);
          const ids = sources.map(({ id }) => id);
          expect(ids).toEqual(expect.arrayContaining([...made.source_ids]));
          for (const { source } of made.sentences) expect(made.source_ids).toContain(ids[source]);
          for (const group of ['g', 'h']) {
            const members = sources.filter((one) => one.group === group).map(({ id }) => id);
            expect([0, members.length]).toContain(members.filter((id) => made.source_ids.includes(id)).length);
          }
          expect(await summarise(sources, max_tokens)).toEqual(made);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('what is summarised away', () => {
  it('ends between groups', () => {
    const sources = ['', 'g', 'g', '', 'h', '', 'h'].map((group, i) => turn(`${i}`, 'User', 'x', { group }));
    expect([0, 1, 2, 3, 4, 5, 6, 7, 9].map((wanted) => wholeGroups(sources, wanted))).toEqual([
      0, 1, 1, 3, 4, 4, 4, 7, 7,
    ]);
  });

  it('gives back groups that cross one another', () => {
    const sources = ['g', 'h', 'g', 'i', 'h', 'i'].map((group, i) => turn(`${i}`, 'User', 'x', { group }));
    expect(wholeGroups(sources, 5)).toBe(0);
    expect(wholeGroups(sources, 6)).toBe(6);
  });
});
