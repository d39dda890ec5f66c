/** The files of src/: how many in a folder, how long, how many parameters, and what each has once. */
import { describe, expect, it } from 'vitest';
import { folderOf } from './reading/modules.js';
import { longParameterLists, signaturesOf } from './reading/parameters.js';
import { foundIn, source, type Tree } from './reading/tree.js';

const MOST_FILES = 20;
const MOST_LINES = 400;

const lines = (count: number): string => `/** Planted. */\n${'const x = 1;\n'.repeat(count - 1)}`;

function fullFolders(tree: Tree): string[] {
  const counts = new Map<string, number>();
  for (const path of tree.keys()) counts.set(folderOf(path), (counts.get(folderOf(path)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > MOST_FILES).map(([folder, count]) => `${folder} has ${count} files`);
}

const longFiles = (tree: Tree): string[] =>
  [...tree]
    .map(([path, text]) => ({ path, count: text.trimEnd().split('\n').length }))
    .filter(({ count }) => count > MOST_LINES)
    .map(({ path, count }) => `${path} has ${count} lines`);

/** The files whose text matches. */
const filesWith =
  (pattern: RegExp) =>
  (tree: Tree): string[] =>
    [...tree].filter(([, text]) => pattern.test(text)).map(([path]) => path);

describe('folders of src', () => {
  it('have at most 20 files', () => {
    expect(fullFolders(source)).toEqual([]);
    const planted = Object.fromEntries(
      Array.from({ length: MOST_FILES + 1 }, (_, i) => [`src/facts/planted/file-${i}.ts`, '']),
    );
    expect(foundIn(fullFolders, planted)).toEqual(['src/facts/planted has 21 files']);
  });
});

describe('files of src', () => {
  it('have at most 400 lines', () => {
    expect(longFiles(source)).toEqual([]);
    expect(foundIn(longFiles, { 'src/facts/planted.ts': lines(401) })).toEqual(['src/facts/planted.ts has 401 lines']);
    expect(foundIn(longFiles, { 'src/facts/planted.ts': lines(400) })).toEqual([]);
  });

  const withoutHeader = (tree: Tree): string[] =>
    [...tree].filter(([, text]) => !text.startsWith('/**')).map(([path]) => path);

  it('say in a first line what they own', () => {
    expect(withoutHeader(source)).toEqual([]);
    expect(foundIn(withoutHeader, { 'src/facts/planted.ts': 'const x = 1;' })).toEqual(['src/facts/planted.ts']);
  });

  const withDefault = filesWith(/^export (default\b|\{[^}]*\bas default\b)/m);

  it.each(['export default 1;', 'export { x as default };', 'export {\n  x,\n  y as default,\n};'])(
    'have named exports only, not %j',
    (text) => {
      expect(withDefault(source)).toEqual([]);
      expect(foundIn(withDefault, { 'src/facts/planted.ts': text })).toEqual(['src/facts/planted.ts']);
    },
  );

  it('combine signals in one place: Node 20 drops timeouts that only AbortSignal.any refers to', () => {
    expect(filesWith(/\bAbortSignal\.any\b/)(source)).toEqual(['src/kernel/signals.ts']);
  });

  it('LIB-1 start threads in one place, which hands on no flags of the process', () => {
    expect(filesWith(/\bnew Worker\(/)(source)).toEqual(['src/driver/thread.ts']);
  });
});

describe('parameters', () => {
  it('are at most five', () => {
    expect(longParameterLists(source)).toEqual([]);
    const count = [...source.values()].flatMap(signaturesOf).length;
    expect(count).toBeGreaterThan(1000);
  });

  const six = 'a: A, b?: Map<string, B>, { c, d }: C, e = f(1, 2), [g]: G, ...rest: readonly H[]';

  it.each([
    ['of a function', `export async function* one<T extends X<Y, Z>>(${six}): Promise<void> {}`],
    ['of an arrow function', `const one = async (${six}): Promise<Map<string, X>> => undefined;`],
    ['of a method', `class A {\n  async one(${six}): Promise<void> {\n  }\n}`],
    ['of a constructor', `class A {\n  constructor(private readonly x: X, ${six}) {}\n}`],
    ['of an interface', `interface A {\n  one(${six}): void;\n}`],
    ['of a function type', `type One = (${six}) => void;`],
    ['without types', 'xs.reduce((a, b, c, d, e, f) => a);'],
    ['over several lines', `function one(\n  ${six.replaceAll(', ', ',\n  ')},\n): void {}`],
    ['that are functions', 'const one = (a: A, b: (x: X, y: Y) => Z, c: C, d: D, e: E, f: F) => 1;'],
  ])('would be found if there were six, %s', (_, text) => {
    const found = foundIn(longParameterLists, { 'src/facts/planted.ts': text });
    expect(found).toEqual([expect.stringMatching(/^src\/facts\/planted\.ts:\d+ \w.* has [67] parameters$/)]);
  });

  it.each([
    'function one(a: A, b: B, c: C, d: D, e: E): void {}',
    'function one({ a, b, c, d, e, f }: Six): void {}',
    'one(a, b, c, d, e, f);',
    'one(a ? b : c, d ? e : f, g === h, { i: 1, j: 2 }, k, l);',
    'const one: Map<A, (b: B, c: C) => D> = two(a, b, c, d, e, f) ? 1 : 2;',
    "const one = 'function one(a: A, b: B, c: C, d: D, e: E, f: F)'; // (a, b, c, d, e, f) => 1",
    'if (a === b || (c && d)) one(a < b, c > d, e, f, g, h);',
  ])('are not found in %j', (text) => {
    expect(foundIn(longParameterLists, { 'src/facts/planted.ts': text })).toEqual([]);
  });
});
