/** Who may read the files that Cairn makes: whoever runs it, and nobody else on the machine. */
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportCheckpoint, exportExecution, openCairn } from '#cairn/cairndb.js';
import { state } from '../support/nouns/checkpoints.js';
import { cairn, inFolder } from '../support/run.js';

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const modesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]));

describe.skipIf(process.platform === 'win32')('files', () => {
  it('MODE-1 of a database are for their owner alone, the log as well', () =>
    inFolder(async (cwd) => {
      const folder = join(cwd, 'new/folder');
      const store = await openCairn({ database: join(folder, 'cairn.db') });
      await store.remember('a secret');
      await store.recall('secret');
      expect(modesIn(folder)).toEqual({ 'cairn.db': '600', 'cairn.db-shm': '600', 'cairn.db-wal': '600' });
      expect([modeOf(folder), modeOf(join(cwd, 'new'))]).toEqual(['700', '700']);
      await store.close();
    }));

  it('MODE-1 by the command, whichever it is', () =>
    inFolder(async (cwd) => {
      for (const args of [['migrate'], ['remember', 'x'], ['demo'], ['keys', 'create']])
        await cairn([...args, '--database', `${args[0]}.db`], { cwd });
      expect(modesIn(cwd)).toEqual({ 'demo.db': '600', 'keys.db': '600', 'migrate.db': '600', 'remember.db': '600' });
    }));

  it('MODE-1 keep the mode that somebody gave them', () =>
    inFolder(async (cwd) => {
      const database = join(cwd, 'shared.db');
      const first = await openCairn({ database });
      await first.close();
      for (const name of readdirSync(cwd)) chmodSync(join(cwd, name), 0o640);
      const again = await openCairn({ database });
      await again.remember('for the group');
      expect(modesIn(cwd)).toEqual({ 'shared.db': '640', 'shared.db-shm': '640', 'shared.db-wal': '640' });
      await again.close();
    }));

  it('MODE-2 of exported checkpoints and executions are for their owner alone', () =>
    inFolder(async (cwd) => {
      const store = await openCairn({ database: join(cwd, 'cairn.db') });
      const { execution_id } = await store.executions.create({ execution_id: 'run', name: 'a run' });
      await store.checkpoints.create({ execution_id, checkpoint_id: 'cp', snapshot: state({}) });
      const { path } = await exportCheckpoint(store, 'cp', { directory: join(cwd, 'out/checkpoints') });
      const exported = await exportExecution(store, 'run', join(cwd, 'out/run.json'));
      expect([modeOf(path), modeOf(exported.path)]).toEqual(['600', '600']);
      expect([modeOf(join(cwd, 'out')), modeOf(join(cwd, 'out/checkpoints'))]).toEqual(['700', '700']);
      // One that is there, and the folder that it is in, keep theirs.
      mkdirSync(join(cwd, 'open'), { mode: 0o755 });
      writeFileSync(join(cwd, 'open/run.json'), '', { mode: 0o644 });
      await exportExecution(store, 'run', join(cwd, 'open/run.json'));
      expect([modeOf(join(cwd, 'open/run.json')), modeOf(join(cwd, 'open'))]).toEqual(['644', '755']);
      await store.close();
    }));
});
