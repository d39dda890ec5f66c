/** What a sweep leaves in the tables, and what it tells. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { sql } from '#cairn/driver/index.js';
import { checks } from '#cairn/maintenance/checks.js';
import { followToNow, inFuture, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const MINUTE = 60_000;

onEveryTarget('sweep', (test) => {
  it('LIFE-6 a sweep that only finds pinned cards appends nothing, and notes each once', async () => {
    const cairn = await test().freshTenant();
    const { driver } = test().store;
    const { tenant_id } = await cairn.auth.whoami();
    for (const card_id of ['a', 'b']) await cairn.cards.add({ card_id, content: card_id, ttl_seconds: 60 });
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a', 'b'] });
    await cairn.boxes.seal({ box_id: 'x' });
    await cairn.cards.add({ card_id: 'c', ttl_seconds: 600 });
    await cairn.boxes.create({ box_id: 'y', card_ids: ['c'] });
    await cairn.boxes.seal({ box_id: 'y' });
    const noted = async () => {
      const rows = await driver
        .at(tenant_id)
        .all<{ card_id: string }>(
          sql`SELECT card_id FROM cards WHERE tenant_id = ${tenant_id} AND kept_at IS NOT NULL ORDER BY card_id`,
        );
      return rows.map(({ card_id }) => card_id).join('');
    };
    const start = await latestToken(cairn);
    expect([await noted(), (await cairn.lifetime.sweep()).cards_kept]).toEqual(['', 0]);
    test().advance(2 * MINUTE);
    expect([(await cairn.lifetime.sweep()).cards_kept, await noted()]).toEqual([2, 'ab']);
    test().advance(20 * MINUTE);
    expect([(await cairn.lifetime.sweep()).cards_kept, await noted()]).toEqual([1, 'abc']);
    expect((await cairn.lifetime.sweep()).cards_kept).toBe(0);
    expect(await latestToken(cairn)).toBe(start);
    const { cards } = await cairn.boxes.cards({ box_id: 'x' });
    expect(cards.map(({ content }) => content)).toEqual(['a', 'b']);
  });

  it('LIFE-4 sweeps at the same time erase and tell everything once', async () => {
    const cairn = await test().freshTenant();
    const cards = Array.from({ length: 150 }, (_, i) => ({ content: i, ttl_seconds: 60 }));
    await cairn.cards.add_batch({ cards, atomic: true });
    const ttl = inFuture(test(), MINUTE);
    const packets = cards.map(() => ({ packet_type: 'p', payload: {}, tags: ['t'], ttl }));
    await cairn.packets.write_batch({ packets });
    const early = await latestToken(cairn);
    test().advance(2 * MINUTE);
    const sum = (counts: unknown[]) => counts.reduce<number>((total, count) => total + Number(count), 0);
    const answers = await Promise.all([1, 2, 3].map(() => cairn.lifetime.sweep()));
    expect(sum(answers.map(({ cards_erased }) => cards_erased))).toBe(150);
    expect(sum(answers.map(({ packets_erased }) => packets_erased))).toBe(150);
    const events = await followToNow(cairn, early);
    expect(sum(events.map(({ payload }) => payload!.cards_erased))).toBe(150);
    expect(sum(events.map(({ payload }) => payload!.packets_erased))).toBe(150);
  });

  it('LIFE-5 nothing that a card or packet said or was found by is left in its row', async () => {
    const cairn = await test().freshTenant();
    const { driver } = test().store;
    const { tenant_id } = await cairn.auth.whoami();
    await cairn.cards.add({ card_id: 'base' });
    await cairn.cards.add({
      card_id: 'a',
      content: 'said',
      metadata: { role: 'tool' },
      tool_calls: [{ id: 'call' }],
      tool_call_id: 'call',
      author_id: 'ann',
      subject_ids: ['s'],
      derived_from: ['base'],
      ttl_seconds: 60,
    });
    await cairn.packets.write({
      packet_id: randomUUID(),
      packet_type: 'p',
      payload: { said: 1 },
      metadata: { agent: 'ann' },
      provenance: { source: 'api' },
      subject_ids: ['s'],
      tags: ['t'],
      ttl: inFuture(test(), MINUTE),
    });
    // An envelope of an old version is kept twice: as it was sent, and as it is read today.
    const old = randomUUID();
    await cairn.packets.write({
      packet_id: old,
      packet_type: 'old',
      payload: { said: 1 },
      metadata: { schema_version: '1.0.0' },
    });
    // Those versions have no ttl to send, so its time is set where every other way to end it would set it.
    const expires_at = driver.now() + MINUTE;
    await driver.write(tenant_id, (tx) =>
      tx.run(
        sql`UPDATE packet_store SET expires_at = ${expires_at} WHERE tenant_id = ${tenant_id} AND packet_id = ${old}`,
      ),
    );
    const query = driver.at(tenant_id);
    const original = sql`SELECT original FROM packet_store WHERE tenant_id = ${tenant_id} AND packet_id = ${old}`;
    expect(await query.all(original)).toEqual([{ original: expect.stringContaining('1.0.0') }]);
    test().advance(2 * MINUTE);
    await cairn.lifetime.sweep();
    const card = await query.get<Record<string, unknown>>(
      sql`SELECT content, tool_calls, tool_call_id, metadata, author_id, subject_ids, derived_from, sent_hash FROM cards
          WHERE tenant_id = ${tenant_id} AND card_id = 'a' AND erased_at IS NOT NULL`,
    );
    const packet = await query.get<Record<string, unknown>>(
      sql`SELECT envelope, original, agent, source, subject_ids, sent_hash FROM packet_store
          WHERE tenant_id = ${tenant_id} AND packet_type = 'p' AND erased_at IS NOT NULL`,
    );
    for (const row of [card, packet]) expect(Object.values(row!).every((value) => value === null)).toBe(true);
    expect(await query.all(original)).toEqual([{ original: null }]);
    expect(await refusalOf(cairn.packets.original({ packet_id: old }))).toMatchObject({
      code: 'CONTENT_ERASED',
      status: 410,
    });
    const check = checks.find(({ name }) => name === 'erased cards and packets hold no content')!;
    expect(await query.all(check.broken())).toEqual([]);
    await driver.write(tenant_id, (tx) =>
      tx.run(sql`UPDATE packet_store SET agent = 'ann' WHERE tenant_id = ${tenant_id} AND packet_type = 'p'`),
    );
    expect(await query.all(check.broken())).toHaveLength(1);
  });
});
