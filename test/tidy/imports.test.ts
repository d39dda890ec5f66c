/** Who imports whom: the order of modules, their doors, the roles in a room, no cycle, and what threads and browsers load. */
import { describe, expect, it } from 'vitest';
import { codeOf } from './reading/code.js';
import { deepImports, importCycles, lostImports, roleOrderViolations, upwardImports } from './reading/import-rules.js';
import { edgesOf, importsOf, loadedBy } from './reading/imports.js';
import { isDoor, MODULES, moduleOf, ORDER, OUTSIDE, roleOf } from './reading/modules.js';
import { foundIn, plant, sawModules, source, type Tree } from './reading/tree.js';

const paths = [...source.keys()];

/** The doors of one kind, once modules have them. */
const doors = (tree: Tree, name: string): string[] =>
  [...tree.keys()].filter((path) => isDoor(path) && path.endsWith(`/${name}`));

describe('reading the source', () => {
  it('sees every module, and says so when it does not', () => {
    expect(paths.length).toBeGreaterThan(400);
    expect(edgesOf(source).length).toBeGreaterThan(1000);
    expect(() => sawModules(new Map())).toThrow(/no files in src\/ of the modules kernel, text/);
    const without = [...source].filter(([path]) => !path.startsWith('src/facts/'));
    expect(() => sawModules(new Map(without))).toThrow('no files in src/ of the modules facts');
  });

  it('knows every folder', () => {
    const folders = new Set(paths.map(moduleOf));
    expect([...folders].filter((folder) => !['.', ...MODULES].includes(folder))).toEqual([]);
    expect(ORDER.filter((module) => OUTSIDE.includes(module))).toEqual([]);
  });

  it('tells code from comments, strings, templates and regular expressions', () => {
    const text = [
      "import a from './a.js'; // import b from './b.js'",
      "const c = 'import d'; const e = /[/'\"`]/.test(c); const f = 4 / 2; const g = '/';",
      "const h = `import i from './i.js' #{j('}') + `#{k}`} l`; /* m */ const n = 1;",
    ]
      .join('\n')
      .replaceAll('#', '$');
    const { bare } = codeOf(text);
    expect(bare.length).toBe(text.length);
    expect(bare.replace(/ +/g, ' ')).toBe(
      [
        "import a from ' '; ",
        "const c = ' '; const e = / /.test(c); const f = 4 / 2; const g = ' ';",
        "const h = ` #{j(' ') + `#{k}`} `; const n = 1;",
      ]
        .join('\n')
        .replaceAll('#', '$'),
    );
    expect(importsOf(text).map(({ specifier }) => specifier)).toEqual(['./a.js']);
  });

  it('finds imports in every form', () => {
    const text = [
      "import './a.js';",
      "import type { B } from './b.js';",
      "import {\n  c,\n  type D,\n} from './c.js';",
      "export * from './e.js';",
      "export { f } from './f.js';",
      "export type { G } from './g.js';",
      "const h = await import('./h.js');",
      "type I = typeof import('./i.js');",
      "export const j = './j.js';",
    ].join('\n');
    const found = importsOf(text);
    expect(found.map(({ specifier }) => specifier)).toEqual(
      ['a', 'b', 'c', 'e', 'f', 'g', 'h', 'i'].map((name) => `./${name}.js`),
    );
    expect(found.filter(({ isLoaded }) => isLoaded).map(({ specifier }) => specifier)).toEqual(
      ['a', 'c', 'e', 'f'].map((name) => `./${name}.js`),
    );
  });

  it('finds a file for every import, so none was misread', () => {
    expect(lostImports(source)).toEqual([]);
    expect(foundIn(lostImports, { 'src/facts/planted.ts': "import './nowhere.js';" })).toEqual([
      'src/facts/planted.ts imports ./nowhere.js',
    ]);
  });
});

