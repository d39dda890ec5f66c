/** The tests themselves: they are in the folder of a module, their names say their kind, and they enter modules by doors. */
import { describe, expect, it } from 'vitest';
import { deepTestImports, lostImports } from './reading/import-rules.js';
import { folderOf, MODULES, moduleOf } from './reading/modules.js';
import { isConformance, isTest, isTidy, KINDS, misnamedTests } from './reading/titles.js';
import { foundIn, plant, readTree, source, type Tree } from './reading/tree.js';

const tests = readTree('test');
const MOST_TESTS = 40;
const MOST_FILES = 20;

function fullFolders(tree: Tree): string[] {
  const counts = new Map<string, { tests: number; others: number }>();
  for (const path of tree.keys()) {
    const count = counts.get(folderOf(path)) ?? { tests: 0, others: 0 };
    if (isTest(path)) count.tests++;
    else count.others++;
    counts.set(folderOf(path), count);
  }
  return [...counts]
    .filter(([, { tests, others }]) => tests > MOST_TESTS || others > MOST_FILES)
    .map(([folder, { tests, others }]) => `${folder} has ${tests} tests and ${others} other files`);
}

/** Journeys through the inspector, which is no module. */
const isJourney = (path: string): boolean => path.startsWith('test/web/');

const outsideOfModules = (tree: Tree): string[] =>
  [...tree.keys()].filter(
    (path) => isTest(path) && !isTidy(path) && !isJourney(path) && !MODULES.includes(moduleOf(path)),
  );

describe('test files', () => {
  it('are there for every module and every kind', () => {
    const folders = new Set([...tests.keys()].filter(isTest).map(moduleOf));
    expect(MODULES.filter((module) => !folders.has(module))).toEqual([]);
    expect([...tests.keys()].filter(isConformance).length).toBeGreaterThan(80);
    for (const kind of KINDS)
      expect([...tests.keys()].filter((path) => path.endsWith(`.${kind}.test.ts`)).length).toBeGreaterThan(8);
  });

  it('are in the folder of a module', () => {
    expect(outsideOfModules(tests)).toEqual([]);
    const planted = { 'test/planted.test.ts': '', 'test/misc/planted.unit.test.ts': '' };
    expect(foundIn(outsideOfModules, planted, tests)).toEqual(Object.keys(planted));
  });

  it('say their kind in their names', () => {
    expect(misnamedTests(tests)).toEqual([]);
    const wrong = ['a.untit.test.ts', 'a.unit.fault.test.ts', 'a.spec.ts', 'a-test.ts', 'a.test.unit.test.ts'];
    const planted = Object.fromEntries(wrong.map((name) => [`test/facts/${name}`, '']));
    expect(foundIn(misnamedTests, planted, tests)).toEqual(Object.keys(planted));
    expect(foundIn(misnamedTests, { 'test/tidy/a.unit.test.ts': '' }, tests)).toHaveLength(1);
  });

  it('are at most 40 in a folder, with at most 20 files that are none', () => {
    expect(fullFolders(tests)).toEqual([]);
    const many = (count: number, ending: string): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`test/facts/planted/${i}${ending}`, '']));
    expect(foundIn(fullFolders, many(41, '.unit.test.ts'), tests)).toEqual([
      'test/facts/planted has 41 tests and 0 other files',
    ]);
    expect(foundIn(fullFolders, many(21, '.ts'), tests)).toHaveLength(1);
  });

  it('import other modules through their doors', () => {
    expect(deepTestImports(tests)).toEqual([]);
    const planted = {
      'test/facts/planted.unit.test.ts':
        "import { a } from '#cairn/memory/scopes/rules.js';\nimport { b } from '#cairn/facts/cards/rules.js';\n" +
        "import { c } from '#cairn/memory/index.js';\nimport { openCairn } from '#cairn/cairndb.js';",
    };
    expect(foundIn(deepTestImports, planted, tests)).toEqual([
      'test/facts/planted.unit.test.ts imports src/memory/scopes/rules.ts',
    ]);
  });

  it('import files that are there, so none was misread', () => {
    const all = plant(source, Object.fromEntries(tests));
    // The inspector has its own compiler settings, which check its imports.
    const lost = lostImports(all).filter((violation) => /#cairn\/|(?<!\/web)\/src\//.test(violation));
    expect(lost).toEqual([]);
    expect([...tests.values()].filter((text) => text.includes("'#cairn/")).length).toBeGreaterThan(200);
  });
});
