// Builds the inspector (web/) into dist/web and compresses its files, so that the server compresses nothing.
// Skipped when nothing changed since the last build: `npm start` and `npm test` build each time.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

const out = 'dist/web';
const mark = '.cache/web-build';

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort();

/** What the build reads: its sources, the client and the table that it contains, and the versions of libraries. */
function inputs() {
  const hash = createHash('sha256');
  const built = ['dist/client', 'dist/api', 'dist/kernel', 'dist/engine/contract'].flatMap(filesIn);
  const contracts = filesIn('dist').filter((path) => /(?:contract|model)\.js$/.test(path));
  for (const path of [...filesIn('web'), ...built, ...contracts, 'package-lock.json', 'scripts/web.mjs'])
    hash.update(path).update(readFileSync(path));
  return hash.digest('hex');
}

const hash = inputs();
if (!(existsSync(join(out, 'index.html')) && existsSync(mark) && readFileSync(mark, 'utf8') === hash)) {
  const { build } = await import('vite');
  await build({ configFile: 'web/vite.config.ts', logLevel: 'warn' });
  for (const path of filesIn(out))
    if (/\.(?:js|css|svg|html)$/.test(path)) writeFileSync(`${path}.br`, brotliCompressSync(readFileSync(path)));
  mkdirSync('.cache', { recursive: true });
  writeFileSync(mark, hash);
}