describe('imports between modules', () => {
  it('go to modules that are listed before', () => {
    expect(upwardImports(source)).toEqual([]);
  });

  it.each([
    ['memory', "import { x } from '../recall/search/service.js';", 'src/recall/search/service.ts'],
    ['driver', "import type { X } from '../engine/calls/call.js';", 'src/engine/calls/call.ts'],
    ['api', "export * from '../http/serve.js';", 'src/http/serve.ts'],
    ['maintenance', "const x = await import('../api/index.js');", 'src/api/index.ts'],
    ['api', "import { openCairn } from '../cairndb.js';", 'src/cairndb.ts'],
  ])('would be found if %s had: %s', (module, text, target) => {
    expect(foundIn(upwardImports, { [`src/${module}/planted.ts`]: text })).toEqual([
      `src/${module}/planted.ts imports ${target}`,
    ]);
  });

  it('pass a door of the other module', () => {
    expect(deepImports(source)).toEqual([]);
  });

  it('would be found if they passed no door', () => {
    const planted = {
      'src/recall/planted.ts': "import type { Lock } from '../memory/scopes/model.js';",
      'src/http/planted.ts': "import { errorCodes } from '../kernel/errors.js';",
    };
    expect(foundIn(deepImports, planted)).toEqual([
      'src/recall/planted.ts imports src/memory/scopes/model.ts',
      'src/http/planted.ts imports src/kernel/errors.ts',
    ]);
    const violations = deepImports(plant(source, planted));
    expect(violations.length).toBe(deepImports(source).length + 2);
    const fine = ['index', 'contract', 'sql'].map((door) => `import { x } from '../memory/${door}.js';`);
    expect(foundIn(deepImports, { 'src/recall/planted.ts': fine.join('\n') })).toEqual([]);
    const inside = "import { x } from '../memory/scopes/index.js';";
    expect(foundIn(deepImports, { 'src/recall/planted.ts': inside })).toHaveLength(1);
  });

  it('form no cycle, types included', () => {
    expect(importCycles(source)).toEqual([]);
    const planted = {
      'src/facts/planted.ts': "import type { A } from './cards/planted.js';",
      'src/facts/cards/planted.ts': "export type { A } from '../boxes/planted.js';",
      'src/facts/boxes/planted.ts': "export type A = import('../planted.js').A;",
    };
    const way = ['src/facts/planted.ts', 'src/facts/cards/planted.ts', 'src/facts/boxes/planted.ts'];
    expect(foundIn(importCycles, planted)).toEqual([[...way, way[0]].join(' → ')]);
  });
});

describe('roles in a room', () => {
  it('are imported in order: model by contract, model by rules, rules by store, store by service', () => {
    expect(roleOrderViolations(source)).toEqual([]);
    const rooms = paths.filter((path) => roleOf(path) === 'service');
    expect(rooms.length).toBeGreaterThan(15);
    for (const role of ['model', 'contract', 'rules', 'store'] as const)
      expect(paths.filter((path) => roleOf(path) === role).length).toBeGreaterThan(5);
  });

  it.each([
    ['model', 'contract'],
    ['model', 'store'],
    ['contract', 'rules'],
    ['contract', 'service'],
    ['rules', 'store'],
    ['rules', 'contract'],
    ['store', 'service'],
    ['store', 'contract'],
  ])('would be found if %s imported %s', (role, other) => {
    const planted = {
      [`src/facts/planted/${role}.ts`]: `import type { X } from './${other}.js';`,
      [`src/facts/planted/${other}.ts`]: '',
    };
    expect(foundIn(roleOrderViolations, planted)).toEqual([
      `src/facts/planted/${role}.ts → src/facts/planted/${other}.ts`,
    ]);
  });

  it('would be found if one led to another through other files of the module', () => {
    const planted = {
      'src/facts/planted/wire-rules.ts': "import { x } from '../beside/x.js';",
      'src/facts/beside/x.ts': "export { x } from '../planted/queue-store.js';",
      'src/facts/planted/queue-store.ts': "import type { X } from './model.js';",
      'src/facts/planted/model.ts': '',
    };
    expect(foundIn(roleOrderViolations, planted)).toEqual([
      'src/facts/planted/wire-rules.ts → src/facts/beside/x.ts → src/facts/planted/queue-store.ts',
    ]);
  });

  it('may all be imported by a service', () => {
    const imports = ['model', 'contract', 'rules', 'store'].map((role) => `import './${role}.js';`);
    const planted = { 'src/facts/planted/service.ts': imports.join('\n') };
    expect(foundIn(roleOrderViolations, planted)).toEqual([]);
  });
});

