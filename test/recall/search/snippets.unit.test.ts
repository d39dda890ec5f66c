/** Snippets: the best part of a text, and where in it the words of the question are. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readQuestion } from '#cairn/recall/ranking/question.js';
import { snippetAmong, snippetOf } from '#cairn/recall/ranking/snippets.js';
import { analyse } from '#cairn/text/index.js';

const shown = async (text: string, question: string) => {
  const { snippet, highlights } = await snippetOf(text, new Set(readQuestion(question, 0).terms));
  return { snippet, words: highlights.map(({ start, end }) => snippet.slice(start, end)) };
};

const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

describe('a snippet', () => {
  it('SEARCH-11 marks the words of the question as they stand in the text', async () => {
    expect(await shown('The Herons waited for a heron.', 'heron')).toEqual({
      snippet: 'The Herons waited for a heron.',
      words: ['Herons', 'heron'],
    });
    expect((await shown("O\u2019Brien's café, in cafe\u0301s", "O'Brien cafe")).words).toEqual([
      "O\u2019Brien's",
      'café',
      'cafe\u0301s',
    ]);
    expect((await shown('a party 🎉 and 👩‍👩‍👧', '🎉')).words).toEqual(['🎉']);
    expect((await shown('nothing of it', 'heron')).words).toEqual([]);
    expect((await shown('who are you', 'who are you')).words).toEqual(['who', 'are', 'you']);
  });

  it('SEARCH-11 marks no more than the words where no space parts them', async () => {
    expect((await shown('我昨天去东京看了很多东西。', '东京')).words).toEqual(['东京', '东']);
    expect((await shown('ระบบฐานข้อมูลที่ดี', 'ฐานข้อมูล')).words).toEqual(['ฐานข้อมูล']);
    const long = `${'天'.repeat(500)}东京${'地'.repeat(500)}`;
    const { snippet, words } = await shown(long, '东京');
    expect(words).toEqual(['东京']);
    expect(snippet.length).toBeLessThan(260);
  });

  it('SEARCH-11 is of the part that has the most of them, also where a word is longer than it', async () => {
    const text = `heron ${'filler words here '.repeat(60)} the heron and the otter ${'and so on '.repeat(60)}`;
    expect((await shown(text, 'heron otter')).words).toEqual(['heron', 'otter']);
    const word = 'a'.repeat(1000);
    expect((await shown(word, word)).snippet).toHaveLength(241);
    expect((await shown(`x ${word} y`, word)).words.join('')).toMatch(/^a+$/);
  });

  it('SEARCH-11 splits no character, and marks lie within it, in order', async () => {
    const unit = fc.oneof(
      fc.constantFrom(' ', 'heron', '东京', '𠀀', '😀', 'é', 'ไทย', '한국', '.'),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(unit, { maxLength: 400 }), async (parts) => {
        const text = parts.join('').toWellFormed();
        const { snippet, highlights } = await snippetOf(text, new Set(readQuestion('heron 东京 𠀀 한국', 0).terms));
        expect(HALF.test(snippet)).toBe(false);
        expect(text).toContain(snippet.replace(/^…|…$/g, '').replace(/^…|…$/g, ''));
        let behind = -1;
        for (const { start, end } of highlights) {
          expect(start).toBeGreaterThan(behind);
          expect(end).toBeGreaterThan(start);
          expect(end).toBeLessThanOrEqual(snippet.length);
          expect(HALF.test(snippet.slice(start, end))).toBe(false);
          behind = end;
        }
      }),
      { numRuns: 150 },
    );
  });

  it('SEARCH-11 finds words far behind, and in the next text where the first has none', async () => {
    const far = `${'filler word. '.repeat(6000)} platypus `;
    expect((await shown(far, 'platypus')).words).toEqual(['platypus']);
    const terms = new Set(readQuestion('gharial', 0).terms);
    const among = await snippetAmong(['the body', 'a gharial'], terms, () => undefined);
    expect(among).toEqual({ snippet: 'a gharial', highlights: [{ start: 2, end: 9 }] });
    expect((await snippetAmong(['the body', 'more'], terms, () => undefined)).snippet).toBe('the body');
  });

  it('SEARCH-11 lets others have their turn while it reads a long text', async () => {
    let asked = 0;
    await snippetOf('filler '.repeat(20_000), new Set(['heron']), () => {
      asked++;
      return undefined;
    });
    expect(asked).toBeGreaterThanOrEqual(9);
  });
});

it('no text stays in memory for a word of it that is known from then on', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const word = (n: number) => `gardenersmark${[...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('')}`;
  // As texts come from a request or the database: each in one piece.
  const text = (n: number) => JSON.parse(JSON.stringify(`tea ${word(n)} ${'. '.repeat(500_000)}`)) as string;
  const terms = new Set(['tea']);
  const before = used();
  for (let n = 0; n < 30; n++) await snippetOf(text(n), terms);
  for (let n = 30; n < 40; n++) analyse(text(n));
  expect(used() - before).toBeLessThan(15_000_000);
});
