// Tree-shakes declaration files by statement. Reads the compiler's own output, where every top-level statement begins at
// the start of a line.
import { posix } from 'node:path';

const BEGINS = /^(?:export|import|declare|type|interface|\/\*\*)/;
const DECLARES = /^(?:export )?(?:declare )?(?:abstract )?(?:const|function|class|interface|type|enum) (?<name>[\w$]+)/;
const LISTS = /^(?<head>(?:import|export)(?: type)?) \{(?<list>[^}]*)\}(?<tail>(?: from ['"](?<from>[^'"]+)['"])?;)/;
const STARS = /^export(?: type)? \* from ['"](?<from>[^'"]+)['"];/;

const COMMENTS = /\/\*[\s\S]*?\*\//g;

/** The top-level statements of a text, each with the comment before it. */
export function statementsOf(text) {
  const statements = [];
  let isComment = false;
  for (const line of text.split('\n')) {
    if (BEGINS.test(line) && !isComment) statements.push(line);
    else if (statements.length > 0) statements[statements.length - 1] += `\n${line}`;
    isComment = /^(?:\/\*\*| \*)/.test(line);
  }
  return statements.map((one) => one.trimEnd());
}

const specifiersOf = (list) =>
  list
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
    .map((text) => {
      const [name, as = name] = text.replace(/^type /, '').split(' as ');
      return { text, name, as };
    });

/** Indexes a file by what it declares, imports and exports. */
function parse(path, text) {
  const file = { path, declared: new Map(), imported: new Map(), exported: new Map(), stars: [], statements: [] };
  for (const statement of statementsOf(text)) {
    const bare = statement.replace(COMMENTS, '').trimStart();
    const entry = { text: statement, bare, used: new Set() };
    file.statements.push(entry);
    const list = LISTS.exec(bare)?.groups;
    const star = STARS.exec(bare)?.groups;
    const name = DECLARES.exec(bare)?.groups.name;
    if (list) addList(file, entry, list);
    else if (star) file.stars.push({ from: fileOf(path, star.from), entry });
    else if (name !== undefined) {
      file.declared.set(name, [...(file.declared.get(name) ?? []), entry]);
      if (bare.startsWith('export')) file.exported.set(name, { name, entry });
    }
  }
  return file;
}

/** Resolves a module specifier; undefined for another package. */
const fileOf = (path, from) =>
  from?.startsWith('.') ? posix.join(posix.dirname(path), from.replace(/\.js$/, '.d.ts')) : undefined;

function addList(file, entry, { head, list, tail, from }) {
  entry.list = { head, tail, specifiers: specifiersOf(list) };
  const names = head.startsWith('import') ? file.imported : file.exported;
  for (const { name, as } of entry.list.specifiers)
    names.set(as, { name, entry, from: fileOf(file.path, from), isLocal: from === undefined });
}

/** Path → text of every file that is reachable from the entries, reduced to its reachable statements. */
export function reached(entries, read) {
  const files = new Map();
  const fileAt = (path) => {
    if (!files.has(path)) files.set(path, parse(path, read(path)));
    return files.get(path);
  };

  /** Keeps what a name refers to inside a file. */
  function keepLocal(file, name) {
    const origin = file.imported.get(name);
    if (origin !== undefined) {
      if (origin.entry.used.has(name)) return;
      origin.entry.used.add(name);
      if (origin.from !== undefined) keepExport(fileAt(origin.from), origin.name);
    }
    for (const entry of file.declared.get(name) ?? []) keepStatement(file, entry);
  }

  function keepStatement(file, entry) {
    if (entry.isKept) return;
    entry.isKept = true;
    for (const [, from, name] of entry.bare.matchAll(/import\(["'](\.[^"']+)["']\)\.([\w$]+)/g))
      keepExport(fileAt(fileOf(file.path, from)), name);
    for (const [name] of entry.bare.matchAll(/[A-Za-z_$][\w$]*/g)) keepLocal(file, name);
  }

  function keepExport(file, name) {
    const origin = file.exported.get(name);
    if (origin === undefined) {
      for (const star of file.stars)
        if (exportsName(fileAt(star.from), name)) {
          star.entry.isKept = true;
          keepExport(fileAt(star.from), name);
        }
      return;
    }
    if (origin.entry.list === undefined) return keepStatement(file, origin.entry);
    origin.entry.used.add(name);
    if (origin.from !== undefined) keepExport(fileAt(origin.from), origin.name);
    else if (origin.isLocal) keepLocal(file, origin.name);
  }

  const exportsName = (file, name) =>
    file.exported.has(name) || file.stars.some(({ from }) => exportsName(fileAt(from), name));

  const keepAll = (file) => {
    for (const name of file.exported.keys()) keepExport(file, name);
    for (const { from, entry } of file.stars) {
      entry.isKept = true;
      keepAll(fileAt(from));
    }
  };
  for (const entry of entries) keepAll(fileAt(entry));
  return new Map(
    [...files].flatMap(([path, file]) => {
      const text = textOf(file);
      return text === '' ? [] : [[path, text]];
    }),
  );
}

/** The kept statements, with import and export lists reduced to used names. */
function textOf({ statements }) {
  const texts = statements.flatMap(({ text, list, isKept, used }) => {
    if (list === undefined) return isKept ? [text] : [];
    const specifiers = list.specifiers.filter(({ as }) => used.has(as)).map((one) => one.text);
    if (specifiers.length === 0) return [];
    return [`${list.head} { ${specifiers.join(', ')} }${list.tail}`];
  });
  return texts.map((text) => `${text}\n`).join('');
}
