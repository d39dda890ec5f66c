/** Which turns belong together, and where texts are cut. */
import { describe, expect, it } from 'vitest';
import { textOf } from '#cairn/facts/index.js';
import type { Json } from '#cairn/kernel/contract.js';
import { contentText } from '#cairn/recall/windows/content.js';
import { cutAt, shortened } from '#cairn/recall/windows/cut.js';
import { conversationOf, shortenedTurn, type TurnCard, unitsOf } from '#cairn/recall/windows/turns.js';
import { charactersWithin, countTokens } from '#cairn/text/index.js';

let count = 0;
const turn = (role: string, content: string, more: Partial<TurnCard> = {}): TurnCard => ({
  card_id: `card-${++count}`,
  role,
  content,
  tool_calls: null,
  tool_results: null,
  tool_call_id: null,
  ...more,
});
const calling = (...ids: string[]): TurnCard =>
  turn('assistant', '', { tool_calls: ids.map((id) => ({ id, name: 'look', arguments: {} })) });
const answering = (id: string | null, content = 'found'): TurnCard => turn('tool', content, { tool_call_id: id });
const bounds = (turns: readonly TurnCard[]) =>
  unitsOf(turns).map(({ from, until, orphaned }) => (orphaned ? [from, until, 'orphaned'] : [from, until]));

describe('units', () => {
  it('CTX-6 reach from a call to its last result, with all between', () => {
    const turns = [
      turn('user', 'a'),
      calling('1', '2'),
      answering('1'),
      turn('user', 'b'),
      answering('2'),
      turn('user', 'c'),
    ];
    expect(bounds(turns)).toEqual([
      [0, 1],
      [1, 5],
      [5, 6],
    ]);
  });

  it('CTX-6 are one where calls overlap, and go by the last call of an id that models use again', () => {
    expect(bounds([calling('1'), calling('2'), answering('1'), answering('2')])).toEqual([[0, 4]]);
    expect(bounds([calling('1'), answering('1'), calling('1'), answering('1')])).toEqual([
      [0, 2],
      [2, 4],
    ]);
  });

  it('CTX-6 do not tie a result to a call of its id that was never answered, when the id was called again', () => {
    const turns = [calling('1'), turn('user', 'x'), calling('1'), answering('1')];
    expect(bounds(turns)).toEqual([
      [0, 1],
      [1, 2],
      [2, 4],
    ]);
    expect(bounds([...turns, turn('user', 'y'), answering('1')])).toEqual([[0, 6]]);
  });

  it('CTX-6 take a result without an id for the first call that waits, of the last turn that has one', () => {
    const turns = [
      calling('old'),
      turn('user', 'x'),
      calling('1', '2'),
      answering(null, 'one'),
      answering(null, 'two'),
    ];
    expect(bounds(turns)).toEqual([
      [0, 1],
      [1, 2],
      [2, 5],
    ]);
    const { messages } = conversationOf(turns);
    expect(messages.at(-1)!.calls.map(({ id, result }) => [id, result?.text])).toEqual([
      ['1', 'one'],
      ['2', 'two'],
    ]);
  });

  it('CTX-6 say of a result that its call is not among them, and find one that stands behind it', () => {
    expect(bounds([answering('1'), turn('user', 'a')])).toEqual([
      [0, 1, 'orphaned'],
      [1, 2],
    ]);
    expect(bounds([answering('1'), turn('user', 'a'), calling('1')])).toEqual([[0, 3]]);
  });

  it('CTX-6 read results in the shapes that they are written in', () => {
    const tool_results: Json[] = [{ tool_use_id: '1', content: 'one' }, { call_id: '2', output: { two: 2 } }, 'three'];
    const turns = [calling('1', '2', '3'), turn('tool', 'Looked.', { tool_results })];
    const [message] = conversationOf(turns).messages;
    expect(message!.calls.map(({ result }) => result?.text)).toEqual(['Looked.\none', '{"two":2}', 'three']);
  });
});

describe('content', () => {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'iVBORw0KGgo'.repeat(100)}` } };

  it('CTX-20 of a list of parts is its texts, and what others are', () => {
    expect(
      contentText([
        { type: 'text', text: 'Look.' },
        { type: 'input_text', text: 'Here.' },
      ]),
    ).toBe('Look.\n\nHere.');
    const shown = contentText([{ type: 'text', text: 'Look.' }, image]);
    expect(shown).toMatch(
      /^Look\.\n\n\{"image_url":\{"url":"data:image\/png;base64,.{0,20} \[…\]"\},"type":"image_url"\}$/,
    );
    expect(contentText([{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }])).toBe(
      '{"image_url":{"url":"https://example.org/a.png"},"type":"image_url"}',
    );
  });

  it.each([
    'text',
    null,
    [],
    [{ type: 'click', x: 1 }],
    [{ type: 'text', text: 1 }],
    { type: 'text', text: 'a' },
    ['a'],
  ])('CTX-20 that is no such list stays what it is: %j', (content) =>
    expect(contentText(content)).toBe(textOf(content)),
  );

  it('CTX-20 of results is read alike, and cut as text', () => {
    const content = [{ type: 'text', text: 'One two three four' }, image];
    const turns = [calling('1'), turn('tool', '', { tool_results: [{ tool_call_id: '1', content }] })];
    const [message] = conversationOf(turns).messages;
    expect(message!.calls[0]!.result!.text).toMatch(/^One two three four\n\n\{"image_url"/);
    const cut = conversationOf([turns[0]!, shortenedTurn(turns[1]!, 10)]).messages;
    expect(cut[0]!.calls[0]!.result!.text).toBe('One two […]');
  });
});

describe('cutting', () => {
  it('CTX-11 is behind a paragraph, else a line, a sentence or a word, else at the end of the room', () => {
    const cut = (text: string, fitting: number) => text.slice(0, cutAt(text, fitting));
    expect(cut('One. Two.\n\nThree four', 15)).toBe('One. Two.');
    expect(cut('One two\nthree four', 12)).toBe('One two');
    expect(cut('One two. Three four', 14)).toBe('One two.');
    expect(cut('これは本。それは机です', 8)).toBe('これは本。');
    expect(cut('One two three', 9)).toBe('One two');
    expect(cut('{"role":"administrator"}', 20)).toBe('{"role":"');
    expect(cut('aaaaaaaaaa', 4)).toBe('aaaa');
    expect(cut('a😀😀', 2)).toBe('a');
    expect(cut('short', 9)).toBe('short');
    expect(shortened('One. Two.', 4)).toBe('One. […]');
  });

  it('CTX-11 of several results each is cut behind a word', () => {
    const results: Json[] = ['One two three four', { content: 'five six seven' }, { id: '3', output: 'eight' }];
    const { tool_results } = shortenedTurn(turn('tool', '', { tool_results: results }), 10);
    expect(tool_results).toEqual(['One two […]', { content: 'five six […]' }, { id: '3', output: 'eight' }]);
  });

  it.each(['plain words in a row '.repeat(50), '记忆'.repeat(300), '😀🏳️‍🌈'.repeat(100), 'x'.repeat(2000)])(
    'CTX-11 keeps to the tokens that fit: %#',
    async (text) => {
      for (const limit of [0, 1, 7, 50, 10_000]) {
        const kept = text.slice(0, await charactersWithin(text, limit));
        expect(kept.isWellFormed()).toBe(true);
        expect(await countTokens(kept)).toBeLessThanOrEqual(limit);
      }
      expect(await charactersWithin(text, 10_000)).toBe(text.length);
      expect(await charactersWithin(text, 50)).toBeGreaterThan(10);
    },
  );
});
