/** Counting tokens: the same as gpt-tokenizer counts, also where that would take too long. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { countTokens as reference } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { charactersWithin, countTokens } from '#cairn/text/tokenizer.js';

const plainly = { disallowedSpecial: new Set<string>() };

/** Always the same letters in no order. */
function letters(alphabet: readonly string[], length: number): string {
  let state = 7;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return alphabet[(state >> 8) % alphabet.length]!;
  }).join('');
}

const texts: Readonly<Record<string, string>> = {
  nothing: '',
  words: "It's the model's call; they'll see. Tokenization isn't 1234567 guesses!",
  code: readFileSync(new URL('../../scripts/postgres.mjs', import.meta.url), 'utf8'),
  Chinese: '人工智能的记忆是一个有趣的问题。',
  'Japanese and Korean': '記憶とは何ですか。기억이란 무엇입니까?',
  'Arabic, Hindi and accents': 'ذاكرة الوكيل स्मृति é e\u0301 ñ',
  emoji: '👩‍👩‍👧‍👦 🏳️‍🌈 😀😀😀 ✅',
  'white space': ' \t\n\n  x \r\n\u00a0 \u0085  ',
  'a lone surrogate': 'a\ud800b',
  'special tokens': '<|endoftext|> and <|im_start|>system<|im_sep|><|fim_prefix|><|endofprompt|>',
  'a long run of one letter': 'a'.repeat(3000),
  'a long run of Chinese': '记忆'.repeat(800),
  'a long run of emoji': '😀🏳️‍🌈'.repeat(300),
  'a long run of space': `x${' '.repeat(3000)}y`,
  'a long run of signs': '=-'.repeat(1500),
  'a long word in no order': letters([...'etaoinshrdlucmfw'], 3000),
  'long words of bytes that are no characters': letters(['é', 'ß', '中', 'ا', '\u0301', 'a'], 2000),
};

describe('tokens', () => {
  it.each(Object.entries(texts))('of %s are those that gpt-tokenizer counts', async (_, text) => {
    expect(await countTokens(text)).toBe(reference(text, plainly));
  });

  it('are the same again, also after more different words than are remembered', async () => {
    const alphabet = [...'etaoinshrdlucmfw'];
    const words = Array.from({ length: 30_000 }, (_, i) =>
      [i & 15, (i >> 4) & 15, (i >> 8) & 15, (i >> 12) & 15].map((n) => alphabet[n]).join(''),
    );
    for (let i = 0; i < words.length; i += 3000) {
      const text = words.slice(i, i + 3000).join(' ');
      const expected = reference(text, plainly);
      expect(await countTokens(text)).toBe(expected);
      expect(await countTokens(text)).toBe(expected);
    }
    for (const text of Object.values(texts)) expect(await countTokens(text)).toBe(reference(text, plainly));
  });

  it('are those of o200k_base', async () => {
    expect(await countTokens('Hello, world!')).toBe(4);
    expect(await countTokens('tiktoken is great!')).toBe(6);
    expect(await countTokens('<|endoftext|>')).toBe(7);
    // gpt-tokenizer has no token for it: it reads its bytes as the mark that begins a file.
    expect(await countTokens('\ufeff')).toBe(1);
  });

  it('has one token for each token of the vocabulary that is one piece', async () => {
    const lines = readFileSync(
      new URL('../../node_modules/gpt-tokenizer/data/o200k_base.tiktoken', import.meta.url),
      'utf8',
    );
    const words = lines.split('\n').map((line) => Buffer.from(line.split(' ')[0]!, 'base64').toString());
    const several: string[] = [];
    for (const word of words) if (/^ ?[a-z]+$/.test(word) && (await countTokens(word)) !== 1) several.push(word);
    expect(several).toEqual([]);
  });

  it('of 200,000 characters without a break are counted well before the test ends', async () => {
    expect(await countTokens('a'.repeat(200_000))).toBe(25_000);
    expect(await countTokens('中'.repeat(200_000))).toBe(200_000);
  });

  it('of a long text let others have their turn', async () => {
    let turns = 0;
    const counting = countTokens('all work and no play. '.repeat(20_000));
    const tick = setInterval(() => turns++, 0);
    await counting.finally(() => clearInterval(tick));
    expect(turns).toBeGreaterThan(1);
  });

  it.each([
    ['one long word', 'ab'.repeat(100_000)],
    ['text without a space', '你好世界'.repeat(25_000)],
  ])('of %s let others have their turn', async (_, text) => {
    let turns = 0;
    const count = () => {
      turns++;
      tick = setImmediate(count);
    };
    let tick = setImmediate(count);
    await countTokens(text);
    expect(turns).toBeGreaterThan(5);
    turns = 0;
    expect(await charactersWithin(text, 15_000)).toBeGreaterThan(0);
    clearImmediate(tick);
    expect(turns).toBeGreaterThan(2);
  });

  it.each([
    ['backticks', '`'.repeat(300_000)],
    ['words', 'all work and no play. '.repeat(20_000)],
    ['dashes', '-'.repeat(300_000)],
    ['Han', '中'.repeat(300_000)],
  ])('of %s are counted up to a limit, and exactly below it', async (_, text) => {
    const all = await countTokens(text);
    expect(await countTokens(text, all)).toBe(all);
    expect(await countTokens(text, all - 1)).toBeGreaterThan(all - 1);
    for (const limit of [0, 1, 100, 3000]) expect(await countTokens(text, limit)).toBeGreaterThan(limit);
  });

  it('LIFE-11 of a long text are remembered, and nothing of the text', { timeout: 60_000 }, () => {
    const found = execFileSync(process.execPath, ['--input-type=module', '-e', KEEPS_TEXT], { encoding: 'utf8' });
    expect(JSON.parse(found)).toEqual({ tokens: [expect.any(Number), expect.any(Number)], kept: false });
  });
});

const TOKENIZER = new URL('../../dist/text/tokenizer.js', import.meta.url).href;
/** Counts a text in a process of its own, and looks for it in the heap. The text itself is not in this source. */
const KEEPS_TEXT = `
  import { getHeapSnapshot } from 'node:v8';
  const { countTokens } = await import(${JSON.stringify(TOKENIZER)});
  const count = () => countTokens('qzxjkvw'.repeat(1000));
  const tokens = [await count(), await count()];
  // V8 holds on to what was matched last.
  /x/.exec('x');
  const needle = Buffer.from('qzxjkvw'.repeat(3));
  let kept = false;
  let last = Buffer.alloc(0);
  for await (const chunk of getHeapSnapshot()) {
    const all = Buffer.concat([last, Buffer.from(chunk)]);
    kept ||= all.includes(needle);
    last = all.subarray(-needle.length);
  }
  console.log(JSON.stringify({ tokens, kept }));
`;
