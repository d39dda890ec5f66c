import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { connectCairn } from '#cairn/client/index.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

onEveryTarget('keys', (test) => {
  it('KEY-1 a key is shown once, and lists do not show it', async () => {
    const cairn = await test().freshTenant();
    const { tenant_id } = await cairn.auth.whoami();
    const { key, ...created } = await cairn.keys.create({ name: 'dashboard' });
    expect(key).toMatch(/^cairn_[A-Za-z0-9_-]{43}$/);
    expect(created).toMatchObject({ tenant_id, agent_id: null, role: 'write', name: 'dashboard', revoked_at: null });
    const { keys } = await cairn.keys.list();
    expect(keys.find(({ key_id }) => key_id === created.key_id)).toEqual(created);
    expect(JSON.stringify(keys)).not.toContain(key.slice(6));
    const other = await cairn.keys.create({});
    expect(other.key).not.toBe(key);
    const { keys: stored } = await cairn.keys.list();
    expect(stored).toHaveLength(keys.length + 1);
  });

  it.each<[string, object]>([
    ['an unknown role', { role: 'owner' }],
    ['an empty agent', { agent_id: '' }],
    ['an empty name', { name: '' }],
    ['an unknown field', { tenant_id: 'other' }],
  ])('KEY-1 %s is refused', async (_, input) => {
    const cairn = await test().freshTenant();
    const before = (await cairn.keys.list()).keys.length;
    expect(await refusalOf(cairn.keys.create(input))).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
    expect((await cairn.keys.list()).keys).toHaveLength(before);
  });

  it('KEY-2 a key stands for its tenant, role and agent', async () => {
    const { freshTenant, store } = test();
    const cairn = await freshTenant();
    const { tenant_id } = await cairn.auth.whoami();
    for (const [role, agent_id] of [
      ['read', null],
      ['write', 'ann'],
      ['admin', 'bob ü'],
    ] as const) {
      const { key, key_id } = await cairn.keys.create({ role, ...(agent_id === null ? {} : { agent_id }) });
      const caller = { tenant_id, role, agent_id, key_id };
      expect(await store.authenticate(key)).toEqual(caller);
      expect(await store.api(caller).auth.whoami()).toEqual(caller);
      expect(await store.authenticate(`${key}x`)).toBeUndefined();
      expect(await store.authenticate(key_id)).toBeUndefined();
    }
  });

  it('KEY-3 a revoked key is refused from then on', async () => {
    const { freshTenant, store, url } = test();
    const cairn = await freshTenant();
    const { key, key_id } = await cairn.keys.create({ role: 'admin' });
    const client = url === undefined ? undefined : connectCairn({ url, key });
    expect(await store.authenticate(key)).toMatchObject({ key_id });
    await client?.cards.add({ content: 'x' });
    await cairn.keys.revoke({ key_id });
    expect(await store.authenticate(key)).toBeUndefined();
    if (client) {
      expect(await refusalOf(client.cards.add({ content: 'y' }))).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
      await client.close();
    }
    const revoked = async () => (await cairn.keys.list()).keys.find((one) => one.key_id === key_id)?.revoked_at;
    const at = await revoked();
    expect(at).toMatch(/Z$/);
    test().advance(1000);
    await cairn.keys.revoke({ key_id });
    expect(await revoked()).toBe(at);
  });

  it('KEY-3 a key of another tenant, or none, cannot be revoked', async () => {
    const { freshTenant, store } = test();
    const [one, other] = [await freshTenant(), await freshTenant()];
    const { key, key_id } = await one.keys.create({});
    for (const unknown of [key_id, randomUUID()]) {
      expect(await refusalOf(other.keys.revoke({ key_id: unknown }))).toMatchObject({
        code: 'KEY_NOT_FOUND',
        status: 404,
      });
    }
    expect(await store.authenticate(key)).toMatchObject({ key_id });
    expect((await other.keys.list()).keys.map((listed) => listed.key_id)).not.toContain(key_id);
  });

  it('KEY-4 a key travels in one of two headers', async (context) => {
    const { url, freshTenant } = test();
    if (url === undefined) return context.skip('about HTTP alone');
    const cairn = await freshTenant();
    const { tenant_id } = await cairn.auth.whoami();
    const { key } = await cairn.keys.create({});
    const { key: another } = await cairn.keys.create({});
    const ask = async (headers: Record<string, string>) => {
      const response = await fetch(`${url}/api/v1/whoami`, { headers });
      const body = (await response.json()) as { tenant_id?: string; code?: string };
      return [response.status, body.tenant_id ?? body.code];
    };
    const good: Record<string, string>[] = [
      { authorization: `Bearer ${key}` },
      { authorization: `bearer  ${key}` },
      { 'x-api-key': key },
      { authorization: `Bearer ${key}`, 'x-api-key': key },
    ];
    for (const headers of good) {
      expect(await ask(headers)).toEqual([200, tenant_id]);
    }
    const bad: Record<string, string>[] = [
      {},
      { authorization: 'Bearer nonsense' },
      { authorization: `Basic ${key}` },
      { authorization: '' },
      { 'x-api-key': '' },
      { authorization: `Bearer ${key}`, 'x-api-key': another },
    ];
    for (const headers of bad) {
      expect(await ask(headers)).toEqual([401, 'UNAUTHORIZED']);
    }
  });

  it('KEY-6 a key that acts as one agent does not manage keys', async () => {
    const { as } = test();
    const admin = await as({ tenant: 'key-5' });
    const bound = await as({ tenant: 'key-5', agent: 'scout', role: 'admin' });
    const { key_id } = await admin.keys.create({});
    const before = await admin.keys.list();
    const calls = [bound.keys.create({}), bound.keys.list(), bound.keys.revoke({ key_id })];
    for (const refusal of await Promise.all(calls.map(refusalOf)))
      expect(refusal).toMatchObject({ code: 'FORBIDDEN', status: 403 });
    expect(await admin.keys.list()).toEqual(before);
  });
});
