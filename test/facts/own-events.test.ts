/** Cairn's own events among packets: found, streamed and checked like them, though stored as columns. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import type { Packet } from '#cairn/facts/packets/model.js';
import type { Json, JsonObject } from '#cairn/kernel/contract.js';
import { canonical, sha256 } from '#cairn/kernel/node.js';
import { examine } from '#cairn/maintenance/index.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

/** The packets of users and events of two agents, in one thread and none; all of them, in order of seq. */
async function mixture(cairn: Api, ann: Api): Promise<{ packets: Packet[]; trajectory_id: string }> {
  const { trajectory_id } = await ann.trajectories.create({ name: 't' });
  const { scope_id } = await ann.scopes.create({ trajectory_id, name: 's' });
  await ann.turns.add({ scope_id, role: 'User', content: 'one' });
  await cairn.packets.write({ packet_type: 'event', payload: {}, thread_id: trajectory_id, tags: ['x'] });
  await cairn.packets.write({ packet_type: 'event', payload: {}, provenance: { source: 'cairn' } });
  await cairn.packets.write({ packet_type: 'event', payload: {}, provenance: { source: 'api' } });
  await cairn.packets.write({ packet_type: 'old', payload: {}, timestamp: '2020-01-01T00:00:00Z' });
  await ann.packets.write({ packet_type: 'event', payload: { a: 1 } });
  await cairn.boxes.create({ box_id: 'b' });
  const { packets } = await cairn.packets.list({ order: 'asc', limit: 500 });
  return { packets, trajectory_id };
}

onEveryTarget('own events', (test) => {
  const callers = async () => {
    const { as, freshTenant } = test();
    const cairn = await freshTenant();
    const { tenant_id: tenant } = await cairn.auth.whoami();
    return { cairn, tenant, ann: await as({ tenant, agent: 'ann', role: 'write' }) };
  };

  it('EVENT-10 filters find own events and packets of users alike', async () => {
    const { cairn, ann } = await callers();
    const { packets, trajectory_id } = await mixture(cairn, ann);
    expect(packets.filter(({ packet_type }) => packet_type.startsWith('cairn.')).length).toBeGreaterThan(3);
    const middle = packets.find(({ packet_type }) => packet_type === 'cairn.turn.added')!.timestamp;
    const filters: readonly [Parameters<Api['packets']['list']>[0] & object, (packet: Packet) => boolean][] = [
      [{ packet_type: 'cairn.turn.added' }, ({ packet_type }) => packet_type === 'cairn.turn.added'],
      [{ thread_id: trajectory_id }, ({ thread_id }) => thread_id === trajectory_id],
      [{ agent: 'ann' }, ({ metadata }) => metadata?.agent === 'ann'],
      [{ source: 'cairn' }, ({ provenance }) => provenance?.source === 'cairn'],
      [{ source: 'api' }, ({ provenance }) => provenance?.source === 'api'],
      [{ source: 'cairn', packet_type: 'event' }, (p) => p.provenance?.source === 'cairn' && p.packet_type === 'event'],
      [{ since: middle }, ({ timestamp }) => timestamp >= middle],
      [{ until: middle }, ({ timestamp }) => timestamp < middle],
      [{ since: '2021-01-01T00:00:00Z', until: middle }, ({ timestamp }) => timestamp >= '2021' && timestamp < middle],
      [{ tag: 'x' }, ({ tags }) => tags?.includes('x') === true],
    ];
    for (const [filter, fits] of filters) {
      const found = await cairn.packets.list({ ...filter, order: 'asc', limit: 500 });
      const expected = packets.filter(fits);
      expect(expected.length, JSON.stringify(filter)).toBeGreaterThan(0);
      expect(found.packets, JSON.stringify(filter)).toEqual(expected);
      expect(found.total).toBe(expected.length);
    }
  });

  it('EVENT-10 the hash of an own event is that of its envelope', async () => {
    const { cairn, ann } = await callers();
    for (const { seq: _, recorded_at: __, content_hash, ...envelope } of (await mixture(cairn, ann)).packets)
      expect(content_hash).toBe(sha256(canonical(envelope as unknown as Json)));
  });

  it('EVENT-10 an own event is read by its id, is its own root, and can have children', async () => {
    const { cairn, ann } = await callers();
    const { packets } = await mixture(cairn, ann);
    const own = packets.find(({ packet_type }) => packet_type === 'cairn.turn.added')!;
    const { packet_id } = own;
    expect(await cairn.packets.get({ packet_id })).toEqual(own);
    const { seq: _, recorded_at: __, content_hash: ___, ...envelope } = own;
    expect(await cairn.packets.original({ packet_id })).toEqual(envelope as unknown as JsonObject);
    const child = await cairn.packets.write({ packet_type: 'e', payload: {}, lineage: { parent_ids: [packet_id] } });
    const written = await cairn.packets.get({ packet_id: child.packet_id });
    expect(written.lineage).toEqual({ parent_ids: [packet_id], generation: 1, root_packet_id: packet_id });
    const ancestors = await cairn.packets.lineage({ packet_id: child.packet_id });
    expect(ancestors.packets).toEqual([{ ...own, depth: 1 }]);
    const descendants = await cairn.packets.lineage({ packet_id, direction: 'descendants' });
    expect(descendants.packets).toEqual([{ ...written, depth: 1 }]);
    const same = { packet_id, packet_type: 'e', payload: {} };
    expect(await refusalOf(cairn.packets.write(same))).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS' });
    expect(await refusalOf(cairn.packets.get({ packet_id: randomUUID() }))).toMatchObject({ code: 'PACKET_NOT_FOUND' });
  });

  it('EVENT-11 the doctor finds an own event of which a column was altered', async () => {
    const { cairn, ann, tenant } = await callers();
    const { packets } = await mixture(cairn, ann);
    const { driver } = test().store;
    const altered = async () => {
      for await (const { check, problems } of examine(driver))
        if (check === `${tenant}: packets hold what their hashes say`) return problems;
      throw new Error('the doctor made no such check');
    };
    expect(await altered()).toEqual([]);
    const { packet_id } = packets.find(({ packet_type }) => packet_type === 'cairn.turn.added')!;
    const row = sql`tenant_id = ${tenant} AND packet_id = ${packet_id}`;
    for (const [alter, restore] of [
      [sql`facts = REPLACE(facts, 'sequence', 'Sequence')`, sql`facts = REPLACE(facts, 'Sequence', 'sequence')`],
      [sql`timestamp = timestamp + 1`, sql`timestamp = timestamp - 1`],
      [sql`agent = 'bob'`, sql`agent = 'ann'`],
      [sql`entity_type = 'note'`, sql`entity_type = 'turn'`],
      [sql`format = NULL`, sql`format = 1`],
    ] as const) {
      await driver.write(tenant, (tx) => tx.run(sql`UPDATE packet_store SET ${alter} WHERE ${row}`));
      expect(await altered()).toEqual([packet_id]);
      await driver.write(tenant, (tx) => tx.run(sql`UPDATE packet_store SET ${restore} WHERE ${row}`));
      expect(await altered()).toEqual([]);
    }
  });
});
