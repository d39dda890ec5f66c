/** A disk that is really full, and files that cannot be a database. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openCairn } from '#cairn/cairndb.js';
import { connectCairn } from '#cairn/client/index.js';
import { audit, illnesses, survey } from '../support/inspect/audit.js';
import { Ledger } from '../support/inspect/load.js';
import { ROOT, startServer } from '../support/server.js';
import { refusalOf } from '../support/targets.js';

const MEGABYTE = 1024 * 1024;

/** Runs a command in a mount namespace of its own where a folder is a small disk; it goes with the process. */
const onSmallDisk = (folder: string, bytes: number): string[] => [
  'unshare',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${bytes} tmpfs ${folder} && exec "$@"`,
  'sh',
];

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-mount-'));
  try {
    const [command, ...args] = onSmallDisk(folder, MEGABYTE) as [string, ...string[]];
    execFileSync(command, [...args, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Where the system does not let us mount, there is no honest way to fill a disk.
it.runIf(canMount())(
  'a full disk: writes get STORAGE_FULL, reads go on, nothing acknowledged is lost; with space it works again',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-disk-'));
    const server = await startServer({ database: join(folder, 'cairn.db'), under: onSmallDisk(folder, 12 * MEGABYTE) });
    // The small disk as it is seen from here.
    const disk = join('/proc', String(server.pid), 'root', folder);
    const cairn = connectCairn({ url: server.url });
    const ledger = new Ledger();
    await cairn.boxes.create({ box_id: 'box' });
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(6 * MEGABYTE));

    let n = 0;
    /** Writes until this many were refused. */
    const fill = async (bytes: number, refusals: number) => {
      let refused = 0;
      while (refused < refusals) {
        const mark = `card-${n++}`;
        const content = { mark, filling: 'x'.repeat(bytes) };
        const card = await ledger.ask(mark, 'card', () => cairn.cards.add({ content }));
        if (!card) {
          refused++;
          continue;
        }
        const append = () => cairn.boxes.append({ box_id: 'box', card_ids: [card.card_id] });
        if (!(await ledger.ask(card.card_id, 'append', append, 'box'))) refused++;
      }
    };
    await Promise.all(Array.from({ length: 8 }, () => fill(50_000, 3)));
    await Promise.all(Array.from({ length: 8 }, () => fill(10, 3)));
    expect([...ledger.refusals.keys()]).toEqual(['STORAGE_FULL']);
    expect(await refusalOf(cairn.cards.add({ content: 'x'.repeat(500_000) }))).toMatchObject({
      code: 'STORAGE_FULL',
      status: 507,
    });

    const box = await cairn.boxes.load({ box_id: 'box' });
    const { cards } = await cairn.cards.get_batch({ card_ids: box.card_ids.slice(-100) });
    expect(cards.length).toBe(Math.min(100, box.card_ids.length));
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);

    rmSync(join(disk, 'ballast'));
    const again = await cairn.cards.add({ content: 'x'.repeat(500_000) });
    expect(await cairn.cards.get({ card_id: again.card_id })).toEqual(again);
    await ledger.ask('after', 'packet', () => cairn.packets.write({ packet_type: 'load', payload: { mark: 'after' } }));
    // SQLite itself would not find its way there: a copy, while nobody writes, is what a crash would leave.
    const copy = mkdtempSync(join(tmpdir(), 'cairn-copy-'));
    for (const name of ['cairn.db', 'cairn.db-wal']) copyFileSync(join(disk, name), join(copy, name));
    await cairn.close();
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(audit(await survey(join(copy, 'cairn.db')), ledger)).toEqual([]);
    expect(await illnesses(join(copy, 'cairn.db'))).toEqual([]);
    rmSync(copy, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  },
);

describe('a database that cannot be opened is one clear error', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-bad-'));
  writeFileSync(join(folder, 'text.db'), 'this is no database, but a text that is long enough\n'.repeat(100));
  writeFileSync(join(folder, 'file'), '');
  const cases = {
    'a file that is not a database': join(folder, 'text.db'),
    'a folder': folder,
    'a folder that cannot be made': join(folder, 'file', 'cairn.db'),
    'a folder that cannot be written': '/proc/cairn.db',
  };

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(Object.entries(cases))('%s', async (_name, database) => {
    const refusal = await refusalOf(openCairn({ database }));
    expect(refusal.message).toContain(database);
    expect(refusal.code).toBe('STORAGE_FAILED');
    const run = spawnSync(process.execPath, ['bin/cairn.js', 'serve', '--port', '0', '--database', database], {
      cwd: ROOT,
      encoding: 'utf8',
      timeout: 30_000,
    });
    expect(run.status).toBe(1);
    expect(run.stdout).toBe('');
    expect(run.stderr.trim().split('\n')).toHaveLength(1);
    expect(run.stderr).toContain(refusal.message);
  });
});
