/** The doctor on messages: nothing to say of healthy ones, and each of its questions finds what it is for. */
import { expect, it } from 'vitest';
import { messageChecks } from '#cairn/coordination/messages/doctor.js';
import { type Sql, sql } from '#cairn/driver/index.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { register } from '../support/nouns/messages.js';
import { onEveryTarget } from '../support/targets.js';

onEveryTarget('the doctor on messages', (test) => {
  it.each<[string, (tenant: string, message_id: string) => Sql, string[]]>([
    ['healthy ones', (tenant) => sql`SELECT ${tenant} AS tenant_id`, []],
    [
      'a delivery of nothing',
      (tenant, id) => sql`DELETE FROM messages WHERE tenant_id = ${tenant} AND message_id = ${id}`,
      ['message <id> in agent:bob'],
    ],
    [
      'a delivery of what was erased',
      (tenant, id) => sql`UPDATE messages SET erased_at = 1 WHERE tenant_id = ${tenant} AND message_id = ${id}`,
      ['message <id> in agent:bob'],
    ],
    [
      'a wrong count of those that had it',
      (tenant, id) => sql`UPDATE messages SET acknowledged = 1 WHERE tenant_id = ${tenant} AND message_id = ${id}`,
      ['message <id> counts 1 of 1, there are 0 of 1'],
    ],
    [
      'a lease of what is not there',
      (tenant) => sql`UPDATE leases SET subject_id = 'agent:bob 0' WHERE tenant_id = ${tenant} AND kind = 'message'`,
      ['a lease of message agent:bob 0'],
    ],
  ])('MSG-1 %s', async (_, harm, expected) => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const { store } = test();
    await register(store, tenant, 'clerk', 'bob');
    const sent = { to_agent_id: 'bob', message_type: 'note', payload: 'x' };
    const done = await cairn.messages.send(sent);
    const { message_id } = await cairn.messages.send(sent);
    await cairn.messages.receive({ agent_id: 'bob' });
    await cairn.messages.acknowledge({ message_id: done.message_id, agent_id: 'bob' });
    await store.driver.write(tenant, (tx) => tx.send(harm(tenant, message_id)));
    const found = [];
    for (const { broken } of messageChecks)
      found.push(...(await store.driver.long<{ what: string }>(tenant, broken())));
    expect(found.map(({ what }) => what.replace(message_id, '<id>'))).toEqual(expected);
  });
});
