/** Where sentences end: in many scripts, and not within what has full stops of its own. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sentencesOf, unitsOf } from '#cairn/text/sentences.js';

const split = (text: string): string[] => [...sentencesOf(text)];

describe('sentences', () => {
  it.each([
    ['English', 'It rained. We stayed in! Why not?', ['It rained.', 'We stayed in!', 'Why not?']],
    ['lower case', 'i like node.js a lot. we use it daily.', ['i like node.js a lot.', 'we use it daily.']],
    [
      'titles and initials',
      'Dr. Brown met J. R. Miller in St. Ives. They spoke.',
      ['Dr. Brown met J. R. Miller in St. Ives.', 'They spoke.'],
    ],
    [
      'abbreviations',
      'Use a list, e.g. Kim, Lee etc. and sort it. See Fig. 3 on p. 7.',
      ['Use a list, e.g. Kim, Lee etc. and sort it.', 'See Fig. 3 on p. 7.'],
    ],
    ['months', 'Due on Jan. 5. Then we rest.', ['Due on Jan. 5.', 'Then we rest.']],
    [
      'addresses and numbers',
      'See https://example.org/a.b?c=d. It costs $3.50 in v2.1.3. Call Date.now() first.',
      ['See https://example.org/a.b?c=d.', 'It costs $3.50 in v2.1.3.', 'Call Date.now() first.'],
    ],
    ['capitals', 'She left the U.S. Army. The U.S. It is big.', ['She left the U.S. Army.', 'The U.S.', 'It is big.']],
    ['an ellipsis', 'wait... what? ok.', ['wait... what?', 'ok.']],
    ['quotes', 'He said "no." Then he left. (Really.) Fine.', ['He said "no."', 'Then he left.', '(Really.)', 'Fine.']],
    ['German', 'Am 5. März kam Nr. 7 an. Gut.', ['Am 5. März kam Nr. 7 an.', 'Gut.']],
    ['Japanese', 'これは本です。読みましたか？はい', ['これは本です。', '読みましたか？', 'はい']],
    ['Chinese', '我们决定了。明天开始！', ['我们决定了。', '明天开始！']],
    ['Arabic', 'هذا كتاب. هل هذا قلم؟ نعم', ['هذا كتاب.', 'هل هذا قلم؟', 'نعم']],
    ['Hindi', 'यह किताब है। वह क़लम है।', ['यह किताब है।', 'वह क़लम है।']],
  ])('of %s', (_, text, expected) => {
    expect(split(text)).toEqual(expected);
  });

  it('lose nothing but the white space between them', () => {
    const pieces = ['a', 'Mr. ', 'X. ', '. ', '! ', '? ', '。', 'e.g. ', ' ', '5. ', 'née ', '🙂', '"', '। ', '… '];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 400 }), (parts) => {
        const text = parts.join('');
        expect(split(text).join('').replace(/\s+/g, '')).toBe(text.replace(/\s+/g, ''));
      }),
      { numRuns: 100 },
    );
  });

  it('are found in a long paragraph as in a short one', () => {
    const one = 'The seal swims by. It dives.';
    const all = split(`${one} `.repeat(2000));
    expect(all).toHaveLength(4000);
    expect(new Set(all)).toEqual(new Set(split(one)));
  });

  it('have an end: what goes on for ever is a fragment', () => {
    const units = [...unitsOf(`${'word '.repeat(5000)}. Short one.`)];
    expect(units.map(({ kind }) => kind)).toEqual(['fragment', 'sentence']);
    expect(units[1]!.text).toBe('Short one.');
  });
});

describe('units of a text', () => {
  it('keep code, tables, headings and quotes whole, and say what they are', () => {
    const text = [
      '# Plan. Two parts',
      'We do it in a way that is long enough to be wrapped at the end of',
      'its line. Then we rest.',
      '',
      '- first. really',
      '- second',
      '  goes on',
      '2. third',
      '| a. b | c |',
      '| --- | --- |',
      '> They said. So.',
      '```ts src/a.ts',
      'call. Me();',
      '',
      'end()',
      '```',
      'buy milk',
      'call home',
    ].join('\n');
    expect([...unitsOf(text)].map(({ kind, text, item }) => [kind, text, item])).toEqual([
      ['heading', 'Plan. Two parts', false],
      ['sentence', 'We do it in a way that is long enough to be wrapped at the end of its line.', false],
      ['sentence', 'Then we rest.', false],
      ['sentence', 'first.', true],
      ['sentence', 'really', true],
      ['sentence', 'second goes on', true],
      ['sentence', 'third', true],
      ['table', '| a. b | c |\n| --- | --- |', false],
      ['quote', 'They said. So.', false],
      ['code', 'call. Me();\n\nend()', false],
      ['sentence', 'buy milk', false],
      ['sentence', 'call home', false],
    ]);
  });

  it('take a fence that is never closed to the end, and fences within fences', () => {
    const [code, ...rest] = unitsOf('````md\n```js\na\n```\n````\nafter');
    expect(code).toMatchObject({ kind: 'code', text: '```js\na\n```', info: 'md' });
    expect(rest).toHaveLength(1);
    expect([...unitsOf('~~~\none\ntwo. three')]).toMatchObject([{ kind: 'code', text: 'one\ntwo. three' }]);
  });
});
