/** Waking those who wait, through commits that fail or are lost, and a listening connection that is killed or silent. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store, schema } from '#cairn/api/index.js';
import type { Driver } from '#cairn/driver/index.js';
import { openPostgres } from '#cairn/driver/index.js';
import { packetJournal } from '#cairn/engine/writes/journal.js';
import { event } from '#cairn/engine/writes/own-events.js';
import { ensureTenant, hasTenant } from '#cairn/engine/writes/tenants.js';
import { waitFor } from '#cairn/identity/index.js';
import { callOn, type Ear, earOn, TENANT, wake } from '../support/inspect/wakes.js';
import { until, within } from '../support/server.js';
import { type Cut, PostgresProxy } from '../support/stand-ins/postgres-proxy.js';
import { freshDatabase, openTarget, targetNames } from '../support/targets.js';

/** So long that a test which waits for it fails. */
const LONG_MS = 600_000;

describe.each(targetNames().filter((name) => name !== 'http'))('keys of a commit on %s', (target) => {
  let opened: Awaited<ReturnType<typeof openTarget>>;
  let driver: Driver;
  beforeAll(async () => {
    opened = await openTarget(target);
    driver = opened.store.driver;
  });
  afterAll(() => opened.close());

  it('are told after it, also when nothing was journalled, and once each', async () => {
    const ear = earOn(driver);
    const heard: string[][] = [];
    const writes = ['a', 'b', 'c'].map((name) =>
      driver.write(TENANT, async (tx) => {
        tx.wake(name);
        tx.wake('all');
        await ensureTenant(tx, name, 0);
        heard.push([...ear.keys]);
      }),
    );
    await Promise.all(writes);
    expect(heard).toEqual([[], [], []]);
    expect([...ear.keys].sort()).toEqual(['a', 'all', 'b', 'c']);
    ear.leave();
  });

  it('are not told of a write that was refused or undone, alone or among others', async () => {
    const ear = earOn(driver);
    const fails = (name: string, changes: boolean) =>
      driver.write(TENANT, async (tx) => {
        tx.wake(`never:${name}`);
        if (changes) await ensureTenant(tx, name, 0);
        throw new Error('refused');
      });
    await expect(fails('alone', true)).rejects.toThrow('refused');
    const settled = await Promise.allSettled([
      wake(driver, 'before'),
      fails('early', false),
      fails('late', true),
      wake(driver, 'after'),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect([...ear.keys].sort()).toEqual(['after', 'before']);
    ear.leave();
  });

  it('end waiting with the store: who waits is refused, and closing does not wait for them', async () => {
    const own = await openTarget(target);
    const call = await callOn(own.store.driver);
    const waiting = waitFor(call, ['never'], LONG_MS, async () => undefined);
    const refused = expect(waiting).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    call.wakes.close();
    await refused;
    // One who still listens does not keep the driver from closing either.
    earOn(own.store.driver);
    await within(10_000, own.close(), 'the store to close');
  });
});

describe.runIf(targetNames().includes('postgres'))('two servers on PostgreSQL', () => {
  let real: { database: string; drop(): Promise<void> };
  let proxy: PostgresProxy;
  let stores: Store[];
  /** The one behind a proxy, and the other, which never asks whether its connection is still there. */
  let first: Driver;
  let second: Driver;

  const open = async (url: string, wake_look_ms: number): Promise<Driver> => {
    const journal = packetJournal(() => driver.now(), 8192);
    const driver = await openPostgres(url, { journal, schema, wake_look_ms });
    stores.push(await Store.on(driver, { sweep_every_ms: 0 }));
    return driver;
  };

  beforeAll(async () => {
    stores = [];
    real = await freshDatabase('postgres');
    proxy = await PostgresProxy.before(real.database);
    first = await open(proxy.url, 50);
    second = await open(real.database, LONG_MS);
  });

  afterAll(async () => {
    for (const store of stores) await store.close();
    await proxy.close();
    await real.drop();
  });

  const admin = async <T extends pg.QueryResultRow>(text: string): Promise<T[]> => {
    const connection = new pg.Client({ connectionString: real.database });
    await connection.connect();
    return (await connection.query<T>(text).finally(() => connection.end())).rows;
  };
  const LISTENERS = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cairn'
    AND query = 'LISTEN cairn_wake'`;

  /** An ear on a driver that listens already: it hears of keys, and that something was missed only if it was. */
  async function listening(driver: Driver): Promise<Ear> {
    const ear = earOn(driver);
    const other = driver === second ? first : second;
    await until('a key to arrive', async () => {
      await wake(other, 'there?');
      return ear.keys.includes('there?');
    });
    // Keys arrive in the order of their commits: what was sent before this one is through.
    await wake(other, 'there!');
    await until('the last key to arrive', () => ear.keys.includes('there!'));
    ear.forget();
    return ear;
  }

  it('who waits at one is woken by a write at the other, by the notification alone', async () => {
    const ear = await listening(second);
    let looks = 0;
    const look = async () => {
      const found = await hasTenant(second.at('new'));
      looks++;
      return found || undefined;
    };
    const waiting = waitFor(await callOn(second), ['tenant:new'], LONG_MS, look);
    await until('the first look', () => looks === 1);
    await first.write(TENANT, async (tx) => {
      await ensureTenant(tx, 'new', 0);
      tx.wake('tenant:new');
    });
    expect(await within(20_000, waiting, 'the waiter')).toBe(true);
    expect([ear.keys, ear.missed, looks]).toEqual([['tenant:new'], 0, 2]);
    ear.leave();
  });

  it('neither hears its own keys twice, and one that is too long to be sent is told as all of the tenant', async () => {
    const ears = [await listening(first), await listening(second)];
    ears[0]!.forget();
    const long = 'k'.repeat(8000);
    await wake(first, 'own');
    await wake(first, long);
    await wake(second, 'last');
    await until('the keys to arrive', () => ears.every(({ keys }) => keys.length === 3));
    expect(ears.map(({ keys }) => [...keys].sort())).toEqual([[long, 'last', 'own'].sort(), ['*', 'last', 'own']]);
    for (const ear of ears) ear.leave();
  });

  it('hears again when the connection that listens was killed, and says that it may have missed something', async () => {
    const ear = await listening(second);
    expect(await admin(`SELECT pg_terminate_backend(pid) ${LISTENERS}`)).toHaveLength(1);
    await until('it to be said', () => ear.missed > 0);
    ear.leave();
    (await listening(second)).leave();
    expect(await admin(`SELECT pid ${LISTENERS}`)).toHaveLength(1);
  });

  it('hears again when that connection fell silent, or the database was away; and closes while it is away', async () => {
    const way = await PostgresProxy.before(real.database);
    const third = await openPostgres(way.url, { journal: packetJournal(() => 0, 8192), schema, wake_look_ms: 50 });
    const ear = await listening(third);
    way.silence();
    await until('it to be said', () => ear.missed > 0);
    (await listening(third)).leave();
    ear.forget();
    way.away = true;
    await until('it to be said again and again', () => ear.missed > 3);
    way.away = false;
    (await listening(third)).leave();
    way.away = true;
    await within(20_000, third.close(), 'the driver to close');
    await way.close();
  });

  it.each<Cut>(['forwarded', 'answered', 'delayed'])(
    'keys of a commit whose connection was lost (%s) are told when it happened',
    async (cut) => {
      const ears = [await listening(first), await listening(second)];
      const call = await callOn(first);
      proxy.arm(cut);
      await first.write(TENANT, async (tx) => {
        tx.journal(event({ call, now: first.now() }, 'test.woken', { type: 'test', id: 'id' }, {}));
        tx.wake('journalled');
      });
      expect(ears[0]!.keys).toContain('journalled');
      await until('the key to arrive', () => ears[1]!.keys.includes('journalled'));
      for (const ear of ears) ear.leave();
    },
  );

  it('keys of a commit that happens after all, of which nobody can know, are heard like those of another', async () => {
    const ear = await listening(first);
    let runs = 0;
    proxy.arm('delayed');
    await first.write(TENANT, async (tx) => {
      // When it is run again it finds its work done, and wakes nobody.
      if (++runs === 1) tx.wake('lost');
      await ensureTenant(tx, TENANT, 0);
    });
    expect(runs).toBe(2);
    expect(ear.keys).toContain('lost');
    await until('the key to arrive', () => ear.keys.length === 2);
    expect(ear.keys).toEqual(['lost', 'lost']);
    ear.leave();
  });
});
