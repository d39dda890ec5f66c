import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { findLock } from '#cairn/coordination/locks/store.js';
import { expire } from '../support/expiry.js';
import { followToNow, latestToken } from '../support/nouns/stream.js';
import { sleep, until } from '../support/server.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

type Asked = Parameters<Api['locks']['acquire']>[0];

const file = { resource_type: 'file', resource_id: 'main.ts' };
const by = (holder_agent_id: string, more: Partial<Asked> = {}): Asked => ({ ...file, holder_agent_id, ...more });
const patient = (holder_agent_id: string, more: Partial<Asked> = {}): Asked =>
  by(holder_agent_id, { timeout_ms: 20_000, ...more });
const shared = { mode: 'Shared' as const };
const conflict = { code: 'LOCK_CONFLICT', status: 409 };
const over = { code: 'LOCK_EXPIRED', status: 409 };

/** Asks, and resolves once it stands in line. */
async function inLine(cairn: Api, asked: Asked) {
  const lock_id = asked.lock_id ?? randomUUID();
  let settled = false;
  const lock = cairn.locks.acquire({ ...asked, lock_id }).finally(() => (settled = true));
  lock.catch(() => undefined);
  await until('a place in line', async () => (await cairn.locks.list()).locks.some((one) => one.lock_id === lock_id));
  return { lock_id, lock, hasIt: () => settled };
}

