// Writes the published declarations into dist: the types of the Api, generated from the table, and the compiler's
// declarations, reduced to the statements that are reachable from the entries of the package. Every build runs it; it writes
// only files that changed. `--check` writes nothing, and fails if a file would change.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { apiTypes } from './types/api.mjs';
import { reached, statementsOf } from './types/statements.mjs';

const root = resolve(import.meta.dirname, '..');
/** The compiler's output, kept for incremental builds. */
const all = join(root, '.cache/declarations');
const dist = join(root, 'dist');

const GENERATED = 'types.d.ts';
/** Mapped types over the table, replaced by generated types of the same name. */
const REPLACED = { 'api/api.d.ts': 'Api', 'api/shorthands.d.ts': 'Shorthands' };

const { text: generated, types } = apiTypes();

/** The module specifier of the generated module. */
const specifierFrom = (path) => {
  const specifier = posix.relative(posix.dirname(path), GENERATED).replace(/\.d\.ts$/, '.js');
  return specifier.startsWith('.') ? specifier : `./${specifier}`;
};

const names = [...types.names, 'Json', 'JsonInput', 'JsonObject', 'JsonObjectInput', 'TtlInput'];
const named = new RegExp(`(?<![\\w.'])(${names.join('|')})(?![\\w'?:])`, 'g');

/** The type of an exported schema, in terms of the generated module. */
async function typeOf(path, name, io) {
  const schema = (await import(pathToFileURL(join(dist, path.replace(/\.d\.ts$/, '.js')))))[name];
  if (schema === undefined) return undefined;
  return types
    .typeOf(schema, io)
    .split(/(\/\*[\s\S]*?\*\/)/)
    .map((part, i) => (i % 2 === 1 ? part : part.replace(named, `import("${specifierFrom(path)}").$1`)))
    .join('');
}

async function withoutSchemas(path, statement) {
  const [inferred, io, name] = /z\.(output|input)<typeof (\w+)>/.exec(statement) ?? [];
  const type = inferred === undefined ? undefined : await typeOf(path, name, io);
  return type === undefined ? statement : statement.replace(inferred, () => type);
}

function withGenerated(path, statement) {
  const name = REPLACED[path];
  if (name === undefined || !statement.includes(`export type ${name} =`)) return statement;
  return `import type { ${name} } from '${specifierFrom(path)}';\nexport type { ${name} };`;
}

const texts = new Map([[GENERATED, generated]]);

function textAt(path) {
  if (!texts.has(path)) {
    const statements = statementsOf(readFileSync(join(all, path), 'utf8'));
    texts.set(path, statements.map((one) => withGenerated(path, one)).join('\n'));
  }
  return texts.get(path);
}

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.values(exports).flatMap(({ types: entry }) => (entry ? [posix.relative('dist', entry)] : []));
for (const path of reached(entries, textAt).keys()) {
  if (path === GENERATED) continue;
  const statements = statementsOf(texts.get(path));
  texts.set(path, (await Promise.all(statements.map((one) => withoutSchemas(path, one)))).join('\n'));
}
const found = reached(entries, textAt);

const stale = [];
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const path = relative(dist, join(entry.parentPath, entry.name)).replaceAll(sep, '/');
  if (!entry.isFile() || !path.endsWith('.d.ts')) continue;
  if (found.get(path) === readFileSync(join(dist, path), 'utf8')) found.delete(path);
  else stale.push(path);
}
if (process.argv.includes('--check')) {
  const differing = new Set([...stale, ...found.keys()]);
  if (differing.size > 0) throw new Error(`stale declarations, run npm run build: ${[...differing].join(', ')}`);
} else {
  for (const path of stale) rmSync(join(dist, path));
  for (const [path, text] of found) {
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    writeFileSync(join(dist, path), text);
  }
}
