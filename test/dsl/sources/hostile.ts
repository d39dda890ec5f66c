/** Sources of up to 64 KB that are as much work as one can think of. */

const SIZE = 65_536;
const fill = (text: string): string => text.repeat(Math.floor(SIZE / text.length));
const lines = (line: (i: number) => string): string => {
  const all: string[] = [];
  let length = 0;
  for (let i = 0; ; i++) {
    const next = line(i);
    length += next.length + 1;
    if (length > SIZE) return all.join('\n');
    all.push(next);
  }
};
const inside = (begin: string, text: string, end: string): string =>
  `${begin}${text.slice(0, SIZE - begin.length - end.length)}${end}`;
const upTo = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');

export const hostileSources: Readonly<Record<string, string>> = {
  'braces that open': fill('{'),
  'braces that close': fill('}'),
  'brackets that open': fill('['),
  'brackets that close': fill(']'),
  'pairs of braces': fill('{}'),
  'brackets in a definition': inside('agent A { x: ', fill('['), ''),
  'pairs of brackets in a list': inside('agent A { metadata { x: [', fill('[],'), '] } }'),
  quotes: fill('"'),
  'quotes and line breaks': fill('"\n'),
  'triple quotes': fill('"""'),
  'texts that are not closed': fill('"a\n'),
  'comments that are not closed': fill('/*'),
  comments: fill('/**/'),
  'line comments': fill('#\n'),
  'comments in a block': inside('agent A {', fill('#\n'), '}'),
  slashes: fill('/ '),
  commas: fill(','),
  'commas in a list': inside('agent A { x: [', fill(','), '] }'),
  colons: fill(':'),
  'colons in a block': inside('agent A {', fill(':'), '}'),
  stars: fill('*'),
  'one word': fill('a'),
  'one kind': inside('', fill('a'), ' {}'),
  'one field': inside('agent A { ', fill('a'), ': 1 }'),
  'one number': inside('agent A { metadata { x: ', fill('9'), ' } }'),
  'one fraction': inside('agent A { metadata { x: 0.', fill('9'), ' } }'),
  'one number of zeros': inside('agent A { metadata { x: ', fill('0'), ' } }'),
  'one duration': inside('agent A { offline_after: ', fill('9'), 'd }'),
  'one number with letters': inside('agent A { offline_after: 1', fill('a1'), '_ }'),
  'numbers and words': fill('1 a '),
  escapes: inside('profile A { description: "', fill('\\n'), '" }'),
  'unknown escapes': inside('profile A { description: "', fill('\\q'), '" }'),
  'unknown escapes on lines': inside('profile A { description: """', fill('\\q\n'), '""" }'),
  backslashes: fill('\\'),
  'one text of lines': inside('profile A { description: """', fill('  a\n'), '""" }'),
  'one text of blank lines': inside('profile A { description: """', fill(' \n'), '""" }'),
  'unknown characters': fill('§'),
  'unknown characters and spaces': fill('§ '),
  'letters of other scripts': fill('é'),
  'letters of other scripts behind words': fill('aé '),
  emoji: fill('🙂'),
  'line breaks': `${fill('\n').slice(1)}a`,
  'carriage returns': fill('\r'),
  'words on lines': fill('a\n'),
  'fields without values': inside('agent A {', fill('a:\n'), '}'),
  'words in a block': inside('agent A {', fill('a\n'), '}'),
  'unknown fields near known ones': inside(
    'agent A {\n',
    lines((i) => `capabilitie${i % 10}: [x]`),
    '\n}',
  ),
  'unknown fields near known ones in many definitions': lines(
    (i) => `agent A${i} { capabilites: [x], typ: y, profil: Z }`,
  ),
  'different unknown fields': inside(
    'agent A {\n',
    lines((i) => `can_delegate_${i}: [x]`),
    '\n}',
  ),
  'fields of free JSON': inside(
    'agent A { capabilities: [x], metadata {\n',
    lines((i) => `f${i}: ${i}`),
    '\n} }',
  ),
  'one field again and again': inside(
    'agent A {\n',
    lines(() => 'capabilities: [x]'),
    '\n}',
  ),
  'one field of free JSON again and again': inside('agent A { metadata {\n', fill('a:1,'), '} }'),
  'references that are not defined': lines(
    (i) => `agent Name${i} { capabilities: [x], can_delegate_to: [Nam${i}e, Nmae${i}] }`,
  ),
  'references in one list': inside('agent Coder { capabilities: [x], can_delegate_to: [', fill('Codre,'), '] }'),
  'definitions without fields': lines((i) => `profile P${i} {}`),
  '5,000 definitions': upTo(5000, (i) => `policy ${i % 10}{}`.replace(/ \d/, (n) => ` p${n.trim()}`)),
  '5,000 duplicates': upTo(5000, () => 'profile P{}'),
  '900 duplicates': upTo(900, () => 'profile P { description: "twice" }'),
  'settings again and again': upTo(5000, () => 'settings {}'),
  'unknown kinds': upTo(5000, () => 'agnet A {}'),
  '1,000 that extend the next': upTo(1000, (i) => `profile P${i} extends P${i + 1} {}`),
  '1,000 that extend one before': upTo(1000, (i) => (i === 0 ? 'profile P0 {}' : `profile P${i} extends P${i - 1} {}`)),
  '1,000 in a circle': upTo(1000, (i) => `profile P${i} extends P${(i + 1) % 1000} {}`),
  '1,000 that lead to a circle': upTo(1000, (i) => `profile P${i} extends P${Math.min(i + 1, 998 + (i % 2))} {}`),
  '900 that inherit many fields': upTo(900, (i) => `agent P${i} extends P${i + 1} { capabilities: [x], f${i}: 1 }`),
  '900 that inherit a mistake': upTo(900, (i) =>
    i === 0 ? 'agent P0 { capabilities: 1 }' : `agent P${i} extends P0 {}`,
  ),
  '600 that inherit 10,000 values': `agent B { capabilities: [x], metadata { x: [${'1,'.repeat(9000)}] } }\n${upTo(600, (i) => `agent A${i} extends B {}`)}`,
  '900 distinct references to bases': upTo(900, (i) => `profile Name${i} extends Nmae${i} {}`),
  'words, just few enough to be parsed': 'a '.repeat(19_999),
  'commas, just few enough to be parsed': ','.repeat(19_999),
  'colons, just few enough to be parsed': `agent A {${':'.repeat(19_990)}}`,
  'values, just few enough to be parsed': `agent A { metadata { x: [${'1,'.repeat(9980)}] } }`,
  'values without commas, just few enough to be parsed': `agent A { metadata { x: [${'1 '.repeat(19_980)}] } }`,
  'fields without colons, just few enough to be parsed': `agent A {${'a 1\n'.repeat(9990)}}`,
  'lists in lists, just few enough to be parsed': `agent A { x: ${`${'['.repeat(60)}${']'.repeat(60)},`.repeat(160)} }`,
  'numbers that cannot be read, just few enough to be parsed': `agent A { metadata { x: [${'01,'.repeat(9980)}] } }`,
  'rules of access': inside('agent A { capabilities: [x], memory_access { read { ', fill('Noet: all, '), ' } } }'),
  'items of a union': inside('settings { context_sections: [', fill('{ nam: x },'), '] }'),
};