onEveryTarget('locks', (test) => {
  it('LOCK-1 a lock is exclusive unless it is shared, and says who holds it and until when', async () => {
    const cairn = await test().freshTenant();
    const lock = await cairn.locks.acquire(by('ann'));
    expect(lock).toEqual({
      lock_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...file,
      holder_agent_id: 'ann',
      mode: 'Exclusive',
      state: 'held',
      fencing_token: 1,
      lease_ms: 30_000,
      asked_at: expect.stringMatching(/Z$/),
      acquired_at: lock.asked_at,
      expires_at: new Date(Date.parse(lock.asked_at) + 30_000).toISOString(),
      ended_at: null,
    });
    expect(await cairn.locks.get({ lock_id: lock.lock_id })).toEqual(lock);
    for (const mode of ['Exclusive', 'Shared'] as const)
      expect(await refusalOf(cairn.locks.acquire(by('bob', { mode })))).toMatchObject({
        ...conflict,
        message: expect.stringContaining('ann holds it'),
        details: { ...file, held_by: { agent_id: 'ann', mode: 'Exclusive', expires_at: lock.expires_at } },
      });
    const other = await cairn.locks.acquire(by('bob', { resource_id: 'other.ts' }));
    expect(other).toMatchObject({ state: 'held', fencing_token: 1 });
  });

  it('LOCK-1 several share it, the same agent more than once; an exclusive one is not reentrant', async () => {
    const cairn = await test().freshTenant();
    const ann = await cairn.locks.acquire(by('ann', shared));
    const again = await cairn.locks.acquire(by('ann', { mode: 'shared' as 'Shared' }));
    const bob = await cairn.locks.acquire(by('bob', shared));
    expect(new Set([ann, again, bob].map(({ lock_id }) => lock_id)).size).toBe(3);
    const refused = { ...conflict, message: expect.stringContaining('not reentrant') };
    expect(await refusalOf(cairn.locks.acquire(by('ann')))).toMatchObject(refused);
    for (const { lock_id } of [ann, again, bob]) await cairn.locks.release({ lock_id });
    await cairn.locks.acquire(by('ann'));
    expect(await refusalOf(cairn.locks.acquire(by('ann')))).toMatchObject(refused);
  });

  it('LOCK-2 an agent of a key holds its own locks, and no one else’s', async () => {
    const cairn = await test().freshTenant();
    const { tenant_id } = await cairn.auth.whoami();
    const ann = await test().as({ tenant: tenant_id, agent: 'ann' });
    expect(await ann.locks.acquire(file)).toMatchObject({ holder_agent_id: 'ann' });
    expect(await refusalOf(ann.locks.acquire(by('bob')))).toMatchObject({
      code: 'FORBIDDEN',
      details: { rule: 'key_agent' },
    });
    expect(await refusalOf(cairn.locks.acquire(file))).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('holder_agent_id'),
    });
  });

  it('LOCK-3 whoever waits in vain is refused when its time is over, and leaves the line', async () => {
    const cairn = await test().freshTenant();
    const { lock_id } = await cairn.locks.acquire(by('ann'));
    expect(await refusalOf(cairn.locks.acquire(by('bob', { timeout_ms: 60 })))).toMatchObject({
      ...conflict,
      message: expect.stringContaining('60 ms'),
    });
    expect((await cairn.locks.list()).locks.map((one) => one.lock_id)).toEqual([lock_id]);
    await cairn.locks.release({ lock_id });
    expect(await cairn.locks.acquire(by('cyn'))).toMatchObject({ state: 'held' });
  });

  it('LOCK-4 LOCK-8 LOCK-9 waiters are granted in the order of asking, shared ones together', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.locks.acquire(by('ann', shared));
    const exclusive = await inLine(cairn, patient('bob'));
    const readers = [await inLine(cairn, patient('cyn', shared)), await inLine(cairn, patient('dan', shared))];
    const last = await inLine(cairn, patient('eve'));
    // A shared lock is free beside the one that is held, but not before the one that asked earlier.
    expect(await refusalOf(cairn.locks.acquire(by('fay', shared)))).toMatchObject(conflict);
    await cairn.locks.release({ lock_id: first.lock_id });
    expect(await exclusive.lock).toMatchObject({ holder_agent_id: 'bob', state: 'held', fencing_token: 2 });
    expect(readers.some(({ hasIt }) => hasIt())).toBe(false);
    await cairn.locks.release({ lock_id: exclusive.lock_id });
    const tokens = (await Promise.all(readers.map(({ lock }) => lock))).map((one) => one.fencing_token);
    expect(tokens).toEqual([3, 4]);
    expect(last.hasIt()).toBe(false);
    await cairn.locks.release({ lock_id: readers[1]!.lock_id });
    await sleep(20);
    expect(last.hasIt()).toBe(false);
    await cairn.locks.release({ lock_id: readers[0]!.lock_id });
    expect(await last.lock).toMatchObject({ holder_agent_id: 'eve', fencing_token: 5 });
  });

  it('LOCK-4 however many follow each other are granted together, and those whose lease is over make way', async () => {
    const cairn = await test().freshTenant();
    const { lock_id } = await cairn.locks.acquire(by('ann'));
    const asked = Array.from({ length: 20 }, (_, i) => patient(`reader-${i}`, { ...shared, lease_ms: 60_000 }));
    const readers = asked.map((one) => cairn.locks.acquire(one));
    await until('all to wait', async () => (await cairn.locks.list()).total === 21);
    await cairn.locks.release({ lock_id });
    const tokens = (await Promise.all(readers)).map(({ fencing_token }) => fencing_token!);
    expect(tokens.sort((a, b) => a - b)).toEqual(tokens.map((_, i) => i + 2));
    test().advance(60_000);
    expect(await cairn.locks.acquire(by('bob'))).toMatchObject({ state: 'held', fencing_token: 22 });
  });

  it('LOCK-5 LOCK-9 a lock is over when its lease is, and the next has it with a higher token', async () => {
    const cairn = await test().freshTenant();
    const { lock_id } = await cairn.locks.acquire(by('ann', { lease_ms: 60_000 }));
    test().advance(59_000);
    expect(await refusalOf(cairn.locks.acquire(by('bob')))).toMatchObject(conflict);
    test().advance(1000);
    expect(await cairn.locks.get({ lock_id })).toMatchObject({ state: 'expired', expires_at: null });
    expect((await cairn.locks.list()).locks).toEqual([]);
    expect(await cairn.locks.acquire(by('bob'))).toMatchObject({ state: 'held', fencing_token: 2 });
    const ended = await cairn.locks.get({ lock_id });
    expect(ended).toMatchObject({ state: 'expired', fencing_token: 1 });
    expect(Date.parse(ended.ended_at!) - Date.parse(ended.acquired_at!)).toBe(60_000);
  });

  it('LOCK-5 whoever waits has it as soon as the holder’s lease is over', async () => {
    const cairn = await test().freshTenant();
    await cairn.locks.acquire(by('ann', { lease_ms: 300 }));
    const bob = await cairn.locks.acquire(patient('bob'));
    expect(bob).toMatchObject({ state: 'held', fencing_token: 2 });
    expect(Date.parse(bob.expires_at!) - Date.parse(bob.acquired_at!)).toBeGreaterThanOrEqual(30_000);
  });

  it('LOCK-5 what is over is also noticed when nobody asks', async () => {
    const cairn = await test().freshTenant();
    const { tenant_id } = await cairn.auth.whoami();
    const { lock_id } = await cairn.locks.acquire(by('ann', { lease_ms: 1000 }));
    const before = await latestToken(cairn);
    test().advance(1000);
    expect(await expire(test(), tenant_id)).toBe(1);
    const events = await followToNow(cairn, before);
    expect(events.map(({ packet_type }) => packet_type)).toEqual(['cairn.lock.expired']);
    expect(await cairn.locks.get({ lock_id })).toMatchObject({ state: 'expired' });
    expect(await expire(test(), tenant_id)).toBe(0);
  });

  it('LOCK-6 only the holder releases or extends, and only while it is held', async () => {
    const cairn = await test().freshTenant();
    const { lock_id } = await cairn.locks.acquire(by('ann'));
    const refused = { code: 'FORBIDDEN', status: 403, details: { rule: 'lock_holder' } };
    for (const attempt of [
      () => cairn.locks.release({ lock_id, releasing_agent_id: 'bob' }),
      () => cairn.locks.extend({ lock_id, additional_ms: 1000, holder_agent_id: 'bob' }),
    ])
      expect(await refusalOf(attempt())).toMatchObject(refused);
    const released = await cairn.locks.release({ lock_id, releasing_agent_id: 'ann' });
    expect(released).toMatchObject({ lock_id, state: 'released', fencing_token: 1, expires_at: null });
    expect(released.ended_at).not.toBeNull();
    expect(await refusalOf(cairn.locks.release({ lock_id }))).toMatchObject(over);
    expect(await refusalOf(cairn.locks.extend({ lock_id, additional_ms: 1000 }))).toMatchObject(over);
    const second = await cairn.locks.acquire(by('ann', { lease_ms: 1000 }));
    test().advance(1000);
    const expired = { lock_id: second.lock_id };
    expect(await refusalOf(cairn.locks.release(expired))).toMatchObject(over);
    expect(await refusalOf(cairn.locks.extend({ ...expired, additional_ms: 1000 }))).toMatchObject(over);
    expect(await refusalOf(cairn.locks.release({ lock_id: randomUUID() }))).toMatchObject({
      code: 'LOCK_NOT_FOUND',
      status: 404,
    });
  });

  it('LOCK-7 extending moves the end, up to 24 hours from now, and not of one that is waited for', async () => {
    const cairn = await test().freshTenant();
    const { lock_id, expires_at } = await cairn.locks.acquire(by('ann', { lease_ms: 1000 }));
    const longer = await cairn.locks.extend({ lock_id, additional_ms: 5000 });
    expect(Date.parse(longer.expires_at!) - Date.parse(expires_at!)).toBe(5000);
    test().advance(5000);
    expect(await refusalOf(cairn.locks.acquire(by('bob')))).toMatchObject(conflict);
    const day = 24 * 3_600_000;
    const before = test().store.driver.now();
    const longest = await cairn.locks.extend({ lock_id, additional_ms: day });
    expect(Date.parse(longest.expires_at!)).toBeGreaterThanOrEqual(before + day);
    expect(Date.parse(longest.expires_at!)).toBeLessThanOrEqual(test().store.driver.now() + day);
    const bob = await inLine(cairn, patient('bob'));
    const early = cairn.locks.extend({ lock_id: bob.lock_id, additional_ms: 1000 });
    expect(await refusalOf(early)).toMatchObject({ code: 'STATE_CONFLICT' });
    await cairn.locks.release({ lock_id });
    await bob.lock;
  });

  it('LOCK-8 releasing a lock that is waited for leaves the line, and those behind it move up', async () => {
    const cairn = await test().freshTenant();
    await cairn.locks.acquire(by('ann', shared));
    const bob = await inLine(cairn, patient('bob'));
    const cyn = await inLine(cairn, patient('cyn', shared));
    const stranger = cairn.locks.release({ lock_id: bob.lock_id, releasing_agent_id: 'cyn' });
    expect(await refusalOf(stranger)).toMatchObject({ code: 'FORBIDDEN' });
    expect(await cairn.locks.release({ lock_id: bob.lock_id })).toMatchObject({
      state: 'abandoned',
      fencing_token: null,
    });
    expect(await refusalOf(bob.lock)).toMatchObject(over);
    expect(await cyn.lock).toMatchObject({ state: 'held', fencing_token: 2 });
  });

  it('LOCK-10 a place is kept while it is waited for, and lost when nobody is heard of', async () => {
    const cairn = await test().freshTenant();
    const { tenant_id } = await cairn.auth.whoami();
    const { lock_id } = await cairn.locks.acquire(by('ann', { lease_ms: 600_000 }));
    const bob = await inLine(cairn, patient('bob'));
    // To the clock of the database nothing was heard of bob for a minute; bob asks again, as it still waits.
    test().advance(60_000);
    expect(await expire(test(), tenant_id)).toBe(1);
    await until('the place', async () => (await cairn.locks.get({ lock_id: bob.lock_id })).state === 'waiting');
    await cairn.locks.release({ lock_id });
    expect(await bob.lock).toMatchObject({ lock_id: bob.lock_id, state: 'held', fencing_token: 2 });
  });

  it('LOCK-11 whoever goes away leaves the line, and those behind it move up', async () => {
    const cairn = await test().freshTenant();
    await cairn.locks.acquire(by('ann', shared));
    const going = new AbortController();
    const lock_id = randomUUID();
    const bob = cairn.locks.acquire(patient('bob', { lock_id }), { signal: going.signal });
    bob.catch(() => undefined);
    await until('a place in line', async () => (await cairn.locks.list()).total === 2);
    const cyn = await inLine(cairn, patient('cyn', shared));
    going.abort();
    await expect(bob).rejects.toMatchObject({ name: 'AbortError' });
    expect(await cyn.lock).toMatchObject({ state: 'held' });
    expect(await cairn.locks.get({ lock_id })).toMatchObject({ state: 'abandoned' });
  });

  it('LOCK-12 asking again gives the lock that is held, and refuses another body and one that ended', async () => {
    const cairn = await test().freshTenant();
    const lock_id = randomUUID();
    const asked = by('ann', { lock_id });
    const lock = await cairn.locks.acquire(asked);
    const before = await latestToken(cairn);
    const again = await cairn.locks.acquire({ ...asked, mode: 'Exclusive', timeout_ms: 5, lease_ms: 30_000 });
    expect(again).toEqual(lock);
    expect(await latestToken(cairn)).toBe(before);
    for (const other of [
      { ...asked, resource_id: 'other.ts' },
      { ...asked, holder_agent_id: 'bob' },
      { ...asked, ...shared },
      { ...asked, lease_ms: 1000 },
    ])
      expect(await refusalOf(cairn.locks.acquire(other))).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS', status: 409 });
    await cairn.locks.release({ lock_id });
    expect(await refusalOf(cairn.locks.acquire(asked))).toMatchObject({ code: 'ENTITY_GONE', status: 410 });
  });

  it('LOCK-12 asking again goes on waiting at the same place, also when the first call goes away', async () => {
    const cairn = await test().freshTenant();
    const { lock_id: held } = await cairn.locks.acquire(by('ann'));
    const going = new AbortController();
    const asked = patient('bob', { lock_id: randomUUID() });
    const first = cairn.locks.acquire(asked, { signal: going.signal });
    first.catch(() => undefined);
    await until('a place in line', async () => (await cairn.locks.list()).total === 2);
    const cyn = await inLine(cairn, patient('cyn'));
    const { driver } = test().store;
    const { tenant_id } = await cairn.auth.whoami();
    const keeper = async () => (await findLock(driver.at(tenant_id), asked.lock_id!))!.leased_to;
    const before = await keeper();
    const second = cairn.locks.acquire(asked);
    await until('the second call to take the place over', async () => (await keeper()) !== before);
    going.abort();
    await expect(first).rejects.toMatchObject({ name: 'AbortError' });
    await sleep(50);
    await cairn.locks.release({ lock_id: held });
    expect(await second).toMatchObject({ lock_id: asked.lock_id, holder_agent_id: 'bob', fencing_token: 2 });
    await cairn.locks.release({ lock_id: asked.lock_id! });
    expect(await cyn.lock).toMatchObject({ fencing_token: 3 });
  });

  it('LOCK-12 an Idempotency-Key gives the same lock again, unless the request was refused', async () => {
    const cairn = await test().freshTenant();
    const options = { idempotency_key: randomUUID() };
    const lock = await cairn.locks.acquire(by('ann'), options);
    expect(await cairn.locks.acquire(by('ann'), options)).toEqual(lock);
    const waited = { idempotency_key: randomUUID() };
    const asked = by('bob', { timeout_ms: 50 });
    expect(await refusalOf(cairn.locks.acquire(asked, waited))).toMatchObject(conflict);
    const released = { idempotency_key: randomUUID() };
    const answer = await cairn.locks.release({ lock_id: lock.lock_id }, released);
    expect(await cairn.locks.release({ lock_id: lock.lock_id }, released)).toEqual(answer);
    expect(await refusalOf(cairn.locks.acquire(by('ann'), options))).toMatchObject({ code: 'ENTITY_GONE' });
    expect(await cairn.locks.acquire(asked, waited)).toMatchObject({ holder_agent_id: 'bob', state: 'held' });
  });

  it('LOCK-13 lists have what is held or waited for, and what ended is forgotten after a day', async () => {
    const cairn = await test().freshTenant();
    const locks = [];
    for (const resource_id of ['a', 'b', 'c'])
      locks.push(await cairn.locks.acquire(by('ann', { resource_id, lease_ms: 24 * 3_600_000 })));
    const bob = await cairn.locks.acquire(by('bob', { resource_type: 'row', resource_id: 'a' }));
    const ids = async (filter: Parameters<Api['locks']['list']>[0]) =>
      (await cairn.locks.list(filter)).locks.map(({ lock_id }) => lock_id);
    expect(await ids({ holder_agent_id: 'ann' })).toEqual(locks.map(({ lock_id }) => lock_id));
    expect(await ids({ resource_type: 'row' })).toEqual([bob.lock_id]);
    expect(await ids({ resource_id: 'a' })).toEqual([locks[0]!.lock_id, bob.lock_id]);
    const page = await cairn.locks.list({ limit: 3 });
    expect([page.locks, page.total]).toEqual([locks, 4]);
    expect((await cairn.locks.list({ limit: 3, cursor: page.next_cursor! })).locks).toEqual([bob]);

    const { lock_id } = locks[0]!;
    await cairn.locks.release({ lock_id });
    await cairn.lifetime.sweep();
    expect(await cairn.locks.get({ lock_id })).toMatchObject({ state: 'released' });
    test().advance(24 * 3_600_000);
    await cairn.lifetime.sweep();
    expect(await refusalOf(cairn.locks.get({ lock_id }))).toMatchObject({ code: 'LOCK_NOT_FOUND' });
    expect(await cairn.locks.acquire(by('bob', { resource_id: 'a' }))).toMatchObject({ fencing_token: 2 });
  });

  it('LOCK-14 every move is an event with resource, holder and token', async () => {
    const cairn = await test().freshTenant();
    const before = await latestToken(cairn);
    const { lock_id } = await cairn.locks.acquire(by('ann'));
    await refusalOf(cairn.locks.acquire(by('bob', { timeout_ms: 20 })));
    const cyn = await inLine(cairn, patient('cyn'));
    await cairn.locks.extend({ lock_id, additional_ms: 1000 });
    await cairn.locks.release({ lock_id });
    await cyn.lock;
    const events = await followToNow(cairn, before);
    const told = events.map(({ packet_type, payload }) => {
      const { holder_agent_id, fencing_token } = payload as Record<string, unknown>;
      return `${packet_type.slice(11)} ${holder_agent_id} ${fencing_token}`;
    });
    expect(told).toEqual([
      'acquired ann 1',
      'waiting bob null',
      'abandoned bob null',
      'waiting cyn null',
      'released ann 1',
      'acquired cyn 2',
    ]);
    expect(events[0]!.payload).toMatchObject({ ...file, mode: 'Exclusive', entity: { type: 'Lock', id: lock_id } });
  });

  it('LOCK-15 an agent that falls silent, or is unregistered, gives up what it holds and waits for', async () => {
    const cairn = await test().freshTenant();
    const { tenant_id } = await cairn.auth.whoami();
    for (const agent_id of ['ann', 'bob'])
      await cairn.agents.register({ agent_id, agent_type: 'a', capabilities: ['x'], offline_after_ms: 60_000 });
    const { lock_id } = await cairn.locks.acquire(by('ann', { lease_ms: 600_000 }));
    const bob = await inLine(cairn, patient('bob'));
    const cyn = await inLine(cairn, patient('cyn'));
    await cairn.agents.unregister({ agent_id: 'bob' });
    expect(await refusalOf(bob.lock)).toMatchObject(over);
    await cairn.agents.unregister({ agent_id: 'ann' });
    expect(await cyn.lock).toMatchObject({ holder_agent_id: 'cyn', fencing_token: 2 });
    expect(await cairn.locks.get({ lock_id })).toMatchObject({ state: 'released' });

    await cairn.agents.register({ agent_id: 'dan', agent_type: 'a', capabilities: ['x'], offline_after_ms: 60_000 });
    const dan = await cairn.locks.acquire(by('dan', { resource_id: 'other.ts', lease_ms: 600_000 }));
    test().advance(60_000);
    await expire(test(), tenant_id);
    expect(await cairn.locks.get({ lock_id: dan.lock_id })).toMatchObject({ state: 'released' });
  });
});
