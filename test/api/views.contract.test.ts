/** One open store for many tenants: views that open nothing. */
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCairn, openCairn } from '#cairn/cairndb.js';
import { databases } from '../support/http.js';
import { freshDatabase } from '../support/targets.js';

const TENANTS = 1000;
const AT_A_TIME = 50;

/** Open files, sockets and pipes of this process. */
const handles = (): number => readdirSync('/proc/self/fd').length;

describe.each(databases())('tenants of one open store on %s', (kind) => {
  let database: { database: string; drop(): Promise<void> };
  let cairn: LocalCairn;

  beforeAll(async () => {
    database = await freshDatabase(kind);
    cairn = await openCairn({ database: database.database, sweep_every_ms: 0, count_every_ms: 0 });
  });
  afterAll(async () => {
    await cairn.close();
    await database.drop();
  });

  it('LIB-4 1,000 tenants share the connections of one store, and nothing else', async () => {
    const names = Array.from({ length: TENANTS }, (_, i) => `tenant-${i}`);
    // The pool has all its connections after so many calls at once.
    await Promise.all(
      names.slice(0, AT_A_TIME).map((name) => cairn.tenant(name).remember(`The key of ${name} is here.`)),
    );
    const before = handles();
    for (let i = AT_A_TIME; i < TENANTS; i += AT_A_TIME)
      await Promise.all(
        names.slice(i, i + AT_A_TIME).map((name) => cairn.tenant(name).remember(`The key of ${name} is here.`)),
      );
    expect(handles() - before).toBeLessThanOrEqual(1);
    for (const name of ['tenant-0', 'tenant-499', 'tenant-999']) {
      const { passages } = await cairn.tenant(name).recall('Where is the key?');
      expect(passages.map(({ text }) => text)).toEqual([`The key of ${name} is here.`]);
    }
    expect((await cairn.recall('Where is the key?')).passages).toEqual([]);
  });

  it('LIB-4 the first call creates the tenant, and a tenant has users', async () => {
    const acme = cairn.tenant('acme');
    const first = await Promise.all([acme.auth.whoami({}), acme.notes.list({}), acme.cards.add({ content: 'x' })]);
    expect(first[0]).toMatchObject({ tenant_id: 'acme', role: 'admin' });
    await acme.for({ user: 'anna' }).remember('Anna drinks green tea.');
    const heardBy = async (user: string) =>
      (await acme.for({ user }).recall('green tea')).passages.map(({ text }) => text);
    expect(await heardBy('ben')).toEqual(['x']);
    expect(await heardBy('anna')).toEqual(['Anna drinks green tea.', 'x']);
    expect(() => cairn.tenant('not a name!')).toThrow('tenant');
  });
});
