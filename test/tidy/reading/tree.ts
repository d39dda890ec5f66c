/** A source tree as a map from path to text, so that a test can plant a violation without touching a file. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MODULES, moduleOf } from './modules.js';

export type Tree = ReadonlyMap<string, string>;

export const ROOT = resolve(import.meta.dirname, '../../..');

/** The files of a folder, by their paths from the root of the repository. */
export function readTree(folder: string, extension = '.ts'): Tree {
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .map((name) => `${folder}/${name}`)
    .sort();
  return readFiles(paths);
}

export const readFiles = (paths: readonly string[]): Tree =>
  new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));

/** Throws if a module has no file: a rule that reads nothing would hold. */
export function sawModules(tree: Tree): Tree {
  const seen = new Set([...tree.keys()].map(moduleOf));
  const missing = MODULES.filter((module) => !seen.has(module));
  if (missing.length > 0) throw new Error(`no files in src/ of the modules ${missing.join(', ')}`);
  return tree;
}

/** All of src/. */
export const source = sawModules(readTree('src'));

export const plant = (tree: Tree, files: Readonly<Record<string, string>>): Tree =>
  new Map([...tree, ...Object.entries(files)]);

/** The violations that a rule finds with planted files, and not without them; default: in src/. */
export function foundIn(
  rule: (tree: Tree) => readonly string[],
  files: Readonly<Record<string, string>>,
  tree: Tree = source,
): string[] {
  const before = new Set(rule(tree));
  return rule(plant(tree, files)).filter((violation) => !before.has(violation));
}

/** Caches a function of one text: rules read all of src/ again for every planted violation. */
export function remembered<R>(read: (text: string) => R): (text: string) => R {
  const known = new Map<string, R>();
  return (text) => {
    let result = known.get(text);
    if (result === undefined) {
      result = read(text);
      known.set(text, result);
    }
    return result;
  };
}
