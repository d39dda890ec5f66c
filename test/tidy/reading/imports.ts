/** Who imports whom, types included. */
import { posix } from 'node:path';
import { codeOf } from './code.js';
import { remembered, type Tree } from './tree.js';

export interface Import {
  /** As it is written. */
  readonly specifier: string;
  /** Whether it is still there when types are erased: not `import type`, nor an import that is a call. */
  readonly isLoaded: boolean;
}

const STATEMENT = /^([ \t]*)(import|export)\b(?:\s+(type)\b)?(?:[^;'"]*?\bfrom)?\s*(['"])([^'"\n]+)\4/gm;
const CALL = /\bimport\(\s*(['"])([^'"\n]+)\1/g;

export const importsOf = remembered((source: string): readonly Import[] => {
  const { text, bare } = codeOf(source);
  const statements = [...text.matchAll(STATEMENT)]
    .filter((match) => bare.startsWith(match[2]!, match.index + match[1]!.length))
    .map((match) => ({ specifier: match[5]!, isLoaded: match[3] === undefined }));
  const calls = [...text.matchAll(CALL)]
    .filter((match) => bare.startsWith('import', match.index))
    .map((match) => ({ specifier: match[2]!, isLoaded: false }));
  return [...statements, ...calls];
});

/** The file of the repository that a specifier means, undefined for a package. */
export function targetOf(path: string, specifier: string): string | undefined {
  const target = specifier.startsWith('#cairn/')
    ? `src/${specifier.slice('#cairn/'.length)}`
    : specifier.startsWith('.')
      ? posix.join(posix.dirname(path), specifier)
      : undefined;
  return target?.replace(/\.js$/, '.ts');
}

export interface Edge extends Import {
  readonly from: string;
  readonly to: string;
}

/** The imports between files of the tree. */
export function edgesOf(tree: Tree): Edge[] {
  return [...tree].flatMap(([from, text]) =>
    importsOf(text).flatMap((one) => {
      const to = targetOf(from, one.specifier);
      return to === undefined ? [] : [{ ...one, from, to }];
    }),
  );
}

/** The files that each file imports. */
export function targetsOf(tree: Tree): ReadonlyMap<string, readonly string[]> {
  const targets = new Map<string, string[]>([...tree.keys()].map((path) => [path, []]));
  for (const { from, to } of edgesOf(tree)) targets.get(from)!.push(to);
  return targets;
}

/** The files and packages that are loaded with some files. Types are not. */
export function loadedBy(
  tree: Tree,
  entries: readonly string[],
): { files: ReadonlySet<string>; packages: { file: string; name: string }[] } {
  const files = new Set<string>();
  const packages: { file: string; name: string }[] = [];
  const waiting = [...entries];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const { specifier, isLoaded } of importsOf(tree.get(file) ?? '')) {
      if (!isLoaded) continue;
      const target = targetOf(file, specifier);
      if (target === undefined) packages.push({ file, name: specifier });
      else waiting.push(target);
    }
  }
  return { files, packages };
}

/** The first cycle, from a file back to itself. */
export function cycleIn(targets: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    path.push(file);
    for (const target of targets.get(file) ?? []) {
      const cycle = visit(target);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(file);
    return undefined;
  };
  for (const file of targets.keys()) {
    const cycle = visit(file);
    if (cycle) return cycle;
  }
  return undefined;
}
