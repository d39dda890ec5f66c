// Puts those declarations into dist that the entries of the package lead to: the others, three quarters, tell users
// nothing and take a megabyte of their disk. A part of every build; writes only what differs.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
/** Where the compiler puts all of them, so that it can go on from there the next time. */
const all = join(root, '.cache/declarations');
const dist = join(root, 'dist');

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.values(exports)
  .map(({ types }) => types)
  .filter(Boolean);

const found = new Map();
const waiting = entries.map((types) => relative('dist', types));
for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
  if (found.has(path)) continue;
  const text = readFileSync(join(all, path), 'utf8');
  found.set(path, text);
  for (const [, target] of text.matchAll(/(?:\bfrom|\bimport\(?)\s*["'](\.[^"']+)["']/g))
    waiting.push(join(dirname(path), target.replace(/\.js$/, '.d.ts')));
}

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const path = relative(dist, join(entry.parentPath, entry.name));
  if (!entry.isFile() || !path.endsWith('.d.ts') || path.startsWith('vendor')) continue;
  if (found.get(path) === readFileSync(join(dist, path), 'utf8')) found.delete(path);
  else rmSync(join(dist, path));
}
for (const [path, text] of found) {
  mkdirSync(dirname(join(dist, path)), { recursive: true });
  writeFileSync(join(dist, path), text);
}
