/** Wrong keys: logged and slowed down, and nobody else is held up by them. */
import { afterEach, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import { createServer } from '#cairn/http/server.js';
import { clientOf } from '#cairn/http/wrong-keys.js';
import { send } from '../support/http.js';
import { freshDatabase } from '../support/targets.js';

const PER_MINUTE = 3;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start() {
  const { database, drop } = await freshDatabase('sqlite');
  closing.push(drop);
  const store = await Store.open({ database, sweep_every_ms: 0 });
  closing.push(() => store.close());
  const log: string[] = [];
  const server = createServer(store, {
    version: 'test',
    log: (line) => log.push(line),
    wrong_keys_per_minute: PER_MINUTE,
  });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  closing.push(() => server.close());
  const admin = store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
  const { key, key_id } = await admin.keys.create({ role: 'admin' });
  const ask = (secret: string, path = '/api/v1/whoami') =>
    send(port, { method: 'GET', path, headers: { authorization: `Bearer ${secret}` } });
  return { admin, key, key_id, ask, log, port, server };
}

const statuses = (replies: readonly { status: number }[]) => replies.map(({ status }) => status);

describe('wrong keys', () => {
  it('AUTH-1 are logged with the address and the route, and never with the key', async () => {
    const { ask, log, admin, key, key_id } = await start();
    await ask('cairn_nonsense-of-a-key', '/api/v1/notes?title=private');
    await admin.keys.revoke({ key_id });
    await ask(key);
    expect(log).toEqual([
      'wrong key from 127.0.0.1 for GET /api/v1/notes (1 within a minute)',
      'wrong key from 127.0.0.1 for GET /api/v1/whoami (2 within a minute)',
    ]);
  });

  it('AUTH-2 beyond a few are answered late or refused, while a good key passes at once', async () => {
    const { ask, log, key } = await start();
    for (let i = 0; i < PER_MINUTE; i++) expect((await ask(`wrong-${i}`)).status).toBe(401);
    let answered = 0;
    const late = Array.from({ length: 40 }, (_, i) =>
      ask(`guess-${i}`).then((reply) => {
        if (reply.status === 401) answered++;
        return reply;
      }),
    );
    const refused = await Promise.any(
      late.map(async (one) => ((await one).status === 429 ? one : Promise.reject(new Error('late')))),
    );
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    // Those that wait still wait, and a good key from the same address does not.
    const before = answered;
    expect((await ask(key)).status).toBe(200);
    expect(answered - before).toBeLessThanOrEqual(2);
    const all = statuses(await Promise.all(late));
    // Eight wait at a time. A place is free again every 250 ms, which lets in a few more where the 40 arrive slowly.
    const waited = all.filter((status) => status === 401).length;
    expect(waited).toBeGreaterThanOrEqual(8);
    expect(waited).toBeLessThan(20);
    expect(all.filter((status) => status === 429)).toHaveLength(40 - waited);
    expect((await ask(key)).status).toBe(200);
    // Once they were answered nobody waits, and the next is late instead of refused.
    expect((await ask('one-more')).status).toBe(401);
    // A flood does not fill the log.
    expect(log.length).toBeLessThan(12);
    expect(log.at(-1)).toMatch(/\(\d+ within a minute\)$/);
    expect(log.join('\n')).not.toMatch(/guess/);
  });

  it('AUTH-2 a server that stops lets none of them wait', async () => {
    const { ask, log, server } = await start();
    for (let i = 0; i < PER_MINUTE; i++) await ask('wrong');
    const late = ask('wrong');
    await expect.poll(() => log).toHaveLength(PER_MINUTE + 1);
    await server.close();
    expect((await late).status).toBe(401);
  });

  it('AUTH-2 counts by client: an address, or the network that IPv6 gives to one', () => {
    expect(clientOf('203.0.113.7')).toBe('203.0.113.7');
    expect(clientOf('::ffff:203.0.113.7')).toBe('203.0.113.7');
    expect(clientOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
    expect(clientOf('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64');
    expect(clientOf('2001:db8::9')).toBe('2001:db8:0:0::/64');
    expect(clientOf('::1')).toBe('0:0:0:0::/64');
    expect(clientOf(undefined)).toBe('unknown');
  });
});
