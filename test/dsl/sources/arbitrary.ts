/** Sources of all sorts: made by the grammar, mutated, or of random characters. */
import fc from 'fast-check';

const KINDS = ['agent', 'profile', 'handover', 'policy', 'settings', 'agnet', 'team', 'extends_', 'true'];
const FIELDS = ['capabilities', 'type', 'profile', 'metadata', 'offline_after', 'memory_access', 'can_delegate_to'];
const OTHERS = [
  'system_prompt',
  'tools',
  'llm_config',
  'trigger',
  'actions',
  'retain',
  'artifact_ttls',
  'read',
  'Note',
];
const STRANGE = ['x', 'y', '__proto__', 'constructor', 'a-b.c', '_', '*', 'extends', 'true', 'null'];
/** Few, so that definitions meet. */
const NAMES = ['A', 'B', 'Coder', 'Codr', 'write_code', 'TurnCount', 'all', 'own', 'digest', 'Persistent', '*'];

const either = (...lists: readonly (readonly string[])[]) => fc.constantFrom(...lists.flat());

const textCharacters = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 12 }) },
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    '',
    ' ',
    '\n',
    '\r\n',
    'a\nb',
    '  a\n b\n',
    '\t',
    '"',
    '""',
    '"""',
    '\\',
    '\u2028',
    '\ud83d',
    '\ufeff',
  ),
  fc.constantFrom(
    '//',
    '#',
    '/*',
    '*/',
    '{',
    '}',
    ' x ',
    'x \n y\t\n',
    '\n\n',
    '\u0000',
    'true',
    '10s',
    'x'.repeat(120),
  ),
);

const quoted = textCharacters.map((text) => JSON.stringify(text));
const tripled = fc
  .tuple(textCharacters, fc.constantFrom('', '\n', '\n  ', ' '), fc.constantFrom('', '\n', '\n\t', '\r\n  '))
  .map(([text, begin, end]) => {
    const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
    return `"""${begin}${escaped}${end}"""`;
  });

const word = either(NAMES, FIELDS);
const name = fc.oneof({ weight: 3, arbitrary: word }, quoted);
const numeric = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one.toExponential()),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map(String),
  fc.constantFrom('0', '-0', '1.50', '1e3', '-1.5E-7', '0.1', '9007199254740991', '1e300', '3.245973356723223e16'),
  fc.tuple(fc.nat({ max: 100_000 }), fc.constantFrom('ms', 's', 'm', 'h', 'd')).map(([n, unit]) => `${n}${unit}`),
  fc.constantFrom('007d', '0s'),
);

/** Between two tokens. Line comments end with their line. */
const gap = fc.oneof(
  { weight: 8, arbitrary: fc.constant(' ') },
  { weight: 3, arbitrary: fc.constantFrom('\n', '\n\n', '\t', '\r\n', '\r', '  ', '\n\n\n', '\u00a0', '\ufeff') },
  fc.constantFrom('// one\n', '# two \n', '/* three */', '/* four\n  five */', '//\n', '#\r\n', '/**/', ' /* " { */ '),
  fc.constantFrom(' // a "\n', '\n# b }\n\n', '\n\n/* c\r\n d */\n\n', ' # e\r'),
);

const { value, block } = fc.letrec<{ value: string; block: string; list: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    { weight: 3, arbitrary: fc.oneof(word, either(STRANGE)) },
    { weight: 2, arbitrary: numeric },
    { weight: 2, arbitrary: quoted },
    tripled,
    tie('list'),
    tie('block'),
  ),
  list: fc
    .tuple(fc.array(fc.tuple(gap, tie('value'), gap), { maxLength: 4 }), fc.boolean(), gap)
    .map(([items, comma, end]) => {
      const texts = items.map((parts) => parts.join(''));
      return `[${texts.join(',')}${comma && texts.length > 0 ? ',' : ''}${end}]`;
    }),
  block: fc
    .tuple(
      fc.array(
        fc.tuple(
          fc.oneof(either(FIELDS, OTHERS, STRANGE), quoted),
          fc.tuple(gap, gap, gap),
          tie('value'),
          fc.boolean(),
        ),
        { maxLength: 5 },
      ),
      gap,
    )
    .map(([fields, end]) => {
      const texts = fields.map(([key, [a, b, c], inner, sign]) => {
        const colon = sign || !inner.startsWith('{') ? ':' : '';
        return `${a}${key}${b}${colon}${c}${inner}${sign ? ',' : ' '}`;
      });
      return `{${texts.join('')}${end}}`;
    }),
})) as { value: fc.Arbitrary<string>; block: fc.Arbitrary<string>; list: fc.Arbitrary<string> };

