/** Brackets, quotes, signs and comments. */
import type { MistakeCase } from './model.js';

const ESCAPES = ['\\"', '\\\\', '\\/', '\\n', '\\r', '\\t', '\\b', '\\f', '\\uXXXX'];

export const syntax: readonly MistakeCase[] = [
  {
    title: 'a block that is not closed, at the end',
    source: 'agent A {\n  capabilities: [x]\n',
    errors: [
      {
        line: 2,
        column: 20,
        code: 'syntax',
        message: 'the block that begins on line 1 is not closed: write `}`',
        expected: ['a field', '`}`'],
      },
    ],
  },
  {
    title: 'a block that is not closed, before another definition',
    source: 'agent A {\n  capabilities: [x]\n\nagent B { capabilities: [x] }',
    errors: [
      {
        line: 2,
        column: 20,
        code: 'syntax',
        message: 'the block that begins on line 1 is not closed: write `}`',
        expected: ['a field', '`}`'],
      },
    ],
  },
  {
    title: 'an inner block that is not closed',
    source: 'agent A {\n  capabilities: [x]\n  metadata {\n    team: "a"\n}\n\nagent B { capabilities: [x] }',
    errors: [
      {
        line: 5,
        column: 2,
        code: 'syntax',
        message: 'the block that begins on line 1 is not closed: write `}`',
        expected: ['a field', '`}`'],
      },
    ],
  },
  {
    title: 'a block that is not closed, before settings',
    source: 'agent A {\n  capabilities: [x]\n\nsettings { retain: digest }',
    errors: [
      {
        line: 4,
        column: 28,
        code: 'syntax',
        message: 'the block that begins on line 1 is not closed: write `}`',
        expected: ['a field', '`}`'],
      },
    ],
  },
  {
    title: 'no opening brace',
    source: 'agent A\n  capabilities: [x]\n}',
    errors: [
      {
        line: 2,
        column: 3,
        code: 'syntax',
        message: 'expected `{` behind `A`, found `capabilities`',
        expected: ['`{`'],
      },
    ],
  },
  {
    title: 'no closing bracket',
    source: 'agent A {\n  capabilities: [x, y\n}',
    errors: [
      { line: 3, column: 1, code: 'syntax', message: 'expected `,` or `]`, found `}`', expected: ['`,`', '`]`'] },
    ],
  },
  {
    title: 'no closing bracket, at the end',
    source: 'agent A { capabilities: [x',
    errors: [
      {
        line: 1,
        column: 27,
        code: 'syntax',
        message: 'the list that begins on line 1 is not closed: write `]`',
        expected: ['`,`', '`]`'],
      },
    ],
  },
  {
    title: 'no closing bracket, before a field',
    source: 'agent A {\n  capabilities: [x, y\n  type: z\n}',
    errors: [
      { line: 3, column: 3, code: 'syntax', message: 'expected `,` or `]`, found `type`', expected: ['`,`', '`]`'] },
      { line: 4, column: 1, code: 'syntax', message: 'expected `,` or `]`, found `}`', expected: ['`,`', '`]`'] },
    ],
  },
  {
    title: 'no opening bracket',
    source: 'agent A {\n  capabilities: x, y]\n}',
    errors: [{ line: 2, column: 21, code: 'syntax', message: 'expected `:` behind `y`, found `]`', expected: ['`:`'] }],
  },
  {
    title: 'no closing quote',
    source: 'profile A {\n  description: "reads diffs\n}',
    errors: [
      {
        line: 2,
        column: 16,
        code: 'syntax',
        message: 'the text is not closed: write `"` at its end',
        expected: ['`"`'],
      },
    ],
  },
  {
    title: 'no opening quote',
    source: 'profile A {\n  description: reads"\n}',
    errors: [
      {
        line: 2,
        column: 21,
        code: 'syntax',
        message: 'the text is not closed: write `"` at its end',
        expected: ['`"`'],
      },
    ],
  },
  {
    title: 'no opening quote, two words',
    source: 'profile A {\n  description: reads diffs"\n}',
    errors: [
      {
        line: 2,
        column: 27,
        code: 'syntax',
        message: 'the text is not closed: write `"` at its end',
        expected: ['`"`'],
      },
    ],
  },
  {
    title: 'no colon',
    source: 'agent A {\n  capabilities [x]\n}',
    errors: [
      {
        line: 2,
        column: 16,
        code: 'syntax',
        message: 'expected `:` behind `capabilities`, found `[`',
        expected: ['`:`'],
      },
    ],
  },
  {
    title: 'no colon before a name',
    source: 'agent A {\n  type coder\n  capabilities: [x]\n}',
    errors: [
      { line: 2, column: 8, code: 'syntax', message: 'expected `:` behind `type`, found `coder`', expected: ['`:`'] },
    ],
  },
  {
    title: 'no comma in a list',
    source: 'agent A { capabilities: [x y] }',
    errors: [
      { line: 1, column: 28, code: 'syntax', message: 'expected `,` or `]`, found `y`', expected: ['`,`', '`]`'] },
    ],
  },
  {
    title: 'no comma between lines of a list',
    source: 'agent A {\n  capabilities: [\n    "x"\n    "y"\n  ]\n}',
    errors: [
      { line: 4, column: 5, code: 'syntax', message: 'expected `,` or `]`, found "y"', expected: ['`,`', '`]`'] },
    ],
  },
  {
    title: 'two commas in a list',
    source: 'agent A { capabilities: [x,, y] }',
    errors: [
      {
        line: 1,
        column: 28,
        code: 'syntax',
        message: 'expected a value or `]`, found `,`',
        expected: ['a value', '`]`'],
      },
    ],
  },
  {
    title: 'a comma at the begin of a list',
    source: 'agent A { capabilities: [, y] }',
    errors: [
      {
        line: 1,
        column: 26,
        code: 'syntax',
        message: 'expected a value or `]`, found `,`',
        expected: ['a value', '`]`'],
      },
    ],
  },
  {
    title: 'two commas between fields',
    source: 'agent A { capabilities: [x],, type: y }',
    errors: [
      {
        line: 1,
        column: 29,
        code: 'syntax',
        message: 'expected a field or `}`, found `,`',
        expected: ['a field', '`}`'],
      },
    ],
  },
  {
    title: 'a comma between definitions',
    source: 'agent A { capabilities: [x] },\nagent B { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 30,
        code: 'syntax',
        message: 'expected a definition of the form `kind Name { … }`, found `,`',
        expected: ['a definition'],
      },
    ],
  },
  {
    title: 'braces for a list',
    source: 'agent A { capabilities: {x, y} }',
    errors: [
      {
        line: 1,
        column: 27,
        code: 'syntax',
        message: 'expected `:` behind `x`, found `,`: write a list as [a, b]',
        expected: ['`:`'],
      },
    ],
  },
  {
    title: 'a brace that closes a list',
    source: 'agent A { capabilities: [x, y} }',
    errors: [
      { line: 1, column: 30, code: 'syntax', message: 'expected `,` or `]`, found `}`', expected: ['`,`', '`]`'] },
    ],
  },
  {
    title: 'a bracket that closes a block',
    source: 'profile A { tools: [{ name: "diff" ] }',
    errors: [
      {
        line: 1,
        column: 36,
        code: 'syntax',
        message: 'expected a field or `}`, found `]`',
        expected: ['a field', '`}`'],
      },
    ],
  },
  {
    title: 'parentheses',
    source: 'agent A { capabilities: (x, y) }',
    errors: [
      { line: 1, column: 25, code: 'syntax', message: 'unexpected `(`: write a list as [a, b] and a block as { … }' },
    ],
  },
  {
    title: 'angle brackets',
    source: 'agent A < capabilities: [x] >',
    errors: [
      { line: 1, column: 9, code: 'syntax', message: 'unexpected `<`: remove it, or quote the text that has it' },
    ],
  },
  {
    title: 'brackets for a block',
    source: 'agent A [ capabilities: [x] ]',
    errors: [{ line: 1, column: 9, code: 'syntax', message: 'expected `{` behind `A`, found `[`', expected: ['`{`'] }],
  },
  {
    title: 'triple quotes that are not closed',
    source: 'profile A {\n  system_prompt: """\n    You write\n}\nprofile B {}',
    errors: [
      {
        line: 2,
        column: 18,
        code: 'syntax',
        message: 'the text is not closed: write `"""` at its end',
        expected: ['`"""`'],
      },
    ],
  },
  {
    title: 'triple quotes that are not closed, on one line',
    source: 'profile A { system_prompt: """You write }',
    errors: [
      {
        line: 1,
        column: 28,
        code: 'syntax',
        message: 'the text is not closed: write `"""` at its end',
        expected: ['`"""`'],
      },
    ],
  },
  {
    title: 'a comment that is not closed',
    source: 'agent A { capabilities: [x] }\n/* more\nagent B {}',
    errors: [
      {
        line: 2,
        column: 1,
        code: 'syntax',
        message: 'the comment is not closed: write `*/` at its end',
        expected: ['`*/`'],
      },
    ],
  },
  {
    title: 'no value',
    source: 'agent A { capabilities: }',
    errors: [{ line: 1, column: 25, code: 'syntax', message: 'expected a value, found `}`', expected: ['a value'] }],
  },
  {
    title: 'no value, before another field',
    source: 'agent A {\n  type:\n  capabilities: [x]\n}',
    errors: [
      {
        line: 3,
        column: 3,
        code: 'syntax',
        message: 'expected a value of `type`, found the field `capabilities`',
        expected: ['a value'],
      },
    ],
  },
  {
    title: 'no base after extends',
    source: 'agent A extends { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 17,
        code: 'syntax',
        message: 'expected a name or a quoted text, found `{`',
        expected: ['a name', 'a quoted text'],
      },
    ],
  },
  {
    title: 'a brace too many',
    source: 'agent A { capabilities: [x] }\n}\nagent B { capabilities: [x] }',
    errors: [
      { line: 2, column: 1, code: 'syntax', message: '`}` closes nothing: remove it', expected: ['a definition'] },
    ],
  },
  {
    title: 'a bracket too many',
    source: 'agent A { capabilities: [x]] }',
    errors: [
      {
        line: 1,
        column: 28,
        code: 'syntax',
        message: 'expected a field or `}`, found `]`',
        expected: ['a field', '`}`'],
      },
    ],
  },
  {
    title: 'JSON',
    source: '{\n  "agent": {\n    "name": "A",\n    "capabilities": ["x"]\n  }\n}',
    errors: [
      {
        line: 1,
        column: 1,
        code: 'syntax',
        message: 'expected a definition of the form `kind Name { … }`, found `{`',
        expected: ['a definition'],
      },
    ],
  },
  {
    title: 'JSON in a list',
    source: '[{ "agent": "A" }]',
    errors: [
      {
        line: 1,
        column: 1,
        code: 'syntax',
        message: 'expected a definition of the form `kind Name { … }`, found `[`',
        expected: ['a definition'],
      },
    ],
  },
  {
    title: 'a quoted kind',
    source: '"agent" "A" {\n  "capabilities": ["x",],\n}',
    errors: [
      {
        line: 1,
        column: 1,
        code: 'syntax',
        message: 'expected a definition of the form `kind Name { … }`, found "agent"',
        expected: ['a definition'],
      },
    ],
  },
  {
    title: 'a colon behind the kind',
    source: 'agent: {\n  A: { capabilities: [x] }\n}',
    errors: [
      { line: 1, column: 6, code: 'syntax', message: 'expected `{` behind `agent`, found `:`', expected: ['`{`'] },
    ],
  },
  {
    title: 'YAML',
    source: 'agent:\n  name: A\n  capabilities:\n    - x\n    - y\n',
    errors: [
      { line: 1, column: 6, code: 'syntax', message: 'expected `{` behind `agent`, found `:`', expected: ['`{`'] },
      { line: 2, column: 7, code: 'syntax', message: 'expected `{` behind `name`, found `:`', expected: ['`{`'] },
      {
        line: 3,
        column: 15,
        code: 'syntax',
        message: 'expected `{` behind `capabilities`, found `:`',
        expected: ['`{`'],
      },
      { line: 4, column: 5, code: 'syntax', message: 'unexpected `-`: write a list as [a, b]' },
      { line: 5, column: 5, code: 'syntax', message: 'unexpected `-`: write a list as [a, b]' },
    ],
  },
  {
    title: 'a list of YAML',
    source: 'agent A {\n  capabilities:\n    - x\n    - y\n}',
    errors: [
      { line: 3, column: 5, code: 'syntax', message: 'unexpected `-`: write a list as [a, b]' },
      { line: 4, column: 5, code: 'syntax', message: 'unexpected `-`: write a list as [a, b]' },
      { line: 5, column: 1, code: 'syntax', message: 'expected `:` behind `y`, found `}`', expected: ['`:`'] },
    ],
  },
  {
    title: '= for a colon',
    source: 'agent A {\n  capabilities = [x]\n  type = coder\n}',
    errors: [
      {
        line: 2,
        column: 16,
        code: 'syntax',
        message: 'unexpected `=`: write `:` between a field and its value',
        suggestion: ':',
      },
      {
        line: 3,
        column: 8,
        code: 'syntax',
        message: 'unexpected `=`: write `:` between a field and its value',
        suggestion: ':',
      },
    ],
  },
  {
    title: '=> for a colon',
    source: 'agent A { type => coder }',
    errors: [
      {
        line: 1,
        column: 16,
        code: 'syntax',
        message: 'unexpected `=>`: write `:` between a field and its value',
        suggestion: ':',
      },
    ],
  },
  {
    title: 'semicolons',
    source: 'agent A {\n  type: coder;\n  capabilities: [x];\n}',
    errors: [
      { line: 2, column: 14, code: 'syntax', message: 'unexpected `;`: remove it, or write `,`', suggestion: ',' },
      { line: 3, column: 20, code: 'syntax', message: 'unexpected `;`: remove it, or write `,`', suggestion: ',' },
    ],
  },
  {
    title: 'a colon behind the name',
    source: 'agent A: B { capabilities: [x] }',
    errors: [{ line: 1, column: 8, code: 'syntax', message: 'expected `{` behind `A`, found `:`', expected: ['`{`'] }],
  },
  {
    title: 'a word before the kind',
    source: 'define agent A { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 14,
        code: 'syntax',
        message: 'expected `{` behind `agent`, found `A`: quote a name that has spaces or begins with a digit',
        expected: ['`{`'],
      },
    ],
  },
  {
    title: 'a field outside of a definition',
    source: 'retain: digest',
    errors: [
      { line: 1, column: 7, code: 'syntax', message: 'expected `{` behind `retain`, found `:`', expected: ['`{`'] },
    ],
  },
  {
    title: 'a word alone',
    source: 'hello',
    errors: [{ line: 1, column: 6, code: 'syntax', message: 'expected `{` behind `hello`', expected: ['`{`'] }],
  },
  {
    title: 'curly quotes',
    source: 'profile A { description: “reads diffs” }',
    errors: [
      {
        line: 1,
        column: 26,
        code: 'syntax',
        message: 'unexpected `“`: write a text in straight double quotes, such as "text"',
        suggestion: '"',
      },
    ],
  },
  {
    title: 'single quotes',
    source: "profile A { description: 'reads diffs' }",
    errors: [
      {
        line: 1,
        column: 26,
        code: 'syntax',
        message: 'unexpected `\'`: write a text in straight double quotes, such as "text"',
        suggestion: '"',
      },
    ],
  },
  {
    title: 'backticks',
    source: 'profile A { description: `reads` }',
    errors: [
      {
        line: 1,
        column: 26,
        code: 'syntax',
        message: 'unexpected backtick: write a text in straight double quotes, such as "text"',
        suggestion: '"',
      },
    ],
  },
  {
    title: 'an unknown escape',
    source: 'profile A { description: "C:\\work\\dir" }',
    errors: [
      {
        line: 1,
        column: 29,
        code: 'syntax',
        message: '`\\w` is not an escape: write \\\\ for a backslash',
        expected: ESCAPES,
      },
    ],
  },
  {
    title: 'hex digits that are missing',
    source: 'profile A { description: "\\u12" }',
    errors: [
      {
        line: 1,
        column: 27,
        code: 'syntax',
        message: '`\\u` is not an escape: write four hex digits behind it, such as \\u00e9',
        expected: ESCAPES,
      },
    ],
  },
  {
    title: 'an escape of other languages',
    source: 'profile A { description: "\\x41" }',
    errors: [
      {
        line: 1,
        column: 27,
        code: 'syntax',
        message: '`\\x` is not an escape: write \\\\ for a backslash',
        expected: ESCAPES,
      },
    ],
  },
  {
    title: 'a name with a space',
    source: 'agent My Agent { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 10,
        code: 'syntax',
        message: 'expected `{` behind `My`, found `Agent`: quote a name that has spaces or begins with a digit',
        expected: ['`{`'],
      },
    ],
  },
  {
    title: 'a name that begins with a digit',
    source: 'agent 1A { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 7,
        code: 'syntax',
        message: 'expected `{` behind `agent`, found `1A`: quote a name that has spaces or begins with a digit',
        expected: ['`{`'],
      },
    ],
  },
  {
    title: 'a name with an accent',
    source: 'agent Café { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 7,
        code: 'syntax',
        message: '`Café` must be quoted: a bare name has the letters A to Z, digits, "_", "-" and "."',
        suggestion: '"Café"',
      },
    ],
  },
  {
    title: 'a name that is an emoji',
    source: 'profile 🙂 {}',
    errors: [
      { line: 1, column: 9, code: 'syntax', message: 'unexpected `🙂`: remove it, or quote the text that has it' },
    ],
  },
  {
    title: 'a text of several words without quotes',
    source: 'profile A { system_prompt: You write code. }',
    errors: [
      {
        line: 1,
        column: 38,
        code: 'syntax',
        message: 'expected `:` behind `write`, found `code.`: quote a text that has spaces',
        expected: ['`:`'],
      },
    ],
  },
  {
    title: 'an invisible character',
    source: 'agent A\u200b { capabilities: [x] }',
    errors: [
      { line: 1, column: 8, code: 'syntax', message: 'unexpected U+200B: remove it, or quote the text that has it' },
    ],
  },
  {
    title: 'an invisible character in a word',
    source: 'agent A { capa\u00adbilities: [x] }',
    errors: [
      { line: 1, column: 15, code: 'syntax', message: 'unexpected U+00AD: remove it, or quote the text that has it' },
    ],
  },
  {
    title: 'a variable',
    source: 'agent A { capabilities: [$x] }',
    errors: [
      { line: 1, column: 26, code: 'syntax', message: 'unexpected `$`: remove it, or quote the text that has it' },
    ],
  },
  {
    title: 'a slash',
    source: 'agent A { capabilities: [x] / }',
    errors: [
      { line: 1, column: 29, code: 'syntax', message: 'unexpected `/`: remove it, or quote the text that has it' },
    ],
  },
  {
    title: 'a path without quotes',
    source: 'agent A { capabilities: [x], metadata { path: /tmp } }',
    errors: [
      { line: 1, column: 47, code: 'syntax', message: 'unexpected `/`: remove it, or quote the text that has it' },
    ],
  },
  {
    title: 'an address without quotes',
    source: 'agent A { capabilities: [x], metadata { url: http://example.com } }',
    errors: [
      {
        line: 1,
        column: 46,
        code: 'syntax',
        message: 'expected a value of `url`, found the field `http`',
        expected: ['a value'],
      },
    ],
  },
  {
    title: 'an e-mail address without quotes',
    source: 'agent A { capabilities: [x], metadata { mail: me@example.com } }',
    errors: [
      { line: 1, column: 49, code: 'syntax', message: 'unexpected `@`: remove it, or quote the text that has it' },
    ],
  },
  {
    title: 'brackets nested too deep',
    source: `agent A { capabilities: [x], metadata { x: ${'['.repeat(80)} } }`,
    errors: [{ line: 1, column: 114, code: 'limit', message: 'brackets are nested deeper than 72 levels' }],
  },
];
