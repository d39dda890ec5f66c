// Copies what Cairn uses of gpt-tokenizer into dist/vendor: the modules of one encoding, a tenth of the package, with
// its licence. See docs/adr/0010. A part of every build; writes only what differs.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const source = join(root, 'node_modules/gpt-tokenizer');
const modules = join(source, 'esm');
const target = join(root, 'dist/vendor/gpt-tokenizer');

/** A module and all that it imports, by their paths below `esm`. */
function closureOf(entry) {
  const found = new Map();
  const waiting = [join(modules, entry)];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(relative(modules, file))) continue;
    // The source maps stay behind, so what points to them goes.
    const text = readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
    found.set(relative(modules, file), text);
    for (const [, path] of text.matchAll(/^(?:import|export)\b[^"'\n]*["']([^"'\n]+)["'];?$/gm)) {
      if (!path.startsWith('.')) throw new Error(`vendor: ${file} imports ${path}, which is not its own`);
      waiting.push(resolve(dirname(file), path));
    }
  }
  return found;
}

function current(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

const { name, version, license } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
const files = closureOf('encoding/o200k_base.js');
files.set('LICENSE', readFileSync(join(source, 'LICENSE'), 'utf8'));
// Says what this folder is, to people and to tools that list licences.
files.set('package.json', `${JSON.stringify({ name, version, license, type: 'module' }, null, 2)}\n`);

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
