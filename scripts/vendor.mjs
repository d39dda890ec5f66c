// Copies what Cairn uses of packages that are too large to depend on into dist/vendor: the modules that an entry leads
// to, with their licence. See docs/adr/0010 and 0018. A part of every build; writes only what differs.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(import.meta.dirname, '..');
const installed = join(root, 'node_modules');

/** Folders of dist/vendor: the packages in each, where their modules are, and the modules that Cairn loads. */
const vendored = {
  'gpt-tokenizer': {
    packages: { 'gpt-tokenizer': { into: '', from: 'esm' } },
    entries: ['gpt-tokenizer/esm/encoding/o200k_base.js'],
  },
  modelcontextprotocol: {
    packages: {
      '@modelcontextprotocol/server': { into: 'server', from: 'dist' },
      '@modelcontextprotocol/core': { into: 'core', from: 'dist' },
    },
    entries: ['@modelcontextprotocol/server/dist/index.mjs', '@modelcontextprotocol/server/dist/stdio.mjs'],
  },
};

/** What the copies may import that is not copied: Node's own, and what Cairn depends on itself. */
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const isThere = (path) => path.startsWith('node:') || path.split('/')[0] in dependencies;

const IMPORTED = /^((?:import|export)\b[^"'\n]*["'])([^"'\n]+)(["'];?)$/gm;

/** The modules that the entries lead to, by their paths in the folder, with imports that fit there. */
function closureOf({ packages, entries }) {
  const placeOf = (file) => {
    for (const [name, { into, from }] of Object.entries(packages)) {
      const path = relative(join(installed, name, from), file);
      if (!path.startsWith('..')) return join(into, path);
    }
    throw new Error(`vendor: ${file} belongs to none of ${Object.keys(packages).join(', ')}`);
  };
  const found = new Map();
  const waiting = entries.map((entry) => join(installed, entry));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const place = placeOf(file);
    if (found.has(place)) continue;
    // The source maps stay behind, so what points to them goes.
    const text = readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
    const fitting = text.replace(IMPORTED, (statement, before, path, after) => {
      if (!path.startsWith('.') && isThere(path)) return statement;
      const target = path.startsWith('.') ? resolve(dirname(file), path) : pathOf(path);
      waiting.push(target);
      const way = relative(dirname(place), placeOf(target));
      return `${before}${way.startsWith('.') ? way : `./${way}`}${after}`;
    });
    found.set(place, `// Changed by Cairn's build: imports that fit here, no source map.\n${fitting}`);
  }
  return found;
}

/** Where the links in node_modules lead is of no interest here: the copies are found by where they stand. */
const pathOf = (name) => {
  const file = fileURLToPath(import.meta.resolve(name));
  return join(installed, file.slice(file.lastIndexOf('/node_modules/') + '/node_modules/'.length));
};

/** Says what a folder is, to people and to tools that list licences. */
function labelsOf({ packages }) {
  const labels = new Map();
  for (const [name, { into }] of Object.entries(packages)) {
    const source = join(installed, name);
    const { version, license } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
    labels.set(join(into, 'LICENSE'), readFileSync(join(source, 'LICENSE'), 'utf8'));
    const label = { name, version, license, type: 'module' };
    labels.set(join(into, 'package.json'), `${JSON.stringify(label, null, 2)}\n`);
  }
  return labels;
}

function current(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

for (const [folder, what] of Object.entries(vendored)) {
  const target = join(root, 'dist/vendor', folder);
  const files = new Map([...closureOf(what), ...labelsOf(what)]);
  for (const [path, text] of files) {
    const to = join(target, path);
    if (current(to) === text) continue;
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, text);
  }
  for (const entry of readdirSync(target, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !files.has(relative(target, path))) rmSync(path);
  }
}
