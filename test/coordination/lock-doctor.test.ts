/** The doctor on locks: nothing to say of healthy ones, and each of its questions finds what it is for. */
import { expect, it } from 'vitest';
import { lockChecks } from '#cairn/coordination/locks/doctor.js';
import { type Sql, sql } from '#cairn/driver/index.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { onEveryTarget } from '../support/targets.js';

onEveryTarget('the doctor on locks', (test) => {
  it.each<[string, (tenant: string, lock_id: string) => Sql, string[]]>([
    ['healthy ones', (tenant) => sql`SELECT ${tenant} AS tenant_id`, []],
    [
      'two that hold one resource',
      (tenant, lock_id) => sql`UPDATE locks SET resource_id = 'a' WHERE tenant_id = ${tenant} AND lock_id = ${lock_id}`,
      ['file a is held by 2'],
    ],
    [
      'one without a lease',
      (tenant, lock_id) => sql`DELETE FROM leases WHERE tenant_id = ${tenant} AND subject_id = ${lock_id}`,
      ['lock <id> has no lease'],
    ],
    [
      'a token beyond the last',
      (tenant, lock_id) => sql`UPDATE locks SET token = 5 WHERE tenant_id = ${tenant} AND lock_id = ${lock_id}`,
      ['lock <id> has token 5, the last one is 1'],
    ],
  ])('LOCK-1 LOCK-9 %s', async (_, harm, expected) => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const { driver } = test().store;
    await cairn.locks.acquire({ resource_type: 'file', resource_id: 'a', holder_agent_id: 'ann' });
    const { lock_id } = await cairn.locks.acquire({
      resource_type: 'file',
      resource_id: 'b',
      holder_agent_id: 'bob',
      mode: 'Shared',
    });
    await driver.write(tenant, (tx) => tx.send(harm(tenant, lock_id)));
    const found = [];
    for (const { broken } of lockChecks) found.push(...(await driver.long<{ what: string }>(tenant, broken())));
    expect(found.map(({ what }) => what.replace(lock_id, '<id>'))).toEqual(expected);
  });
});