/** Entry points of the threads that read beside the event loop. */
/** Modules that threads load: the thread that reads, and what `driver.away` runs in it. */
const threads = (tree: Tree): string[] => {
  const named = [...tree].flatMap(([file, text]) =>
    [...text.matchAll(/new URL\('\.\/([\w-]+)\.js', import\.meta\.url\)/g)].map(
      ([, name]) => `${file.slice(0, file.lastIndexOf('/'))}/${name}.ts`,
    ),
  );
  return [...new Set(named)];
};

describe('what is loaded', () => {
  const schemasInThreads = (tree: Tree): string[] =>
    loadedBy(tree, [...threads(tree), ...doors(tree, 'sql.ts')])
      .packages.filter(({ name }) => name === 'zod')
      .map(({ file }) => file);

  it('in a thread that reads has no schemas: the first search waits until all of them are loaded', () => {
    expect(schemasInThreads(source)).toEqual([]);
    expect(threads(source)).toEqual(
      expect.arrayContaining(['src/recall/search/job.ts', 'src/recall/reindex/drift.ts']),
    );
    expect(loadedBy(source, threads(source)).files.size).toBeGreaterThan(40);
    const planted = { 'src/facts/sql.ts': "import { z } from 'zod';\nimport type { X } from './model.js';" };
    expect(foundIn(schemasInThreads, planted)).toEqual(['src/facts/sql.ts']);
  });

  const BROWSER = ['src/client/index.ts', 'src/runtime/index.ts'];
  const nodeInBrowsers = (tree: Tree): string[] =>
    loadedBy(tree, [...BROWSER, ...doors(tree, 'contract.ts')])
      .packages.filter(({ name }) => name.startsWith('node:'))
      .map(({ file, name }) => `${file} imports ${name}`);

  it('by clients, and by the contracts that they load, has nothing of Node: a browser may run it', () => {
    expect(nodeInBrowsers(source)).toEqual([]);
    expect(loadedBy(source, BROWSER).files.size).toBeGreaterThan(40);
    const planted = { 'src/facts/contract.ts': "import { createHash } from 'node:crypto';" };
    expect(foundIn(nodeInBrowsers, planted)).toEqual(['src/facts/contract.ts imports node:crypto']);
  });

  const packagesOfContracts = (tree: Tree): string[] =>
    loadedBy(tree, [...doors(tree, 'contract.ts')])
      .packages.filter(({ name }) => name !== 'zod' && name !== 'safe-stable-stringify')
      .map(({ file, name }) => `${file} imports ${name}`);

  it('with a contract is zod and canonical JSON alone', () => {
    expect(packagesOfContracts(source)).toEqual([]);
    expect(doors(source, 'contract.ts').length).toBeGreaterThan(0);
    const planted = { 'src/facts/contract.ts': "import pg from 'pg';" };
    expect(foundIn(packagesOfContracts, planted)).toEqual(['src/facts/contract.ts imports pg']);
  });

  const storeInCommand = (tree: Tree): string[] =>
    [...loadedBy(tree, ['src/cli/main.ts']).files].filter((file) => file.startsWith('src/driver/'));

  it('by the command line has no store: help and usage errors are answered without one', () => {
    expect(storeInCommand(source)).toEqual([]);
    const planted = { 'src/cli/planted.ts': '', 'src/cli/main.ts': "import '../driver/index.js';" };
    expect(foundIn(storeInCommand, planted)).toContain('src/driver/index.ts');
  });

  const LAZY = ['@modelcontextprotocol/server', 'chevrotain'];
  const lazyPackages = (tree: Tree): string[] =>
    loadedBy(tree, ['src/cairndb.ts', 'src/cli/main.ts'])
      .packages.filter(({ name }) => LAZY.some((lazy) => name.startsWith(lazy)))
      .map(({ file, name }) => `${file} imports ${name}`);

  it('by the library and the command line includes neither the MCP SDK nor the parser: each takes a fifth of a second', () => {
    expect(lazyPackages(source)).toEqual([]);
    const planted = { 'src/text/tokenizer.ts': "import 'chevrotain';" };
    expect(foundIn(lazyPackages, planted)).toEqual(['src/text/tokenizer.ts imports chevrotain']);
  });
});
