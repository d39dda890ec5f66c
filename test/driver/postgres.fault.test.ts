/** PostgreSQL loses connections, restarts, crashes, or is away, while a real server process is under load. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import { type CairnClient, connectCairn } from '#cairn/client/index.js';
import { startPostgres, type TestPostgres } from '../../scripts/postgres.mjs';
import { audit, illnesses, survey } from '../support/inspect/audit.js';
import { Follower } from '../support/inspect/follower.js';
import { Ledger, runLoad } from '../support/inspect/load.js';
import { type ServerProcess, sleep, startServer, until, within } from '../support/server.js';
import { targetNames } from '../support/targets.js';

const CLIENTS = 16;
/** What a write may be answered with while the database comes and goes. */
const EXCUSES = ['DATABASE_UNAVAILABLE', 'COMMIT_UNKNOWN'];

describe.runIf(targetNames().includes('postgres'))('PostgreSQL under faults', () => {
  let postgres: TestPostgres;
  let database: string;
  let server: ServerProcess;
  let client: CairnClient;
  const ledger = new Ledger();
  const box_ids = ['a', 'b', 'c'];

  beforeAll(async () => {
    postgres = await startPostgres();
    database = postgres.url();
    server = await startServer({ database });
    client = connectCairn({ url: server.url });
    for (const box_id of box_ids) await client.boxes.create({ box_id });
  });

  afterAll(async () => {
    await client?.close();
    await server?.end('SIGTERM');
    await postgres?.stop();
  });

  const admin = async <T extends pg.QueryResultRow>(text: string): Promise<T[]> => {
    const connection = new pg.Client({ connectionString: database });
    await connection.connect();
    return (await connection.query<T>(text).finally(() => connection.end())).rows;
  };

  /** Load for as long as something happens to the database, and a little longer. */
  async function underLoad(name: string, happening: () => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const load = runLoad([client], { clients: CLIENTS, name, box_ids, ledger, stop: stop.signal });
    await sleep(200);
    try {
      await happening();
      const before = ledger.acknowledged;
      await until('the load to go on', () => ledger.acknowledged > before + CLIENTS);
    } finally {
      stop.abort();
      await within(60_000, load, 'the load to end');
    }
    expect(audit(await survey(database), ledger)).toEqual([]);
    expect(await illnesses(database)).toEqual([]);
    const refusals = [...ledger.refusals.keys()].filter((code) => !EXCUSES.includes(code));
    expect(refusals).toEqual([]);
    console.log(`${name}: ${JSON.stringify(Object.fromEntries(ledger.refusals))} of ${ledger.steps.size}`);
  }

  it('backends that are terminated during load: nothing lost, nothing twice, and hardly anyone notices', async () => {
    const follower = new Follower(client);
    await underLoad('terminated', async () => {
      for (let n = 0; n < 20; n++) {
        await admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'cairn' ORDER BY random() LIMIT 2`);
        await sleep(50);
      }
    });
    expect([...ledger.refusals]).toEqual([]);
    const { head } = await survey(database);
    expect(await follower.endAt(head)).toEqual([]);
    expect(follower.seqs.length).toBe(head);
  });

  it.each(['SIGINT', 'SIGQUIT'] as const)(
    'restarts by %s under load: nothing acknowledged is lost, nothing is there twice',
    async (signal) => {
      const follower = new Follower(client);
      await underLoad(`restart-${signal}`, async () => {
        for (let n = 0; n < 3; n++) {
          await postgres.restart(signal);
          await sleep(200);
        }
      });
      const { head } = await survey(database);
      expect(await follower.endAt(head)).toEqual([]);
      expect(follower.seqs.length).toBe(head);
    },
  );

  it('while it is away requests get 503 in bounded time, and the process says so; then it works again', async () => {
    await postgres.end('SIGINT');
    const status = async (path: string) => (await fetch(`${server.url}${path}`)).status;
    const post = async () => {
      const response = await fetch(`${server.url}/api/v1/memory/packet`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ packet_type: 'away', payload: {} }),
      });
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    expect(await status('/health/live')).toBe(200);
    expect(await within(20_000, status('/health/ready'), 'readiness')).toBe(503);
    const reads = within(20_000, status('/projects/default/cards/x'), 'a read');
    const many = Array.from({ length: 200 }, post);
    const answers = await within(30_000, Promise.all(many), 'all writes to be refused');
    expect(new Set(answers.map(String))).toEqual(new Set(['503,DATABASE_UNAVAILABLE']));
    expect(await reads).toBe(503);
    expect(await status('/health/live')).toBe(200);

    await postgres.start();
    await until('the server to be ready', async () => (await status('/health/ready')) === 200);
    expect(await post()).toEqual([201, undefined]);
    expect((await client.packets.list({ packet_type: 'away' })).total).toBe(1);
    expect(audit(await survey(database), ledger)).toEqual([]);
  });

  it('in process, thousands of writes that wait for a database that is away are refused in bounded time', async () => {
    const store = await Store.open({ database, sweep_every_ms: 0 });
    const cairn = store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
    await postgres.end('SIGINT');
    const writes = Array.from({ length: 2000 }, (_, n) =>
      cairn.packets.write({ packet_type: 'away-2', payload: { n } }).then(
        () => 'written',
        ({ code }: { code: string }) => code,
      ),
    );
    const codes = await within(30_000, Promise.all(writes), 'all writes to be refused');
    expect(new Set(codes)).toEqual(new Set(['DATABASE_UNAVAILABLE']));
    await postgres.start();
    await cairn.packets.write({ packet_type: 'away-2', payload: {} });
    expect((await cairn.packets.list({ packet_type: 'away-2' })).total).toBe(1);
    await store.close();
  });

  it('a pool that is exhausted makes callers wait, not fail, and never opens more connections', async () => {
    const store = await Store.open({ database, sweep_every_ms: 0, pool_size: 2 });
    const tenants = Array.from({ length: 20 }, (_, i) => `tenant-${i}`);
    for (const tenant of tenants) await store.ensureTenant(tenant);
    const apis = tenants.map((tenant_id) => store.api({ tenant_id, agent_id: null, role: 'admin', key_id: null }));
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, store.figures().pool_connections!);
    }, 1);
    const calls = apis.flatMap((cairn) =>
      Array.from({ length: 20 }, async (_, n) => {
        const { card_id } = await cairn.cards.add({ content: n });
        const { box_id } = await cairn.boxes.create({ card_ids: [card_id] });
        expect(await cairn.boxes.load({ box_id })).toMatchObject({ card_ids: [card_id] });
      }),
    );
    await within(60_000, Promise.all(calls), 'all calls');
    clearInterval(watch);
    expect(most).toBe(2);
    await store.close();

    const narrow = await Store.open({ database, sweep_every_ms: 0, pool_size: 1 });
    expect(await within(20_000, narrow.driver.integrity(), 'the doctor on one connection')).toEqual([]);
    await narrow.close();
  });
});
