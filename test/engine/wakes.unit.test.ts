/** Waiting for keys on SQLite: who is woken, when not, how often is looked, and how it ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDriver, Store } from '#cairn/api/index.js';
import type { Driver, WakeListener } from '#cairn/driver/index.js';
import type { Call } from '#cairn/engine/calls/call.js';
import { Wakes } from '#cairn/engine/leases/wakes.js';
import { ensureTenant, hasTenant } from '#cairn/engine/writes/tenants.js';
import { waitFor } from '#cairn/identity/index.js';
import { callOn, earOn, TENANT, wake } from '../support/inspect/wakes.js';

/** So long that a test which waits for it fails. */
const LONG_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'cairn-wakes-'));
const database = join(folder, 'cairn.db');
let driver: Driver;
let store: Store;
let call: Call;

beforeAll(async () => {
  driver = await openDriver({ database });
  store = await Store.on(driver, { sweep_every_ms: 0 });
  call = await callOn(driver);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A write by another process, as far as the file can tell. */
async function elsewhere(work: (other: Driver) => Promise<unknown>): Promise<void> {
  const other = await openDriver({ database });
  await work(other).finally(() => other.close());
}

describe('a waiter', () => {
  it('is woken by each of its keys, in its tenant only', async () => {
    const wakes = new Wakes(driver);
    const waiter = wakes.join(TENANT, ['lock:a', 'lock:b']);
    const order: string[] = [];
    const waiting = waiter.wait(LONG_MS).then(() => order.push('woken'));
    await driver.write('other', async (tx) => tx.wake('lock:a'));
    await wake(driver, 'lock:c');
    order.push('others');
    await wake(driver, 'lock:b');
    await waiting;
    await Promise.all([waiter.wait(LONG_MS), wake(driver, 'lock:a')]);
    expect(order).toEqual(['others', 'woken']);
    waiter.leave();
  });

  it('does not miss what was told before it waits, and is told it once', async () => {
    const waiter = new Wakes(driver).join(TENANT, ['lock:a']);
    await wake(driver, 'lock:a');
    await wake(driver, 'lock:a');
    await waiter.wait(LONG_MS);
    let woken = false;
    const next = waiter.wait(LONG_MS).then(() => (woken = true));
    await wake(driver, 'lock:other');
    expect(woken).toBe(false);
    waiter.leave();
    await next;
  });

  it('waits no longer than its time, its signal, and the store', async () => {
    const wakes = new Wakes(driver);
    const waiter = wakes.join(TENANT, ['lock:a']);
    await waiter.wait(1);
    await waiter.wait(LONG_MS, AbortSignal.abort());
    const given = new AbortController();
    const waiting = waiter.wait(LONG_MS, given.signal);
    given.abort();
    await waiting;
    const last = waiter.wait(LONG_MS);
    wakes.close();
    await last;
    await waiter.wait(LONG_MS);
    expect(wakes.closed).toBe(true);
  });

  it('is one of 10,000 at most, and the driver is listened to only while there is one', async () => {
    let listening = 0;
    const counted = new Proxy(driver, {
      get: (target, name) => {
        if (name !== 'onWake') return Reflect.get(target, name, target);
        return (listener: WakeListener) => {
          const stop = target.onWake(listener);
          listening++;
          return () => {
            listening--;
            stop();
          };
        };
      },
    });
    const wakes = new Wakes(counted);
    expect(listening).toBe(0);
    const waiters = Array.from({ length: 10_000 }, (_, n) => wakes.join(TENANT, [`lock:${n}`, 'all']));
    expect(listening).toBe(1);
    expect(() => wakes.join(TENANT, ['lock:a'])).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
    waiters.pop()!.leave();
    const late = wakes.join(TENANT, ['lock:a']);
    for (const waiter of [...waiters, late, late]) waiter.leave();
    expect([wakes.waiters, listening]).toEqual([0, 0]);
  });

  it('is woken when another process has written to the file, and not by what this one wrote otherwise', async () => {
    const ear = earOn(driver);
    const waiter = new Wakes(driver).join(TENANT, ['lock:a']);
    await driver.write(TENANT, (tx) => ensureTenant(tx, 'own', 0));
    const woken = waiter.wait(LONG_MS);
    // Longer than the look at the file takes to come round.
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(ear.missed).toBe(0);
    await elsewhere((other) => other.write(TENANT, (tx) => ensureTenant(tx, 'elsewhere', 0)));
    await woken;
    expect([ear.keys, ear.missed > 0]).toEqual([[], true]);
    waiter.leave();
    ear.leave();
  });
});

describe('waiting for something', () => {
  const makeTenant = (on: Driver, tenant: string) =>
    on.write(TENANT, async (tx) => {
      await ensureTenant(tx, tenant, 0);
      tx.wake(`tenant:${tenant}`);
    });
  const lookFor = (tenant: string) => async () => ((await hasTenant(driver.at(tenant))) ? tenant : undefined);

  it('gives what is there already, and what comes', async () => {
    expect(await waitFor(call, ['tenant:default'], LONG_MS, lookFor('default'))).toBe('default');
    const coming = waitFor(call, ['tenant:new'], LONG_MS, lookFor('new'));
    await makeTenant(driver, 'new');
    expect(await coming).toBe('new');
    const fromElsewhere = waitFor(call, ['tenant:newer'], LONG_MS, lookFor('newer'));
    await elsewhere((other) => makeTenant(other, 'newer'));
    expect(await fromElsewhere).toBe('newer');
    expect(call.wakes.waiters).toBe(0);
  });

  it('looks a last time when the time is over, and once when there is none', async () => {
    let looks = 0;
    const look = async () => {
      looks++;
      return undefined;
    };
    expect(await waitFor(call, ['never'], 0, look)).toBeUndefined();
    expect(looks).toBe(1);
    expect(await waitFor(call, ['never'], 20, look)).toBeUndefined();
    expect(looks).toBe(3);
    const second = async () => (++looks === 5 ? 'last' : undefined);
    expect(await waitFor(call, ['never'], 20, second)).toBe('last');
  });

  it('looks again at the moment that is given, without being woken', async () => {
    const end = performance.now() + 30;
    const look = async () => (performance.now() >= end ? 'ended' : undefined);
    expect(await waitFor(call, ['never'], LONG_MS, look, () => end)).toBe('ended');
  });

  it('looks at most ten times a second, however often it is woken', async () => {
    const start = performance.now();
    const looks: number[] = [];
    const look = async () => {
      looks.push(performance.now());
      return looks.length === 7 ? 'found' : undefined;
    };
    let found = false;
    const waiting = waitFor(call, ['storm'], LONG_MS, look, () => start).then((value) => {
      found = true;
      return value;
    });
    while (!found) await wake(driver, 'storm');
    expect(await waiting).toBe('found');
    expect(looks.at(-1)! - looks[0]!).toBeGreaterThan(500);
  });

  it('ends without anything when the caller goes away, and with a refusal when the store closes', async () => {
    const given = new AbortController();
    const nothing = async () => undefined;
    const left = await callOn(driver, { signal: given.signal });
    const leaving = waitFor(left, ['never'], LONG_MS, nothing);
    given.abort();
    expect(await leaving).toBeUndefined();
    const closing = await callOn(driver);
    const waiting = waitFor(closing, ['never'], LONG_MS, nothing);
    closing.wakes.close();
    await expect(waiting).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await expect(waitFor(closing, ['never'], LONG_MS, nothing)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect([left.wakes.waiters, closing.wakes.waiters]).toEqual([0, 0]);
  });

  it('leaves its place when the look fails', async () => {
    const failing = waitFor(call, ['never'], LONG_MS, () => Promise.reject(new Error('the look failed')));
    await expect(failing).rejects.toThrow('the look failed');
    expect(call.wakes.waiters).toBe(0);
  });
});
