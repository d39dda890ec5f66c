/** Events about a box are for those who may see the box, whichever way they are read. */
import { expect, it } from 'vitest';
import { onEveryTarget, refusalOf } from '../support/targets.js';

onEveryTarget('events of boxes', (test) => {
  it('an event about a box can be read by those who may see the box, by any way', async () => {
    const tenant = (await (await test().freshTenant()).auth.whoami()).tenant_id;
    const [admin, owner, other] = await Promise.all([
      test().as({ tenant }),
      test().as({ tenant, agent: 'owner' }),
      test().as({ tenant, agent: 'other' }),
    ]);
    const box = await owner.boxes.create({});
    const { packets } = await admin.packets.list({ packet_type: 'cairn.box.created' });
    const { packet_id } = packets[0]!;
    const child = await admin.packets.write({ packet_type: 'note', payload: {}, lineage: { parent_ids: [packet_id] } });
    const missing = { code: 'PACKET_NOT_FOUND', status: 404 };
    expect(await refusalOf(other.packets.get({ packet_id }))).toMatchObject(missing);
    expect(await refusalOf(other.packets.original({ packet_id }))).toMatchObject(missing);
    expect(await refusalOf(other.packets.lineage({ packet_id }))).toMatchObject(missing);
    expect((await other.packets.lineage({ packet_id: child.packet_id })).packets).toEqual([]);
    expect((await owner.packets.lineage({ packet_id: child.packet_id })).packets).toHaveLength(1);
    expect((await owner.packets.get({ packet_id })).packet_id).toBe(packet_id);

    await owner.boxes.grant({ box_id: box.box_id, agent_id: 'other' });
    expect((await other.packets.get({ packet_id })).packet_id).toBe(packet_id);
  });
});
