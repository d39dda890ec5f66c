/** What a tenant holds, how it grew, and whether it is sound. */
import { expect, it } from 'vitest';
import { sql, TENANT } from '#cairn/driver/index.js';
import { onEveryTarget } from '../support/targets.js';

onEveryTarget('store figures', (test) => {
  it('STORE-1 counts every kind of one tenant, and the bytes of its content', async () => {
    const [cairn, other] = [await test().freshTenant(), await test().freshTenant()];
    const empty = await cairn.store.stats();
    // Over HTTP a tenant begins with the event of its key.
    expect(empty.kinds.filter(({ kind, total }) => total > 0 && kind !== 'packet')).toEqual([]);
    expect(empty.index).toEqual({ documents: 0, tail: 0, hidden: 0, segments: 0, bytes: 0 });
    await other.cards.add({ card_id: 'x', content: 'of another tenant' });
    // 9 bytes as JSON in UTF-8: the quotes, and two bytes for each of the accents.
    await cairn.cards.add({ card_id: 'a', content: 'éàabc' });
    await cairn.boxes.create({ box_id: 'b', card_ids: ['a'] });
    await cairn.packets.write({ packet_type: 'p', payload: {} });
    await cairn.memory.remember({ text: 'Anna prefers tea.' });
    const { kinds, index } = await cairn.store.stats();
    const of = (kind: string) => kinds.find((one) => one.kind === kind)!;
    expect(of('card').total).toBe(2);
    expect(of('card').bytes).toBe(9 + JSON.stringify('Anna prefers tea.').length);
    expect([of('box').total, of('note').total, of('artifact').total]).toEqual([1, 1, 0]);
    expect(of('packet').total).toBe((await cairn.packets.list({ limit: 1 })).total);
    expect(index.documents).toBe(index.tail);
    expect(index.documents).toBeGreaterThan(0);
  });

  it('STORE-2 tells how the log grew by its first, its newest and evenly numbered events', async () => {
    const cairn = await test().freshTenant();
    const before = (await cairn.store.growth({ points: 5 })).points.length;
    for (let i = before; i < 21; i++) {
      test().advance(1000);
      await cairn.packets.write({ packet_type: 'p', payload: { i } });
    }
    const { points } = await cairn.store.growth({ points: 5 });
    expect(points.map(({ events }) => events)).toEqual([1, 6, 11, 16, 21]);
    const { packets } = await cairn.packets.list({ order: 'asc' });
    expect(points.map(({ at }) => at)).toEqual([0, 5, 10, 15, 20].map((i) => packets[i]!.recorded_at));
    expect((await cairn.store.growth({ points: 500 })).points).toHaveLength(21);
  });

  it('STORE-3 finds damage of the calling tenant alone', async () => {
    const [cairn, other] = [await test().freshTenant(), await test().freshTenant()];
    await cairn.cards.add({ card_id: 'sound', content: 'as it was' });
    await other.cards.add({ card_id: 'broken', content: 'as it was' });
    const { tenant_id } = await other.auth.whoami();
    await test().store.driver.write(tenant_id, (tx) =>
      tx.run(sql`UPDATE cards SET content = '"forged"' WHERE tenant_id = ${TENANT} AND card_id = 'broken'`),
    );
    const sound = await cairn.store.check();
    expect(sound.findings.filter(({ ok }) => !ok)).toEqual([]);
    expect(sound.healthy).toBe(true);
    const damaged = await other.store.check();
    expect(damaged.healthy).toBe(false);
    expect(damaged.findings.filter(({ ok }) => !ok).map(({ problems }) => problems)).toContainEqual(['broken']);
    expect(damaged.findings.length).toBe(sound.findings.length);
  });
});
