/** Many writers at once: in one process, in several processes on one new database, on two servers on one PostgreSQL. */
import { describe, expect, it } from 'vitest';
import { openCairn } from '#cairn/cairndb.js';
import { connectCairn } from '#cairn/client/index.js';
import { runChildren } from '../support/children/together.js';
import { audit, illnesses, survey } from '../support/inspect/audit.js';
import { Follower } from '../support/inspect/follower.js';
import { Ledger, runLoad } from '../support/inspect/load.js';
import { startServer } from '../support/server.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));
const never = new AbortController().signal;

describe.each(kinds)('on %s', (kind) => {
  it('20 writers in one process: every acknowledged write is there once, seq has no gap', async () => {
    const { database, drop } = await freshDatabase(kind);
    const cairn = await openCairn({ database, sweep_every_ms: 0 });
    const ledger = new Ledger();
    await cairn.boxes.create({ box_id: 'shared' });
    await runLoad([cairn], { clients: 20, name: 'in', box_ids: ['shared'], ledger, stop: never, rounds: 50 });
    const box = await cairn.boxes.load({ box_id: 'shared' });
    await cairn.close();

    expect([...ledger.refusals]).toEqual([]);
    expect(ledger.acknowledged).toBe(3 * 20 * 50);
    expect(box).toMatchObject({ length: 1000, revision: 1001 });
    const found = await survey(database);
    expect(audit(found, ledger)).toEqual([]);
    expect(found.head).toBe(1 + 3000);
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });

  it('8 processes that open the same new database at once all start, and make one schema', async () => {
    const { database, drop } = await freshDatabase(kind, { empty: true });
    const ledger = new Ledger();
    await runChildren({ mode: 'open', database, processes: 8, writes: 1, ledger });
    expect(ledger.acknowledged).toBe(8);
    const found = await survey(database);
    expect(audit(found, ledger)).toEqual([]);
    expect(found.head).toBe(8);
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });
});

it.runIf(kinds.includes('postgres'))(
  'two servers on one PostgreSQL: nothing lost, nothing twice; a follower of each sees every packet once, in order',
  async () => {
    const { database, drop } = await freshDatabase('postgres');
    const servers = [await startServer({ database }), await startServer({ database })];
    const clients = servers.map(({ url }) => connectCairn({ url }));
    const followers = clients.map((client) => new Follower(client));
    const ledger = new Ledger();
    // Several boxes, which the two servers lock in any order.
    const box_ids = ['a', 'b', 'c', 'd', 'e'];
    for (const box_id of box_ids) await clients[0]!.boxes.create({ box_id });
    const load = { clients: 24, name: 'two', box_ids, ledger, stop: never, rounds: 25 };
    await runLoad(clients, load);

    expect([...ledger.refusals]).toEqual([]);
    const found = await survey(database);
    expect(audit(found, ledger)).toEqual([]);
    expect(found.head).toBe(box_ids.length + 3 * 24 * 25);
    for (const follower of followers) {
      expect(await follower.endAt(found.head)).toEqual([]);
      expect(follower.seqs.length).toBe(found.head);
    }
    for (const client of clients) await client.close();
    for (const server of servers) expect(await server.end('SIGTERM')).toMatchObject({ code: 0 });
    expect(servers.map((server) => server.log())).toEqual(['', '']);
    expect(await illnesses(database)).toEqual([]);
    await drop();
  },
);
