/** What files export, what others import of it by name, and which exports nobody imports. */
import { codeOf } from './code.js';
import { targetOf } from './imports.js';
import { remembered, type Tree } from './tree.js';

const DECLARED =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|const\s+enum|const|let|class|interface|type|enum|namespace)\s+([\w$]+)/gm;
/** Names in braces, of an import or export, from a module or not; with `import` or `export` and the module's specifier. */
const LISTED = /\b(import|export)\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?\{([^{}]*)\}(?:\s*from\s*(['"])([^'"\n]+)\3)?/g;
/** A module as an object, of which names are read. */
const NAMESPACE = /\b(import|export)\s+(?:type\s+)?\*\s*as\s+([\w$]+)\s*from\s*(['"])([^'"\n]+)\3/g;
const CALLED = /\bimport\(\s*(['"])([^'"\n]+)\1/g;
/** The module of a thread, of which the driver calls `run`. */
const THREAD = /\bnew URL\(\s*(['"])(\.[^'"\n]+)\1/g;
const STAR = /\bexport\s+\*\s*from\s*(['"])([^'"\n]+)\1/g;

interface Listed {
  /** In the module it is from. */
  readonly name: string;
  /** In the module with the statement. */
  readonly as: string;
}

const namesIn = (list: string): Listed[] =>
  list.split(',').flatMap((one) => {
    const [, name, as] = /^\s*(?:type\s+)?([\w$]+)(?:\s+as\s+([\w$]+))?\s*$/.exec(one) ?? [];
    return name === undefined ? [] : [{ name, as: as ?? name }];
  });

interface Names {
  /** The names under which others find something, without those of `export *`. */
  readonly exported: ReadonlySet<string>;
  readonly imported: readonly (Listed & { readonly specifier: string })[];
  /** Modules of which any name in this file may be meant. */
  readonly called: readonly string[];
  /** Modules as objects: whether others import the object, or it is handed to them, such as spread. */
  readonly namespaces: readonly {
    readonly name: string;
    readonly specifier: string;
    readonly isExported: boolean;
    readonly escapes: boolean;
  }[];
  readonly threads: readonly string[];
  readonly stars: readonly string[];
}

/** Matches in code: not those in comments or strings. */
function* inCode(source: string, pattern: RegExp): Generator<RegExpExecArray> {
  const { text, bare } = codeOf(source);
  for (const match of text.matchAll(pattern)) if (/\w/.test(bare[match.index]!)) yield match;
}

export const namesOf = remembered((source: string): Names => {
  const exported = new Set([...inCode(source, DECLARED)].map(([, name]) => name!));
  const imported: (Listed & { specifier: string })[] = [];
  for (const [, kind, list, , specifier] of inCode(source, LISTED))
    for (const { name, as } of namesIn(list!)) {
      if (kind === 'export') exported.add(as);
      if (specifier !== undefined) imported.push({ name, as, specifier });
    }
  const specifiersOf = (pattern: RegExp) => [...inCode(source, pattern)].map((match) => match[2]!);
  const { bare } = codeOf(source);
  const namespaces = [...inCode(source, NAMESPACE)].map(([, kind, name, , specifier]) => {
    const uses = bare.match(new RegExp(`(?<![\\w$]|(?<!\\.\\.)\\.)${name}\\b(?!\\s*\\.)`, 'g'))!;
    return { name: name!, specifier: specifier!, isExported: kind === 'export', escapes: uses.length > 1 };
  });
  const [called, threads, stars] = [specifiersOf(CALLED), specifiersOf(THREAD), specifiersOf(STAR)];
  return { exported, imported, called, namespaces, threads, stars };
});

const wordsOf = remembered(
  (source: string): ReadonlySet<string> => new Set(codeOf(source).bare.match(/[\w$]+/g) ?? []),
);

/** Members that are read, such as `service.create`. */
const membersOf = remembered(
  (source: string): ReadonlySet<string> => new Set(codeOf(source).bare.match(/(?<![\w$.])[\w$]+\.[\w$]+/g) ?? []),
);

/** Schemas whose types are published: scripts/declarations.mjs looks them up by their names. */
const INFERRED = /\bz\.(?:output|input)<typeof ([\w$]+)>/g;

interface Repository {
  readonly tree: Tree;
  /** Other files that may import files of the tree. */
  readonly others: Tree;
  /** Files whose exports are all used from outside. */
  readonly entries: readonly string[];
  /** Names that are read from modules that are handed on as objects. */
  readonly members: ReadonlySet<string>;
}

/** The file of the repository that a specifier means: tests and benches name the build. */
const fileOf = (path: string, specifier: string): string =>
  (targetOf(path, specifier) ?? '').replace(/^dist\//, 'src/');

/** Exports of the tree that no other file imports. */
export function unusedExports({ tree, others, entries, members }: Repository): string[] {
  const used = new Set<string>();
  const use = (path: string, name: string): void => {
    used.add(`${path} exports ${name}`);
    const { exported, stars } = namesOf(tree.get(path) ?? '');
    if (!exported.has(name)) for (const star of stars) use(fileOf(path, star), name);
  };
  const all = [...tree, ...others];
  /** Whether a file reads a member of an object that it imports, whatever it calls it. */
  const isRead = (object: string, member: string): boolean =>
    all.some(([, text]) =>
      namesOf(text).imported.some(({ name, as }) => name === object && membersOf(text).has(`${as}.${member}`)),
    );
  for (const [path, text] of all) {
    const { imported, called, namespaces, threads } = namesOf(text);
    const useThose = (specifier: string, isMeant: (name: string) => boolean): void => {
      const target = fileOf(path, specifier);
      for (const name of allOf(tree, target).filter(isMeant)) use(target, name);
    };
    for (const { name, specifier } of imported) use(fileOf(path, specifier), name);
    for (const specifier of called) useThose(specifier, (name) => wordsOf(text).has(name));
    for (const { name: object, specifier, isExported, escapes } of namespaces)
      useThose(specifier, (name) => {
        const isHere = membersOf(text).has(`${object}.${name}`);
        return isHere || (isExported && isRead(object, name)) || (escapes && members.has(name));
      });
    for (const specifier of threads) useThose(specifier, (name) => name === 'run');
    for (const [, name] of inCode(text, INFERRED)) use(path, name!);
  }
  for (const path of entries) for (const name of allOf(tree, path)) use(path, name);
  return [...tree].flatMap(([path, text]) =>
    [...namesOf(text).exported].map((name) => `${path} exports ${name}`).filter((key) => !used.has(key)),
  );
}

/** The names that a file exports, those of `export *` included. */
function allOf(tree: Tree, path: string): string[] {
  const { exported, stars } = namesOf(tree.get(path) ?? '');
  return [...exported, ...stars.flatMap((star) => allOf(tree, fileOf(path, star)))];
}
