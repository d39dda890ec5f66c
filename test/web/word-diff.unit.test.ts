/** The differences that the inspector shows between two versions of a memory. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { diffTexts } from '../../web/src/views/memory/word-diff.js';

const read = (before: string, after: string) => diffTexts(before, after).map(({ kind, text }) => [kind, text]);

it('UI-17 a replaced word is removed and added, and the rest stays', () => {
  expect(read('Lena lives in Hamburg.', 'Lena lives in Munich now.')).toEqual([
    ['same', 'Lena lives in '],
    ['removed', 'Hamburg'],
    ['added', 'Munich now'],
    ['same', '.'],
  ]);
  expect(read('as it was', 'as it was')).toEqual([['same', 'as it was']]);
});

it('UI-17 what stayed and went is the old text, what stayed and came the new one', () => {
  const text = fc.array(fc.constantFrom('tea', 'Lena', ' ', '\n', '.', 'é', '茶'), { maxLength: 14 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const parts = diffTexts(before.join(''), after.join(''));
      const without = (kind: string) => parts.filter((part) => part.kind !== kind).map((part) => part.text);
      expect(without('added').join('')).toBe(before.join(''));
      expect(without('removed').join('')).toBe(after.join(''));
    }),
  );
});

it('UI-17 texts with many differences are compared by lines, and very different ones as a whole', () => {
  const lines = Array.from({ length: 3000 }, (_, line) => `${line} is the number of this line of a long text\n`);
  const other = (every: number) =>
    lines.map((line, at) => (at % every === 0 ? `Nothing like ${at}, but new words\n` : line));
  const byLine = diffTexts(lines.join(''), other(10).join(''));
  expect(byLine.filter(({ kind }) => kind === 'added')).toHaveLength(300);
  expect(byLine.every(({ text }) => text.endsWith('\n'))).toBe(true);
  const whole = diffTexts(lines.join(''), other(2).join(''));
  expect(whole.map(({ kind }) => kind)).toEqual(['removed', 'added']);
});
