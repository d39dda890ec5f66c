/** Checkpoints and executions as files, through the library and the command, from one store to another. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exportCheckpoint, exportExecution, importCheckpoints, importExecution } from '#cairn/cairndb.js';
import type { Snapshot } from '#cairn/checkpoints/contract.js';
import type { Api } from '#cairn/client/index.js';
import { cairn as command, inFolder, ROOT } from '../support/run.js';
import { onEveryTarget, openTarget } from '../support/targets.js';

const state = (...messages: string[]): Snapshot => ({
  thought_chain: {
    steps: messages.map((content, i) => ({
      id: `t${i}`,
      type: 'reasoning' as const,
      content,
      confidence: 0.5,
      children: [],
      timestamp: i,
    })),
  },
  context: {
    messages: messages.map((content) => ({ role: 'user' as const, content })),
    variables: { count: messages.length, nested: { b: 1, a: [null, true] } },
  },
  tool_state: { pending: [], completed: [] },
});

/** A run of four checkpoints, one of them named, with a branch and a write that is pending. */
async function someRun(cairn: Api): Promise<void> {
  await cairn.executions.create({ execution_id: 'run-1', agent_id: 'coder', name: 'Fix it', thread_id: 'th' });
  const take = (checkpoint_id: string, snapshot: Snapshot, more: object = {}) =>
    cairn.checkpoints.create({ execution_id: 'run-1', checkpoint_id, snapshot, timestamp: 1000, ...more });
  await take('cp-1', state('one'));
  await take('cp-2', state('one', 'two'), { name: 'named', description: 'why', labels: { z: 1, a: { b: 2 } } });
  await take('Cp/3', state('one', 'two', 'three'), { metadata: { step_number: 3, tokens_used: 5 } });
  await cairn.checkpoints.branch({ checkpoint_id: 'cp-1', reason: 'another way', branch_checkpoint_id: 'cp-4' });
  await cairn.checkpoints.write({
    checkpoint_id: 'cp-4',
    writes: [{ task_id: 'search', index: 0, channel: 'hits', value: { n: [1] } }],
  });
}

const RUN = ['cp-1', 'cp-2', 'Cp/3', 'cp-4'];
const everything = (cairn: Api) => Promise.all(RUN.map((checkpoint_id) => cairn.checkpoints.get({ checkpoint_id })));

