/** Writes that wait are bounded by bytes: 20,000 here. */
import { expect, it } from 'vitest';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const content = 'x'.repeat(1000);

onEveryTarget(
  'waiting writes',
  (test) => {
    it('TX-7 refuses more bytes than may wait, and takes writes again when those have gone', async () => {
      const cairn = await test().freshTenant();
      // Not atomic: each card is a write of its own, and all come at once.
      const cards = Array.from({ length: 40 }, (_, i) => ({ card_id: `c${i}`, content }));
      const { results, succeeded, failed } = await cairn.cards.add_batch({ cards });
      expect([succeeded, failed]).toEqual([19, 21]);
      expect(results.slice(19)).toEqual(
        Array(21).fill({
          status: 'error',
          code: 'OVERLOADED',
          message: expect.stringMatching(/^writes of 19\d{3} bytes are already waiting/),
        }),
      );
      expect((await cairn.cards.list()).total).toBe(19);
      expect(test().store.figures()).toMatchObject({ writes_waiting: 0, writes_waiting_bytes: 0 });
      expect((await cairn.cards.add_batch({ cards: cards.slice(19, 38) })).succeeded).toBe(19);
    });

    it('TX-7 counts what a batch writes together, but takes a large one when nothing else waits', async () => {
      const cairn = await test().freshTenant();
      const { driver } = test().store;
      const packet = { packet_type: 'p', payload: { content } };
      const packets = Array.from({ length: 40 }, () => packet);
      expect((await cairn.packets.write_batch({ packets })).results).toHaveLength(40);
      const cards = Array.from({ length: 40 }, () => ({ content }));
      expect((await cairn.cards.add_batch({ cards, atomic: true })).succeeded).toBe(40);
      const idle = async () => null;
      const waiting = driver.write('default', idle, { bytes: 30_000 });
      expect(await refusalOf(driver.write('default', idle, { bytes: 1 }))).toMatchObject({ code: 'OVERLOADED' });
      // What brings nothing along takes no room.
      await Promise.all([waiting, driver.write('default', idle)]);
      await driver.write('default', idle, { bytes: 1 });
      await expect(driver.write('default', () => Promise.reject(new Error('no')), { bytes: 15_000 })).rejects.toThrow(
        'no',
      );
      expect(test().store.figures()).toMatchObject({ writes_waiting: 0, writes_waiting_bytes: 0 });
    });
  },
  { limits: { max_waiting_bytes: 20_000 } },
);
