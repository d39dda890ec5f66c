/** A sweep beside slow writes: its transactions become small, whatever expired, and so keep others waiting less. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDriver, Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import type { Tx, WriteOptions } from '#cairn/driver/index.js';
import { nextBatch } from '#cairn/engine/index.js';
import { sleep } from '../support/server.js';
import { FaultyDriver } from '../support/stand-ins/faulty-driver.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const DAY = 86_400_000;
const SLOW_MS = 60;
const COUNT = 40;
const times = <T>(work: (i: number) => T): T[] => Array.from({ length: COUNT }, (_, i) => work(i));

/** Every write takes a while once it is set to. */
class SlowDriver extends FaultyDriver {
  slow_ms = 0;
  writes = 0;

  override async write<T>(tenant: string, work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T> {
    this.writes++;
    if (this.slow_ms > 0) await sleep(this.slow_ms);
    return super.write(tenant, work, options);
  }
}

it('LIFE-4 a batch that took long is followed by a smaller one, a quick one by one of twice its size at most', () => {
  expect(nextBatch(20, 0)).toBe(40);
  expect(nextBatch(20, 8)).toBe(20);
  expect(nextBatch(40, 16)).toBe(20);
  expect(nextBatch(20, 1000)).toBe(5);
  expect(nextBatch(800, 0)).toBe(1000);
});

for (const kind of ['sqlite', 'postgres'] as const) {
  describe.skipIf(!targetNames().includes(kind))(`a sweep beside slow writes on ${kind}`, () => {
    let driver: SlowDriver;
    let store: Store;
    let cairn: Api;
    let drop = async () => {};
    let offset = 0;

    beforeAll(async () => {
      const fresh = await freshDatabase(kind);
      drop = fresh.drop;
      driver = new SlowDriver(
        await openDriver({ database: fresh.database, clock_offset_ms: () => offset }),
        () => undefined,
      );
      store = await Store.on(driver, { sweep_every_ms: 0 });
      cairn = store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
    });
    afterAll(async () => {
      await store.close();
      await drop();
    });

    it('LIFE-4 erases in small batches what expired: cards, versions, messages, packets and requests', async () => {
      const expires_at = new Date(driver.now() + 60_000).toISOString();
      await cairn.cards.add_batch({ cards: times((i) => ({ content: i, expires_at })), atomic: true });
      await cairn.packets.write_batch({ packets: times(() => ({ packet_type: 'p', payload: {}, ttl: expires_at })) });
      const note = { note_type: 'Fact', title: 't', ttl: 'ShortTerm' } as const;
      await cairn.notes.batch({ items: times((i) => ({ operation: 'create', create: { ...note, content: `${i}` } })) });
      for (const agent_id of ['ann', 'bob'])
        await cairn.agents.register({ agent_id, agent_type: 'worker', capabilities: ['work'] });
      const message = { from_agent_id: 'ann', to_agent_id: 'bob', message_type: 'm', expires_at };
      await Promise.all(times((i) => cairn.messages.send({ ...message, payload: `${i}` })));
      await Promise.all(times((i) => cairn.cards.add({ content: 'kept' }, { idempotency_key: `key-${i}` })));

      offset = 2 * DAY;
      driver.writes = 0;
      driver.slow_ms = SLOW_MS;
      const swept = await cairn.lifetime.sweep();
      driver.slow_ms = 0;
      expect(swept).toMatchObject({
        cards_erased: 2 * COUNT,
        memories_erased: COUNT,
        messages_erased: COUNT,
        packets_erased: COUNT,
        requests_forgotten: COUNT,
      });

      const { packets } = await cairn.packets.list({ packet_type: 'cairn.lifetime.swept', limit: 500, order: 'asc' });
      for (const noun of ['cards', 'memories', 'messages', 'packets'] as const) {
        const sizes = packets.map(({ payload }) => Number(payload![`${noun}_erased`])).filter((size) => size > 0);
        const [first, ...others] = sizes;
        expect(first, noun).toBeLessThanOrEqual(20);
        expect(Math.max(...others), noun).toBeLessThanOrEqual(5);
      }
      // The requests, too: twenty, then five by five.
      expect(driver.writes).toBeGreaterThanOrEqual(packets.length + 1 + (COUNT - 20) / 5);
    });
  });
}
