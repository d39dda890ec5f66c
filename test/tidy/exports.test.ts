/** Every export is imported somewhere: by other files of src, tests, benches, scripts or examples, or it is published. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allOperations } from '#cairn/api/contract.js';
import { namesOf, unusedExports } from './reading/exports.js';
import { foundIn, ROOT, readTree, source, type Tree } from './reading/tree.js';

const others: Tree = new Map([
  ...readTree('test'),
  ...readTree('test', '.mjs'),
  ...readTree('bench', '.mjs'),
  ...readTree('scripts', '.mjs'),
  ...readTree('examples'),
]);

/** What packages import, the command, and what `src/types.ts` stands for: the generated types. */
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Readonly<Record<string, string | { readonly types: string }>>;
};
const published = Object.values(exports).flatMap((one) => (typeof one === 'string' ? [] : [one.types]));
const entries = [
  ...published.map((path) => path.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts')),
  'src/cli/main.ts',
  'src/types.ts',
];

/** Use cases are called by their names in the table of operations. */
const members = new Set(allOperations.map(({ verb }) => verb));

/** The compiler names them in the declarations of other exports. */
const IN_DECLARATIONS = [
  'src/facts/boxes/views.ts exports EntryList',
  'src/memory/trajectories/service.ts exports PreparedTrajectory',
  'src/memory/versions/changes.ts exports Batch',
];

const unused = (tree: Tree): string[] => unusedExports({ tree, others, entries, members });

describe('exports of src', () => {
  it('are each imported by another file', () => {
    expect(unused(source)).toEqual(IN_DECLARATIONS);
    expect(entries.filter((path) => !source.has(path))).toEqual([]);
    expect([...source.values()].flatMap((text) => [...namesOf(text).exported]).length).toBeGreaterThan(2000);
  });

  it('are found in every form', () => {
    const text = [
      'export const a = 1;',
      'export async function b(): Promise<void> {}',
      'export abstract class C {}',
      'export interface D {}',
      'export type E = 1;',
      'const f = 1;\nexport { f as g, type H };',
      "export { i as j } from './x.js';",
      "export type { K } from './x.js';",
      "export * from './y.js';",
      "const l = 'export const m = 1;'; // export const n = 1;",
    ].join('\n');
    expect([...namesOf(text).exported].sort()).toEqual(['C', 'D', 'E', 'H', 'K', 'a', 'b', 'g', 'j']);
    expect(namesOf(text).stars).toEqual(['./y.js']);
  });

  /** The file that exports `used` and `lost`, and others that import the first. */
  const lost = 'src/facts/planted.ts exports lost';
  const both = 'export const used = 1;\nexport const lost = 2;';

  it.each([
    ['by its name', "import { used } from './planted.js';"],
    ['as another name', "import { type X, used as lost } from './planted.js';"],
    ['by a call', "const { used } = await import('./planted.js');"],
    ['as a type', "type X = import('./planted.js').used;"],
    ['with its module', "import * as planted from './planted.js';\nplanted.used();"],
  ])('would be found beside one that is imported %s', (_, text) => {
    const planted = { 'src/facts/planted.ts': both, 'src/facts/importer.ts': text };
    expect(foundIn(unused, planted)).toEqual([lost]);
  });

  it('would be found behind files that hand it on', () => {
    const named = {
      'src/facts/planted.ts': both,
      'src/facts/door.ts': "export { lost, used } from './planted.js';",
      'src/facts/importer.ts': "import { used } from './door.js';",
    };
    expect(foundIn(unused, named)).toEqual(['src/facts/door.ts exports lost']);
    expect(foundIn(unused, { ...named, 'src/facts/door.ts': "export * from './planted.js';" })).toEqual([lost]);
    const object = {
      ...named,
      'src/facts/door.ts': "export * as planted from './planted.js';",
      'src/facts/importer.ts': "import { planted as other } from './door.js';\nother.used();",
    };
    expect(foundIn(unused, object)).toEqual([lost]);
  });

  it('would be found beside use cases, the task of a thread, and schemas of published types', () => {
    const cases = {
      'src/facts/planted.ts': 'export const append = 1;\nexport const lost = 2;',
      'src/facts/importer.ts': "import * as planted from './planted.js';\nconst all = { ...planted };",
    };
    expect(foundIn(unused, cases)).toEqual([lost]);
    const thread = {
      'src/facts/planted.ts': 'export function run() {}\nexport const lost = 2;',
      'src/facts/importer.ts': "const url = new URL('./planted.js', import.meta.url);",
    };
    expect(foundIn(unused, thread)).toEqual([lost]);
    const schema = {
      'src/facts/planted.ts': 'export const used = z.int();\ntype X = z.output<typeof used>;\nexport const lost = 2;',
    };
    expect(foundIn(unused, schema)).toEqual([lost]);
  });
});
