/** What the rules get out of a conversation: little, and hardly ever junk. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cooperativeYield } from '#cairn/kernel/index.js';
import { NOTE_TYPES } from '#cairn/memory/contract.js';
import { extractFacts } from '#cairn/recall/extraction/english/extraction.js';
import { sameFact } from '#cairn/recall/extraction/english/same-fact.js';
import type { ExtractedFact } from '#cairn/recall/extraction/extractor.js';
import { offlineExtractor } from '#cairn/recall/extraction/offline-extractor.js';
import type { TextSource } from '#cairn/recall/summaries/sources.js';
import { exchanges } from './exchange-corpus.js';
import { corpus, type Labelled, SAID_AT } from './fact-corpus.js';

const extract = (sources: readonly TextSource[], recalled: readonly string[] = []): Promise<ExtractedFact[]> =>
  extractFacts(sources, { maybe_yield: cooperativeYield(), recalled });

const sourceOf = ({ text, role = 'user', speaker }: Omit<Labelled, 'keep'>, id = 's'): TextSource => ({
  id,
  role,
  text,
  occurred_at: SAID_AT,
  ...(speaker === undefined ? {} : { speaker }),
});

const contentsOf = async (text: string, more: Partial<TextSource> = {}): Promise<string[]> =>
  (await extract([{ ...sourceOf({ text }), ...more }])).map(({ content }) => content);

/** Today's score: 170 of 173 facts are found, with one wrong one. A change of the rules may raise these, never lower them. */
const SCORE = { sentences: 609, precision: 170 / 171, recall: 170 / 173 };

describe('the corpus', () => {
  it('is extracted with a precision of 0.994 and a recall of 0.982 at least', async () => {
    const found: Labelled[] = [];
    for (const one of corpus) if ((await extract([sourceOf(one)])).length > 0) found.push(one);
    const wanted = corpus.filter(({ keep }) => keep);
    const junk = found.filter(({ keep }) => !keep).map(({ text }) => text);
    const missed = wanted.filter((one) => !found.includes(one)).map(({ text }) => text);
    const right = found.length - junk.length;
    expect(corpus.length).toBeGreaterThanOrEqual(SCORE.sentences);
    expect(right / found.length, `junk: ${junk.join(' | ')}`).toBeGreaterThanOrEqual(SCORE.precision);
    expect(right / wanted.length, `missed: ${missed.join(' | ')}`).toBeGreaterThanOrEqual(SCORE.recall);
  });
});

describe('exchanges', () => {
  it.each(exchanges.map(([asked, replied, ...facts]) => ({ asked, replied, facts })))(
    '"$asked" – "$replied"',
    async ({ asked, replied, facts }) => {
      const found = await extract([
        { id: 'asked', role: 'Assistant', text: asked, occurred_at: SAID_AT },
        { id: 'replied', role: 'User', text: replied, occurred_at: SAID_AT },
      ]);
      const together = found.filter(({ source_ids }) => source_ids.length === 2);
      expect(together.map(({ content }) => content)).toEqual(facts);
    },
  );

  it('are of two turns only if the first is an assistant’s and nothing recalled', async () => {
    const asked = { id: 'a', text: 'Which domain is it?' };
    const replied = { id: 'b', role: 'User', text: 'harbour-cats.example' };
    expect(await extract([{ ...asked, role: 'Assistant' }, replied])).toHaveLength(1);
    expect(await extract([{ ...asked, role: 'User' }, replied])).toEqual([]);
    expect(await extract([{ ...asked, role: 'Assistant', recalled: true }, replied])).toEqual([]);
  });
});