onEveryTarget('files of checkpoints', (test) => {
  it('FILE-10 FILE-11 carry a directory of checkpoints to another store, parents first, and again without change', () =>
    inFolder(async (folder) => {
      const [from, to] = [await test().freshTenant(), await test().freshTenant()];
      await someRun(from);
      for (const id of RUN) {
        const { path, bytes } = await exportCheckpoint(from, id, { directory: folder });
        expect(readFileSync(path)).toHaveLength(bytes);
      }
      const names = readdirSync(folder).sort();
      expect(names).toEqual([
        expect.stringMatching(/^Cp-3~[0-9a-f]{32}\.json$/),
        'cp-1.json',
        'cp-2.json',
        'cp-4.json',
      ]);
      const seen: string[] = [];
      const progress = ({ doing, done, total }: { doing: string; done: number; total: number }) =>
        seen.push(`${doing} ${done}/${total}`);
      const first = await importCheckpoints(to, folder, { progress });
      expect(first.present).toEqual([]);
      expect(first.imported.toSorted()).toEqual(RUN.toSorted());
      expect(first.imported[0]).toBe('cp-1');
      expect(seen).toEqual(
        [1, 2, 3, 4].flatMap((n) => `check ${n}/4`).concat([1, 2, 3, 4].map((n) => `import ${n}/4`)),
      );
      expect(await everything(to)).toEqual(await everything(from));
      expect(await importCheckpoints(to, folder)).toEqual({ imported: [], present: first.imported });

      const again = join(folder, 'again');
      for (const id of RUN) await exportCheckpoint(to, id, { directory: again });
      for (const name of names) expect(readFileSync(join(again, name))).toEqual(readFileSync(join(folder, name)));
    }));

  it('FILE-4 take in a file of an older version, and have what changed when asked', () =>
    inFolder(async (folder) => {
      const cairn = await test().freshTenant();
      const fixtures = join(ROOT, 'test/fixtures/checkpoints');
      const old = JSON.parse(readFileSync(join(fixtures, '0.9.0.json'), 'utf8'));
      delete old.parent_id;
      delete old.branch;
      writeFileSync(join(folder, 'old.json'), JSON.stringify(old));
      expect(await importCheckpoints(cairn, join(folder, 'old.json'))).toEqual({ imported: ['cp-2'], present: [] });
      const expected = JSON.parse(readFileSync(join(fixtures, '0.9.0-as-1.0.0.json'), 'utf8'));
      const { parent, ...rest } = expected;
      expect(await cairn.checkpoints.get({ checkpoint_id: 'cp-2' })).toEqual(rest);

      const other = await test().freshTenant();
      await someRun(other);
      const { path } = await exportCheckpoint(other, 'cp-2', { directory: folder, diff: true });
      expect(JSON.parse(readFileSync(path, 'utf8')).diff).toMatchObject({
        from_checkpoint_id: 'cp-1',
        summary: '1 thought added; 1 message appended; variable "count" 1 → 2',
      });
    }));

  it('FILE-11 write nothing when one of a directory is wrong', () =>
    inFolder(async (folder) => {
      const [from, to] = [await test().freshTenant(), await test().freshTenant()];
      await someRun(from);
      for (const id of RUN) await exportCheckpoint(from, id, { directory: folder });
      writeFileSync(join(folder, 'zzz.json'), '{"version":"1.0.0"}');
      await expect(importCheckpoints(to, folder)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('zzz.json'),
      });
      expect((await to.executions.list()).total).toBe(0);
    }));

  it('FILE-6 carry a whole execution to SQLite and back, byte by byte', () =>
    inFolder(async (folder) => {
      const [from, back] = [await test().freshTenant(), await test().freshTenant()];
      await someRun(from);
      const elsewhere = await openTarget('sqlite');
      try {
        const [first, second, third] = ['1.json', '2.json', '3.json'].map((name) => join(folder, name));
        expect(await exportExecution(from, 'run-1', first!)).toMatchObject({ path: first, checkpoints: 4 });
        expect(await importExecution(elsewhere.cairn, first!)).toMatchObject({
          execution_id: 'run-1',
          checkpoints: 4,
          latest_checkpoint_id: 'cp-4',
          name: 'Fix it',
          thread_id: 'th',
        });
        await exportExecution(elsewhere.cairn, 'run-1', second!);
        await importExecution(back, second!);
        await exportExecution(back, 'run-1', third!);
        expect(readFileSync(second!, 'utf8')).toBe(readFileSync(first!, 'utf8'));
        expect(readFileSync(third!, 'utf8')).toBe(readFileSync(first!, 'utf8'));
        expect(await everything(back)).toEqual(await everything(from));
        expect(await back.checkpoints.writes({ checkpoint_id: 'cp-4' })).toEqual(
          await from.checkpoints.writes({ checkpoint_id: 'cp-4' }),
        );
      } finally {
        await elsewhere.close();
      }
    }));

  it('FILE-8 name the file of a bundle that is refused', () =>
    inFolder(async (folder) => {
      const file = join(folder, 'run.json');
      writeFileSync(file, '{"format":"cairn.execution","version":"9.0.0"}');
      const cairn = await test().freshTenant();
      await expect(importExecution(cairn, file)).rejects.toMatchObject({
        code: 'UNSUPPORTED_VERSION',
        message: expect.stringContaining(`${file}: bundle version "9.0.0" is not supported`),
      });
    }));
});

it('cairn checkpoints and cairn executions export and import, one line for each', () =>
  inFolder(async (cwd) => {
    const said = async (...args: string[]) => {
      const { code, stdout, stderr } = await command(args, { cwd });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    };
    const files = join(cwd, 'in');
    mkdirSync(files);
    const fixture = join(ROOT, 'test/fixtures/checkpoints/0.9.0.json');
    const { parent_id, branch, ...old } = JSON.parse(readFileSync(fixture, 'utf8'));
    writeFileSync(join(files, 'a.json'), JSON.stringify({ ...old, checkpoint_id: 'cp-9', parent_id: 'cp-2' }));
    writeFileSync(join(files, 'b.json'), JSON.stringify(old));
    expect(await said('checkpoints', 'import', 'in')).toBe('imported checkpoint cp-2\nimported checkpoint cp-9\n');
    expect(await said('checkpoints', 'import', 'in/b.json')).toBe('checkpoint cp-2 already exists\n');
    expect(await said('checkpoints', 'export', 'cp-9', '--diff')).toMatch(
      /^checkpoints\/cp-9\.json: checkpoint cp-9, \d+ bytes\n$/,
    );
    expect(JSON.parse(readFileSync(join(cwd, 'checkpoints/cp-9.json'), 'utf8')).diff.summary).toBe('nothing changed');
    expect(await said('executions', 'export', 'run-1', '--out', 'run.json')).toMatch(
      /^run\.json: execution run-1, 2 checkpoint\(s\), \d+ bytes\n$/,
    );
    expect(await said('executions', 'export', 'run-1')).toBe(readFileSync(join(cwd, 'run.json'), 'utf8'));
    expect(await said('executions', 'import', 'run.json', '-d', 'other.db')).toBe(
      'imported execution run-1, 2 checkpoint(s)\n',
    );
    expect(await said('executions', 'export', 'run-1', '-d', 'other.db')).toBe(
      readFileSync(join(cwd, 'run.json'), 'utf8'),
    );
    const refused = await command(['checkpoints', 'import', 'run.json'], { cwd });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^cairn: run\.json is an execution.*\(INVALID_INPUT\)\n$/);
  }));
