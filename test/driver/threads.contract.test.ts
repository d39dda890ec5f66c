/** The library in a Node that was started with flags of its own: what its threads do must not depend on them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inFolder, ROOT, run } from '../support/run.js';

const SCRIPT = `
  import { openCairn } from ${JSON.stringify(pathToFileURL(join(ROOT, 'dist/cairndb.js')).href)};
  const cairn = await openCairn({ database: './cairn.db' });
  await cairn.remember('The lighthouse was painted red in May.');
  const { passages } = await cairn.recall('lighthouse');
  const { total } = await cairn.notes.list({});
  await cairn.close();
  console.log(passages.length, total);`;

describe('flags of Node', () => {
  it.each<[string, string[], Record<string, string>?]>([
    ['--input-type=module and -e', ['--input-type=module', '-e', SCRIPT]],

    ['a preload that ends every thread', ['--import', './main-thread-only.mjs', './script.mjs']],
    ['NODE_OPTIONS', ['-e', SCRIPT], { NODE_OPTIONS: '--input-type=module' }],
  ])('LIB-1 threads do not inherit %s', (_, args, env = {}) =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'script.mjs'), SCRIPT);
      writeFileSync(
        join(cwd, 'main-thread-only.mjs'),
        "import { isMainThread } from 'node:worker_threads'; if (!isMainThread) process.exit(3);",
      );
      expect(await run(process.execPath, args, { cwd, env })).toEqual({ code: 0, stdout: '1 1\n', stderr: '' });
    }),
  );
});