describe('facts', () => {
  it.each([
    ['I prefer tea', 'Preference', 'Anna prefers tea.', 'anna'],
    ['I like my coffee black', 'Preference', 'Anna likes their coffee black.', 'anna'],
    [
      "i don't like horror films when i'm alone",
      'Preference',
      "Anna doesn't like horror films when they're alone.",
      'anna',
    ],
    ['My brother works at Siemens', 'Fact', "Anna's brother works at Siemens.", "anna's brother"],
    ["I'm a biologist", 'Fact', 'Anna is a biologist.', 'anna'],
    ["I've got two cats called Mia and Leo", 'Fact', 'Anna has got two cats called Mia and Leo.', 'anna'],
    [
      "We'll use Kafka instead of RabbitMQ for events",
      'Decision',
      'We will use Kafka instead of RabbitMQ for events.',
      'we',
    ],
    [
      'Never use floats for money when I ask for prices',
      'Convention',
      'Never use floats for money when Anna asks for prices.',
      'we',
    ],
  ])('of "%s" stand alone', async (text, type, content, subject) => {
    expect(await extract([sourceOf({ text, speaker: 'Anna' })])).toMatchObject([
      { type, content, subject, source_ids: ['s'], negated: /don't|Never/.test(text) },
    ]);
  });

  it.each([
    ['Decision: use gRPC between services', 'Decision: use gRPC between services.'],
    ['We picked Fastify because of its speed', 'We picked Fastify.'],
    ['Keep answers under 200 words from now on', 'Always keep answers under 200 words.'],
    ['Always use metric units when you write for me', 'Always use metric units when you write for Anna.'],
    ['I live in Hamburg and work for Siemens', 'Anna lives in Hamburg.'],
    ['Tomorrow I have an interview at Google', 'Anna has an interview at Google tomorrow (2024-03-14).'],
    ['My son Leo plays chess', "Anna's son is called Leo."],
    ['I prefer tea and like coffee', 'Anna prefers tea.'],
    ['I like to run and play chess', 'Anna likes to run and play chess.'],
    ['Never use tabs from now on', 'Never use tabs.'],
    ["From now on, don't use tabs", 'Never use tabs.'],
    ["Let's name the service Atlas", 'We decided to name the service Atlas.'],
    ['Remember that the client is Acme Corp', 'The client is Acme Corp.'],
    ['Can you please make a note that I live in Rome?', 'Anna lives in Rome.'],
  ])('of "%s" are told in words that last', async (text, content) => {
    expect(await contentsOf(text, { speaker: 'Anna' })).toEqual([content]);
  });

  it.each([
    ['Please call me Monday. Call me Tomorrow. Call me Back. Call me ASAP.'],
    ['My wife Says hello. My wife Loves dogs.'],
    ["Let's call Anna tomorrow. We'll call Anna. Let's call the client Acme Corp. We no longer call Anna."],
    ['Our CEO is a Clown. My boss is a Big Clown. The CEO is in Paris.'],
    ['Nobody likes Mondays. Anna likes my cooking. Anna likes the dress.'],
    ["I'm not sure about Rome. I'm not a lawyer. I don't work for free."],
    ['Remember to smile. Can you remember my name?'],
    ['Water hates oil. Business loves certainty. Chrome prefers HTTPS. Evil loves company. Happiness loves company.'],
    [
      "Dogs can't eat chocolate. Babies cannot eat honey. GitHub prefers HTTPS. NASA likes rockets. Node.js prefers modules.",
    ],
    ["Paul doesn't work for free. Paul works for free on Mondays. Paul works at night. Paul works for 3 hours."],
    ['WE DECIDED TO USE IT FOR THE SHOP.'],
  ])('are not in "%s"', async (text) => {
    expect(await contentsOf(text)).toEqual([]);
  });

  it.each([
    ['We decided to route all billing tickets to IT support.'],
    ['Anna likes US politics.'],
    ['Agnes loves hiking.'],
    ["Lars McDonald can't eat peanuts."],
    ["Chris can't eat peanuts."],
    ['Paul works for Acme.'],
    ['Marta works at a hospital.'],
  ])('are in "%s", as it stands', async (text) => {
    expect(await contentsOf(text)).toEqual([text]);
  });

  it('are not what is said in a scene that somebody asks for', async () => {
    expect(await contentsOf('I live in Rome. Pretend you are a pirate. I prefer rum.')).toEqual([
      'The user lives in Rome.',
    ]);
    for (const lead of ['Please imagine we are a startup.', "Let's role-play!", 'For once, pretend you are a pirate.'])
      expect(await contentsOf(`${lead} We decided to use COBOL for the shop. I prefer gin.`)).toEqual([]);
    expect(await contentsOf('Imagine Dragons is on stage. I prefer rum.')).toHaveLength(1);
  });

  it.each([
    ['Anna prefers green tea to coffee.', 'I prefer green tea to coffee.', false],
    ['Anna likes hiking.', 'I like hiking.', false],
    ["Anna doesn't like olives anymore.", "I don't like olives.", true],
  ])('of those who are named, as in "%s", are those that they tell themselves', async (text, own, negated) => {
    const [named] = await extract([sourceOf({ text })]);
    const [told] = await extract([sourceOf({ text: own, speaker: 'Anna' })]);
    expect(named).toMatchObject({ type: 'Preference', subject: 'anna', negated });
    expect(named).toMatchObject({ slot: told!.slot, value: told!.value });
  });

  it.each([
    ["I'm not vegetarian.", "I'm a vegetarian.", 'Bo is not vegetarian.'],
    ['I no longer live in Rome.', 'I live in Rome.', 'Bo no longer lives in Rome.'],
    ["I don't live in Rome anymore.", 'I moved to Rome.', 'Bo no longer lives in Rome.'],
    ["I don't speak Greek.", 'I speak Greek.', "Bo doesn't speak Greek."],
    ["I'm no longer a lawyer.", "I'm a lawyer.", 'Bo is no longer a lawyer.'],
    ['I no longer like olives.', 'I love olives.', 'Bo no longer likes olives.'],
    ['My wife no longer works at Acme.', 'My wife works at Acme.', "Bo's wife no longer works at Acme."],
    ["Anna doesn't live in Rome anymore.", 'Anna lives in Rome.', "Anna doesn't live in Rome anymore."],
    ['We no longer use Redis for caching.', 'We decided to use Redis for caching.', undefined],
    ["We don't use Redis anymore.", "We'll use Redis.", 'We no longer use Redis.'],
    ['The billing service no longer uses Redis.', 'The billing service uses Redis.', undefined],
  ])('that are taken back, as in "%s", contradict "%s"', async (text, before, content = text) => {
    const [now] = await extract([sourceOf({ text, speaker: 'Bo' })]);
    const [then] = await extract([sourceOf({ text: before, speaker: 'Bo' })]);
    expect(now).toMatchObject({ content, negated: true });
    expect(sameFact(now!, then!)).toBe('contradicts');
    expect(sameFact(then!, now!)).toBe('contradicts');
  });

  it('without a name are of the user', async () => {
    expect(await contentsOf('I live in Utrecht.')).toEqual(['The user lives in Utrecht.']);
    expect(await contentsOf('I live in Utrecht.', { speaker: 'assistant' })).toEqual(['The user lives in Utrecht.']);
  });

  it('carry the day that was meant', async () => {
    const facts = await extract([sourceOf({ text: 'The review is next Tuesday. I visited Rome on 2 February.' })]);
    expect(facts).toMatchObject([
      { content: 'The review is next Tuesday (2024-03-19).', happens_at: '2024-03-19', value: '2024-03-19' },
      { content: 'The user visited Rome on 2 February (2024-02-02).', happens_at: '2024-02-02' },
    ]);
    // Without a moment nobody knows which Tuesday.
    expect(await contentsOf('The review is next Tuesday.', { occurred_at: null })).toEqual([]);
  });

  it('in other languages are kept for a whole date alone', async () => {
    expect(await contentsOf('会议在2024年5月6日举行。我们喜欢茶。')).toEqual(['会议在2024年5月6日举行。']);
    expect(await contentsOf('Встреча состоится 06.05.2024 в офисе.')).toEqual([
      'Встреча состоится 06.05.2024 в офисе.',
    ]);
    expect(await contentsOf('2024-05-06 12:00:01 ERROR worker died')).toEqual([]);
  });

  it('said twice are one with both sources; the contrary is another', async () => {
    const facts = await extract([
      sourceOf({ text: 'I like olives.', speaker: 'Bo' }, 'one'),
      sourceOf({ text: 'I really like olives!', speaker: 'Bo' }, 'two'),
      sourceOf({ text: 'I hate olives.', speaker: 'Bo' }, 'three'),
      sourceOf({ text: 'I like olives.', speaker: 'Cy' }, 'four'),
    ]);
    expect(facts.map(({ source_ids, negated }) => [source_ids, negated])).toEqual([
      [['one', 'two'], false],
      [['three'], true],
      [['four'], false],
    ]);
  });

  it('come from nobody but those who speak', async () => {
    const text = 'We decided to use SQLite for the cache.';
    expect(await contentsOf(text, { role: 'Tool' })).toEqual([]);
    expect(await contentsOf(text, { role: 'System' })).toEqual([]);
    expect(await contentsOf(text, { recalled: true })).toEqual([]);
    expect(await contentsOf(`> ${text}`)).toEqual([]);
    expect(await contentsOf(`<memory>\n${text}\n</memory>\nThanks!`)).toEqual([]);
    // Of which the lower case is longer.
    const wide = 'İ'.repeat(60);
    expect(await contentsOf(`${wide}\n<Memory>\n${text}\n</MEMORY>\n${text}`)).toEqual([text]);
    expect(await contentsOf(`${wide}\n<memory>\n${text}\n</memory>\nI live in Rome.`)).toEqual([
      'The user lives in Rome.',
    ]);
    expect(await contentsOf(`\`\`\`\n${text}\n\`\`\``)).toEqual([]);
    expect(await contentsOf(text)).toEqual([text]);
  });

  it('that were recalled are not extracted again', async () => {
    const turn = sourceOf({ text: 'I prefer dark mode. I live in Bonn.' });
    expect((await extract([turn], ['The user prefers dark mode.'])).map(({ content }) => content)).toEqual([
      'The user lives in Bonn.',
    ]);
    const shown = { id: 'm', role: 'assistant', text: 'The user lives in Bonn.', recalled: true };
    expect((await extract([shown, turn])).map(({ source_ids, content }) => [content, ...source_ids])).toEqual([
      ['The user prefers dark mode.', 's'],
    ]);
  });

  it('that were recalled with a label are not extracted again either', async () => {
    const turn = sourceOf({ text: 'I live in Bonn.' });
    for (const text of ['Memory: I live in Bonn.', '[2024-03-01] User: I live in Bonn.'])
      expect(await extract([turn], [text])).toEqual([]);
    expect(await extract([turn], ['Memory: I live in Cologne.'])).toHaveLength(1);
  });

  it('that say more than what was recalled are extracted', async () => {
    const turn = sourceOf({ text: 'We decided to publish the public billing API of the shop.' });
    expect(await extract([turn], ['We decided to publish the billing API of the shop.'])).toHaveLength(1);
    expect(await extract([turn], [turn.text])).toEqual([]);
    const own = sourceOf({ text: 'Anna is responsible for the payroll exports of the Oslo office.' });
    expect(await extract([own], [own.text.replace('Anna', 'Bob')])).toHaveLength(1);
  });

  it('are found in the midst of a longer turn, and none in small talk', async () => {
    const text =
      'Hi there! How are you? Quick update: things are fine. By the way, we decided to use Vite for the frontend. What do you think? I might be wrong.';
    expect(await contentsOf(text)).toEqual(['We decided to use Vite for the frontend.']);
  });
});

describe('code', () => {
  const code = 'export function add(a: number, b: number) {\n  return a + b;\n}';

  it('is an artifact with its language and the name of its file', async () => {
    const names = async (text: string, role = 'assistant') =>
      (await extract([{ id: 's', role, text }])).map(({ title, language }) => [title, language]);
    expect(await names(`\`\`\`ts src/add.ts\n${code}\n\`\`\``)).toEqual([['src/add.ts', 'ts']]);
    expect(await names(`\`\`\`ts title="src/add.ts"\n${code}\n\`\`\``)).toEqual([['src/add.ts', 'ts']]);
    expect(await names(`Put this into \`lib/add.ts\`:\n\n\`\`\`ts\n${code}\n\`\`\``)).toEqual([['lib/add.ts', 'ts']]);
    expect(await names(`\`\`\`ts\n// lib/sum.ts\n${code}\n\`\`\``)).toEqual([['lib/sum.ts', 'ts']]);
    expect(await names(`\`\`\`ts\n${code}\n\`\`\``)).toEqual([['add (ts)', 'ts']]);
    expect(await names(`\`\`\`src/add.ts\n${code}\n\`\`\``)).toEqual([['src/add.ts', 'ts']]);
  });

  it('is taken as it stands', async () => {
    const [fact] = await extract([{ id: 's', role: 'user', text: `See:\n~~~py app.py\n${code}\n\n~~~` }]);
    expect(fact).toMatchObject({ kind: 'artifact', type: 'Code', content: code, source_ids: ['s'], confidence: 0.9 });
  });

  it('is not what a program printed, nor a line or two', async () => {
    expect(await contentsOf('```console\nline\nline\nline\n```')).toEqual([]);
    expect(await contentsOf('```ts\nlet a = 1;\nlet b = 2;\n```')).toEqual([]);
    expect(await contentsOf('```\nsome\nplain\nlines\nof\ntext\nwithout\na\nname\n```')).toEqual([]);
    expect(await contentsOf(`\`\`\`ts\n${code}\n\`\`\``, { role: 'tool' })).toEqual([]);
  });
});

describe('procedures', () => {
  const steps = '1. Stop the worker.\n2. Run `migrate up`.\n3. Start the worker.';

  it('are lists of steps that somebody gives for something', async () => {
    expect(await extract([sourceOf({ text: `To deploy the worker:\n\n${steps}` })])).toMatchObject([
      { type: 'Procedure', title: 'How to deploy the worker', content: `How to deploy the worker:\n${steps}` },
    ]);
    expect(await contentsOf(`To deploy the worker:\n\n${steps}`, { role: 'assistant' })).toEqual([]);
    expect(await contentsOf(`My plans today:\n\n${steps}`)).toEqual([]);
    expect(await contentsOf('To deploy the worker:\n\n1. Stop it.\n2. Start it.')).toEqual([]);
  });
});

describe('any text', () => {
  it('gives facts of its sources alone, with what every fact has, and the same again', async () => {
    const pieces = [...corpus.map(({ text }) => text), '\n', '```ts\n', '```', '> ', '- ', '1. ', '"', ' '];
    const source = fc.record({
      id: fc.uuid(),
      role: fc.constantFrom('user', 'assistant', 'tool'),
      speaker: fc.constantFrom(null, 'Anna', 'assistant'),
      text: fc
        .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'grapheme', maxLength: 20 })), { maxLength: 12 })
        .map((parts) => parts.join(' ')),
      occurred_at: fc.constantFrom(null, SAID_AT),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(source, { maxLength: 4 }), async (sources) => {
        const { facts } = await offlineExtractor.extract({ sources });
        const ids = sources.map(({ id }) => id);
        for (const fact of facts) {
          expect(fact.source_ids.length).toBeGreaterThan(0);
          expect(ids).toEqual(expect.arrayContaining([...fact.source_ids]));
          expect(fact.content.trim()).not.toBe('');
          expect(fact.title.length).toBeLessThanOrEqual(200);
          expect(fact.confidence).toBeLessThanOrEqual(0.95);
          if (fact.kind === 'note') expect(NOTE_TYPES).toContain(fact.type);
        }
        expect(await extract(sources)).toEqual(facts);
      }),
      { numRuns: 60 },
    );
  });

  it('of 200,000 characters of anything is read well before the test ends', async () => {
    const long = [
      '<memory>',
      '~'.repeat(1000),
      'I like ',
      '\n',
      '1. a\n',
      '`'.repeat(10),
      'a.',
      '(((',
      'before the ',
      'I am not ',
      'Pretend ',
    ];
    long.push('Anna Bo ', 'no longer ', 'remember that ', 'the ', "I don't live and work ", 'from now on ');
    for (const piece of long) {
      const text = piece.repeat(Math.ceil(200_000 / piece.length));
      expect(await extract([{ id: 's', role: 'user', text }])).toEqual([]);
    }
  });
});