const definition = fc
  .tuple(
    fc.constantFrom(...KINDS),
    fc.option(name),
    fc.option(name, { freq: 3 }),
    block,
    fc.array(gap, { minLength: 6, maxLength: 6 }),
  )
  .map(([kind, named, base, body, [a, b, c, d, e, f]]) => {
    const head = named === null ? '' : `${b}${named} `;
    const extension = base === null ? '' : `${c}extends ${d}${base} `;
    return `${a}${kind} ${head}${extension}${e}${body}${f}`;
  });

/** Definitions that mean something, most of them without a mistake. */
const sensible = fc
  .record({
    kind: fc.constantFrom('agent', 'profile'),
    name: fc.constantFrom('A', 'B', 'C', 'D'),
    base: fc.option(fc.constantFrom('A', 'B', 'C', 'D'), { freq: 2 }),
    delegate: fc.constantFrom('A', 'B', '"x"', '*', 'worker'),
    metadata: value,
    text: quoted,
    comment: gap,
  })
  .map(({ kind, name: own, base, delegate, metadata, text, comment }) => {
    const rest = kind === 'agent' ? `offline_after: 5m metadata { x: ${metadata} }` : `system_prompt: ${text}`;
    const extension = base === null ? '' : `extends ${base} `;
    return `${kind} ${own} ${extension}{ ${comment} capabilities: [x]${comment}, can_delegate_to: [${delegate}] ${rest} }\n`;
  });

/** What the grammar of the guide makes, whether it means something or not. */
export const validSource: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('', '', '\ufeff'), fc.array(fc.oneof(definition, sensible), { maxLength: 5 }), gap)
  .map(([mark, all, end]) => `${mark}${all.join('')}${end}`);

const TOKEN = /"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|\/\*[\s\S]*?\*\/|(?:\/\/|#).*|[\w.-]+|\s+|[\s\S]/g;
const tokensOf = (source: string): string[] => source.match(TOKEN) ?? [];
const charactersOf = (source: string): string[] => source.split('');

const INSERTED = [
  ...'{}[]:,"*#/\\=;()\'`-+.0aE_“”\n\r\t',
  ...[
    '"""',
    '/*',
    '*/',
    '//',
    'extends',
    'agent',
    'agent A {',
    'null',
    '10weeks',
    '1.5h',
    '-3d',
    '1e999',
    '\ud800',
    '\ufeff',
  ],
  ...['é', '🙂', '\u200b', '\u2028', '__proto__', '[[[[', '}}}}', '99999999999999999999', '\\u12', '\\x', 'settings {'],
];

type Edit = (parts: string[], at: number, other: number, inserted: string) => void;

const EDITS: readonly Edit[] = [
  (parts, at) => void parts.splice(at, 1),
  (parts, at, _, inserted) => void parts.splice(at, 0, inserted),
  (parts, at, _, inserted) => void parts.splice(at, 1, inserted),
  (parts, at, other) => {
    [parts[at], parts[other]] = [parts[other] ?? '', parts[at] ?? ''];
  },
  (parts, at) => void parts.splice(at, 0, parts[at] ?? ''),
  (parts, at, other) => void parts.splice(at, 0, ...parts.slice(other, other + 20)),
  (parts, at, other) => void parts.splice(Math.min(at, other), Math.abs(at - other)),
  (parts, at, other, inserted) => void parts.splice(at, 0, inserted.repeat((other % 100) + 1)),
];

/** Others with some of their tokens or characters deleted, inserted, replaced, swapped, repeated, moved or multiplied. */
export const mutatedSource: fc.Arbitrary<string> = fc
  .tuple(
    validSource,
    fc.boolean(),
    fc.array(fc.tuple(fc.nat({ max: EDITS.length - 1 }), fc.nat(), fc.nat(), fc.constantFrom(...INSERTED)), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  .map(([source, byToken, edits]) => {
    const parts = byToken ? tokensOf(source) : charactersOf(source);
    for (const [edit, at, other, inserted] of edits) {
      const length = Math.max(1, parts.length);
      EDITS[edit]!(parts, at % length, other % length, inserted);
    }
    return parts.join('');
  });

/** Characters of any sort, and bytes read as text. */
export const randomSource: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: fc.constantFrom(...'{}[]:,"*#/\\ \n\ra0-.e'), maxLength: 300 }),
  fc
    .array(fc.constantFrom(...INSERTED, ...KINDS, ...NAMES, ...FIELDS, ' ', '\n'), { maxLength: 80 })
    .map((all) => all.join('')),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('utf8')),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

export const anySource: fc.Arbitrary<string> = fc.oneof(validSource, mutatedSource, randomSource);

const SIZE = 65_536;
const clean = fc.array(validSource, { minLength: 1, maxLength: 20 });
const broken = fc.array(anySource, { minLength: 1, maxLength: 20 });

/** Sources of up to 64 KB: a number of others, again and again. */
export const largeSource: fc.Arbitrary<string> = fc
  .oneof(clean, broken)
  .map((sources) => `${sources.join('\n')}\n`.slice(0, SIZE))
  .map((source) => source.repeat(Math.floor(SIZE / source.length)));
