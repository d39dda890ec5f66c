// Puts into dist what the entries of the package declare: the types of the Api as they are generated from the table, and
// of the compiler's declarations those statements that the entries lead to. The others, most of them, tell users nothing.
// A part of every build; writes only what differs. With --check it writes nothing, and fails if anything differs.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { apiTypes } from './types/api.mjs';
import { reached, statementsOf } from './types/statements.mjs';

const root = resolve(import.meta.dirname, '..');
/** Where the compiler puts all of them, so that it can go on from there the next time. */
const all = join(root, '.cache/declarations');
const dist = join(root, 'dist');

const GENERATED = 'api/types.d.ts';
/** What the source has as mapped types over the table, and the generated module by name. */
const REPLACED = { 'api/api.d.ts': 'Api', 'api/shorthands.d.ts': 'Shorthands' };

const { text: generated, types } = apiTypes();

/** The way to the generated module from another. */
const wayFrom = (path) => {
  const way = relative(dirname(path), GENERATED).replace(/\.d\.ts$/, '.js');
  return way.startsWith('.') ? way : `./${way}`;
};

const names = [...types.names, 'Json', 'JsonInput', 'JsonObject', 'JsonObjectInput', 'TtlInput'];
const named = new RegExp(`(?<![\\w.'])(${names.join('|')})(?![\\w'?:])`, 'g');

/** The type of a schema that a module exports, in terms of the generated module. */
async function typeOf(path, name, io) {
  const schema = (await import(pathToFileURL(join(dist, path.replace(/\.d\.ts$/, '.js')))))[name];
  if (schema === undefined) return undefined;
  return types
    .typeOf(schema, io)
    .split(/(\/\*[\s\S]*?\*\/)/)
    .map((part, i) => (i % 2 === 1 ? part : part.replace(named, `import("${wayFrom(path)}").$1`)))
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
  return `import type { ${name} } from '${wayFrom(path)}';\nexport type { ${name} };`;
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
const entries = Object.values(exports).flatMap(({ types: entry }) =>
  entry ? [relative('dist', entry)] : [],
);
for (const path of reached(entries, textAt).keys()) {
  if (path === GENERATED) continue;
  const statements = statementsOf(texts.get(path));
  texts.set(path, (await Promise.all(statements.map((one) => withoutSchemas(path, one)))).join('\n'));
}
const found = reached(entries, textAt);

const stale = [];
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const path = relative(dist, join(entry.parentPath, entry.name));
  if (!entry.isFile() || !path.endsWith('.d.ts') || path.startsWith('vendor')) continue;
  if (found.get(path) === readFileSync(join(dist, path), 'utf8')) found.delete(path);
  else stale.push(path);
}
if (process.argv.includes('--check')) {
  const differing = new Set([...stale, ...found.keys()]);
  if (differing.size > 0)
    throw new Error(`not as the table and the source have it: ${[...differing].join(', ')}`);
} else {
  for (const path of stale) rmSync(join(dist, path));
  for (const [path, text] of found) {
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    writeFileSync(join(dist, path), text);
  }
}
