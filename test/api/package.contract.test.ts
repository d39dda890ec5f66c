/** What npm would publish: only what runs, small, and good for an empty project. */
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inFolder, ROOT, run } from '../support/run.js';

const LIMIT_BYTES = 100 * 1024 * 1024;

/** On the disk, as `du` counts it. */
function sizeOf(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += sizeOf(path);
    else if (entry.isFile()) bytes += statSync(path).blocks * 512;
  }
  return bytes;
}

async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run('npm', args, { cwd, timeout_ms: 100_000 });
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`);
  return stdout;
}

/** Links in the packed documents to files that are not packed. */
function brokenLinks(paths: readonly string[]): string[] {
  return paths
    .filter((path) => path.endsWith('.md') && !path.startsWith('dist/'))
    .flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
        .map(([, target]) => target!)
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => {
          const named = posix.join(posix.dirname(path), target);
          return !paths.some((other) => other === named || (named.endsWith('/') && other.startsWith(named)));
        })
        .map((target) => `${path}: ${target}`),
    );
}

/** Installed packages whose `engines` exclude Node 20. npm has checked the Node that runs; this is for newer ones. */
function refusedEngines(folder: string): string[] {
  const lock = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, { engines?: { node?: string } }>;
  };
  return Object.entries(lock.packages)
    .filter(([, { engines }]) => /^>=?\s*2[1-9]/.test(engines?.node ?? ''))
    .map(([path, { engines }]) => `${path} ${engines!.node}`);
}

describe('the package', () => {
  it(
    'PKG-1 `npm ci` takes the lock file as it is, with no engine refused',
    () =>
      inFolder(async (folder) => {
        for (const file of ['package.json', 'package-lock.json', '.npmrc'])
          copyFileSync(join(ROOT, file), join(folder, file));
        for (const command of ['ci', 'install']) {
          const args = [command, '--dry-run', '--ignore-scripts', '--engine-strict', '--no-audit', '--no-fund'];
          const { code, stdout, stderr } = await run('npm', args, { cwd: folder, timeout_ms: 100_000 });
          expect(`${code}\n${stdout}${stderr}`).toMatch(/^0\n/);
          expect(stderr).not.toMatch(/EBADENGINE/);
        }
      }),
    120_000,
  );

  it('PKG-4 says where its source is, where to report a bug, and what to find it by', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(manifest).toMatchObject({
      repository: { type: 'git', url: expect.stringMatching(/^git\+https:\/\/.*\.git$/) },
      bugs: { url: expect.stringMatching(/^https:\/\//) },
      homepage: expect.stringMatching(/^https:\/\//),
      license: 'Apache-2.0',
    });
    expect((manifest.keywords as string[]).length).toBeGreaterThan(5);
  });

  it(
    'PKG-2 PKG-3 carries what runs and its documents, installs in an empty project, and runs the README there',
    () =>
      inFolder(async (folder) => {
        // Without its scripts: a rebuild would take dist away from under the other tests. `npm test` has built it.
        const packed = await npm(['pack', ROOT, '--ignore-scripts', '--json', '--pack-destination', folder], folder);
        const [{ filename, files }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }];
        const paths = files.map(({ path }) => path);
        for (const path of [
          'bin/cairn.js',
          'dist/bundle/cairndb.js',
          'dist/cairndb.d.ts',
          'dist/bundle/client.js',
          'dist/bundle/long-thread.js',
          'README.md',
          'LICENSE',
        ])
          expect(paths).toContain(path);
        expect(brokenLinks(paths)).toEqual([]);
        expect(
          paths.filter(
            (path) =>
              !/^(bin|dist|docs|editors|examples)\/|^[A-Z]+\.md$|^src\/[a-z]+\/SPEC\.md$|^LICENSE$|^package\.json$/.test(
                path,
              ),
          ),
        ).toEqual([]);

        writeFileSync(join(folder, 'package.json'), '{"name":"empty","version":"1.0.0","private":true}');
        const quiet = ['--omit=dev', '--no-audit', '--no-fund', '--ignore-scripts'];
        await npm(['install', join(folder, filename), ...quiet, '--engine-strict'], folder);
        expect(refusedEngines(folder)).toEqual([]);
        expect(sizeOf(join(folder, 'node_modules'))).toBeLessThan(LIMIT_BYTES);

        for (const name of ['first-memory', 'packets', 'over-http', 'follow-events'])
          copyFileSync(join(ROOT, 'examples', `${name}.ts`), join(folder, `${name}.mts`));
        // This one has no types in it, so that Node 20 runs it as it is.
        copyFileSync(join(ROOT, 'examples/first-memory.ts'), join(folder, 'example.mjs'));
        const example = await run(process.execPath, ['example.mjs'], { cwd: folder });
        expect(example).toMatchObject({ code: 0, stderr: '' });
        expect(example.stdout).toContain('sealed at revision 2 with 2 cards');

        const version = await run(join(folder, 'node_modules/.bin/cairn'), ['--version'], { cwd: folder });
        const { version: expected } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
          version: string;
        };
        expect(version.stdout.trim()).toBe(expected);

        // The tokenizer is loaded at the first count.
        const counting = `
          import { openCairn } from 'cairndb';
          const cairn = await openCairn({ database: './tokens.db' });
          const { trajectory_id } = await cairn.trajectories.create({ name: 'count' });
          const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'count', token_budget: 100 });
          const turn = await cairn.turns.add({ scope_id, role: 'User', content: 'Hello, world! <|endoftext|>' });
          console.log(turn.token_count);
          await cairn.close();`;
        const counted = await run(process.execPath, ['--input-type=module', '-e', counting], { cwd: folder });
        expect(counted).toMatchObject({ code: 0, stderr: '', stdout: '11\n' });

        // The MCP SDK is loaded by this command alone. Its input is empty, so the server ends once it has started.
        const mcp = await run(join(folder, 'node_modules/.bin/cairn'), ['mcp'], { cwd: folder });
        expect(mcp).toEqual({ code: 0, stdout: '', stderr: '' });

        // The types are good for a strict project that checks its libraries as well.
        writeFileSync(
          join(folder, 'values.mts'),
          `import { Execution, openCairn } from 'cairndb';
          const cairn = await openCairn({ database: './memory.db' });
          const { passages } = await cairn.recall('tea', { limit: 3 });
          const run: Execution = await Execution.resume(cairn, passages[0]!.text);
          console.log(run.step_number);`,
        );
        const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
        const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
        const sources = readdirSync(folder).filter((name) => name.endsWith('.mts'));
        const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', ...types, ...sources];
        const checked = await run(process.execPath, [tsc, ...strict], { cwd: folder });
        expect(checked).toMatchObject({ code: 0, stdout: '' });
      }),
    120_000,
  );
});
