/** Three lines to value: remember and recall by a word, in process, over HTTP and in the terminal. */
import { describe, expect, it } from 'vitest';
import { openCairn } from '#cairn/cairndb.js';
import { connectCairn } from '#cairn/client/index.js';
import { cairn, inFolder, type Ran, ROOT, run, serveCairn } from '../../support/run.js';

const ok = ({ code, stdout, stderr }: Ran): string => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

describe('remember and recall', () => {
  it('take the text or the query first, in process as over HTTP', () =>
    inFolder(async (cwd) => {
      const server = await serveCairn([], { cwd });
      const near = await openCairn({ database: `${cwd}/cairn.db` });
      const far = connectCairn({ url: server.url });
      const kept = await near.remember('Anna prefers tea', { tags: ['people'], speaker: 'Ben' });
      // The call's own options come last: the same key again is the same memory.
      const once = { idempotency_key: 'tea' };
      const again = [await far.remember('Carl is late', {}, once), await far.remember('Carl is late', {}, once)];
      expect(again[0]).toEqual(again[1]);
      const asked = { limit: 1 };
      const [found, same] = [await near.recall('Anna tea', asked), await far.recall('Anna tea', asked)];
      expect(found.passages).toMatchObject([
        { id: kept.id, text: 'Anna prefers tea', tags: ['people'], speaker: 'Ben' },
      ]);
      expect(same.passages[0]).toMatchObject({ id: kept.id, snippet: 'Anna prefers tea' });
      await expect(near.remember('')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await expect(far.recall('tea', { limit: 0 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await Promise.all([near.close(), far.close(), server.stop()]);
    }));

  it('are commands that read words or stdin, and say what was found and why', () =>
    inFolder(async (cwd) => {
      const kept = ok(await cairn(['remember', 'Anna', 'prefers', 'tea', '--tag', 'a', '--tag', 'b'], { cwd }));
      const id = /^remembered as note (\S+) {2}Anna prefers tea\n$/.exec(kept)![1]!;
      const piped = `printf 'We chose tables\\nover files.\\n' | "$0" "$1" remember - --type Decision`;
      ok(await run('bash', ['-c', piped, process.execPath, `${ROOT}/bin/cairn.js`], { cwd }));
      const [whole, shown, none] = await Promise.all([
        cairn(['recall', 'what', 'about', 'tea', '--json'], { cwd }),
        cairn(['recall', 'which tables or files'], { cwd }),
        cairn(['recall', 'zebra', '--min-confidence', '0.9'], { cwd }),
      ]);
      expect(JSON.parse(ok(whole)).passages[0]).toMatchObject({ id, tags: ['a', 'b'] });
      // What others wrote stays on its line.
      const lines = ok(shown).split('\n');
      expect(lines[0]).toBe('1. We chose tables over files.');
      expect(lines[1]).toMatch(/^ {3}note, \d{4}-\d\d-\d\d, \S+$/);
      expect(lines[2]).toMatch(/^ {3}confidence 0\.\d\d, score [\d.]+: has (tabl|file)/);
      expect(ok(none)).toBe('Nothing was found.\n');
      const short = await cairn(['recall', 'tea', '--max-tokens', '1'], { cwd });
      expect(ok(short)).toBe('2 passages did not fit into max_tokens.\n');
      ok(await cairn(['cards', 'add', '--content', '[INFO] the tea is ready'], { cwd }));
      const log = await cairn(['recall', 'is it ready'], { cwd });
      expect(ok(log)).toContain('1. [INFO] the tea is ready');
    }));

  it('RECALL-8 say what contradicts a passage', () =>
    inFolder(async (cwd) => {
      const api = await openCairn({ database: `${cwd}/cairn.db` });
      const old = await api.remember('Anna drinks coffee.');
      const now = await api.remember('Anna drinks tea.');
      const participants = [now, old].map(({ id }) => ({ entity_type: 'Note' as const, entity_id: id }));
      await api.edges.create({ edge_type: 'Contradicts', participants });
      await api.close();
      const shown = ok(await cairn(['recall', 'does she drink coffee', '--limit', '1'], { cwd }));
      expect(shown.split('\n').slice(0, 2)).toEqual([
        `1. Anna drinks coffee. (contradicts: "Anna drinks tea." (${now.created_at.slice(0, 10)}, newer))`,
        `   is contradicted by note "Anna drinks tea.", id ${now.id}`,
      ]);
    }));

  it('UPD-1 UPD-2 say in plain words what was replaced, in a terminal', () =>
    inFolder(async (cwd) => {
      const at = (day: string) => ['--occurred-at', day];
      const first = ok(await cairn(['remember', 'Lena lives in Hamburg.', ...at('2024-05-01')], { cwd }));
      const id = /^remembered as note (\S+) /.exec(first)![1]!;
      const second = ok(await cairn(['remember', 'Lena lives in Munich now.', ...at('2026-03-01')], { cwd }));
      expect(second.split('\n')[1]).toBe(`It replaces "Hamburg" (2024-05-01, note ${id}).`);
      const again = ok(await cairn(['remember', 'Lena lives in Munich.', ...at('2026-04-01')], { cwd }));
      expect(again).toContain('It was known already: "Lena lives in Munich now." (2026-03-01, note ');
      const shown = ok(await cairn(['recall', 'where does Lena live', '--limit', '2'], { cwd }));
      expect(shown).toContain('Lena lives in Munich now. (since 2026-03-01; before: Hamburg)');
      expect(shown.split('Hamburg')).toHaveLength(2);
    }));

  it('open with options that are checked', async () => {
    const refused = async (options: object | undefined) => {
      const error: unknown = await openCairn(options as never).catch((reason: unknown) => reason);
      return error as { code: string; message: string };
    };
    expect(await refused({ databse: './x.db' })).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/unknown option "databse": .*\bdatabase\b/),
    });
    for (const options of [undefined, {}, { database: 7 }, { database: '' }])
      expect(await refused(options)).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('database'),
      });
  });

  it('refuse on one line', () =>
    inFolder(async (cwd) => {
      // One at a time: recall refuses because there is no store, which remember would create.
      const wrong = [['remember'], ['recall', 'x'], ['remember', 'x', '--bogus'], ['remember', 'x', '--ttl', '0']];
      for (const args of wrong) {
        const { code, stdout, stderr } = await cairn(args, { cwd });
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
        expect(stderr).toMatch(/^cairn: [^\n]+\n$/);
      }
    }));
});
