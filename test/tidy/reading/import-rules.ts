/** The rules about imports, each as a function from a tree to its violations. */
import { cycleIn, edgesOf, targetsOf } from './imports.js';
import { folderOf, isDoor, moduleOf, ORDER, OUTSIDE, ROLE_IMPORTS, roleOf } from './modules.js';
import type { Tree } from './tree.js';

/** Imports of a module that is listed later, or of one outside of the order. */
export function upwardImports(tree: Tree): string[] {
  return edgesOf(tree)
    .filter(({ from, to }) => {
      const rank = ORDER.indexOf(moduleOf(from));
      const other = moduleOf(to);
      return rank !== -1 && (OUTSIDE.includes(other) || other === '.' || ORDER.indexOf(other) > rank);
    })
    .map(({ from, to }) => `${from} imports ${to}`);
}

/** Imports of a file of another module that is none of its doors. */
export function deepImports(tree: Tree): string[] {
  return edgesOf(tree)
    .filter(({ from, to }) => moduleOf(from) !== moduleOf(to) && !isDoor(to))
    .map(({ from, to }) => `${from} imports ${to}`);
}

/**
 * The tests' imports of src/ that pass no door. A test may import any file of the module that its own folder is named
 * after.
 */
export function deepTestImports(tests: Tree): string[] {
  return edgesOf(tests)
    .filter(({ to }) => to.startsWith('src/') && moduleOf(to) !== '.')
    .filter(({ from, to }) => moduleOf(from) !== moduleOf(to) && !isDoor(to))
    .map(({ from, to }) => `${from} imports ${to}`);
}

/** Imports that lead to no file. */
export function lostImports(tree: Tree): string[] {
  return edgesOf(tree)
    .filter(({ to }) => !tree.has(to))
    .map(({ from, specifier }) => `${from} imports ${specifier}`);
}

export function importCycles(tree: Tree): string[] {
  const cycle = cycleIn(targetsOf(tree));
  return cycle === undefined ? [] : [cycle.join(' → ')];
}

/**
 * Role files of a room that reach one of its role files against the order, directly or through other files of their
 * module. The way there is a part of the violation.
 */
export function roleOrderViolations(tree: Tree): string[] {
  const targets = targetsOf(tree);
  return [...tree.keys()].flatMap((start) => {
    const role = roleOf(start);
    if (role === undefined || moduleOf(start) === '.') return [];
    return waysWithin(targets, start)
      .filter((way) => {
        const end = way.at(-1)!;
        const other = roleOf(end);
        return folderOf(end) === folderOf(start) && other !== undefined && !ROLE_IMPORTS[role].includes(other);
      })
      .map((way) => way.join(' → '));
  });
}

/** A shortest way from a file to each file of its module that it reaches without leaving the module. */
function waysWithin(targets: ReadonlyMap<string, readonly string[]>, start: string): string[][] {
  const ways = new Map<string, string[]>([[start, [start]]]);
  for (const [file, way] of ways)
    for (const target of targets.get(file) ?? [])
      if (moduleOf(target) === moduleOf(start) && !ways.has(target)) ways.set(target, [...way, target]);
  ways.delete(start);
  return [...ways.values()];
}
