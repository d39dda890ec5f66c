/** The lifetime engine: erases what has expired and is not pinned, in small batches beside live traffic. */
import type { z } from 'zod';
import type { lifetime as operations } from '../contract/system.js';
import type { Tx } from '../driver/driver.js';
import {
  countCardLifetimes,
  countPacketLifetimes,
  eraseCard,
  erasePacket,
  expiredCards,
  expiredPackets,
  keyedHash,
  type LifetimeCounts,
  lockSweeps,
  noteSweep,
} from '../store/lifetime.js';
import { forgetRequests, KEEP_REQUESTS_MS } from '../store/requests.js';
import type { Call } from './runtime.js';
import { event } from './write.js';

type Swept = z.output<(typeof operations)['sweep']['output']>;
type Stats = z.output<(typeof operations)['stats']['output']>;

const BATCH = 100;

export async function sweep(call: Call): Promise<Swept> {
  const started = performance.now();
  const cards = await sweepCards(call);
  const packets_erased = await sweepPackets(call);
  const requests_forgotten = await sweepRequests(call);
  const counts = { cards_erased: cards.erased, packets_erased, requests_forgotten };
  if (cards.erased + packets_erased > 0) {
    await call.driver.write(call.tenant, async (tx) => {
      tx.journal(event(call, call.driver.now(), 'cairn.lifetime.swept', 'tenant', call.tenant, counts));
    });
  }
  return { ...counts, cards_kept: cards.kept, duration_ms: Math.round(performance.now() - started) };
}

async function sweepCards(call: Call): Promise<{ erased: number; kept: number }> {
  const { driver, tenant } = call;
  const now = driver.now();
  let erased = 0;
  let kept = 0;
  let after = { expires_at: 0, card_id: '' };
  for (;;) {
    const batch = await expiredCards(driver.at(tenant), tenant, now, after, BATCH);
    if (batch.length === 0) return { erased, kept };
    after = batch.at(-1)!;
    const free = batch.filter((card) => card.kept === 0);
    kept += batch.length - free.length;
    if (free.length === 0) continue;
    erased += await driver.write(tenant, async (tx) => {
      await lockSweeps(tx, tenant);
      await noteSweep(tx, tenant, now);
      let count = 0;
      for (const card of free) {
        const hash = keyedHash(call.meta.erasure_key, card.content_hash);
        if (await eraseCard(tx, tenant, card, hash, now)) count++;
      }
      return count;
    });
  }
}

const sweepPackets = (call: Call): Promise<number> =>
  inBatches(call, async (tx, now) => {
    const batch = await expiredPackets(tx, call.tenant, now, BATCH);
    for (const packet of batch) {
      await erasePacket(tx, call.tenant, packet, keyedHash(call.meta.erasure_key, packet.content_hash), now);
    }
    return batch.length;
  });

const sweepRequests = (call: Call): Promise<number> =>
  inBatches(call, (tx, now) => forgetRequests(tx, call.tenant, now - KEEP_REQUESTS_MS, BATCH));

async function inBatches(call: Call, batch: (tx: Tx, now: number) => Promise<number>): Promise<number> {
  const now = call.driver.now();
  for (let total = 0; ; ) {
    const count = await call.driver.write(call.tenant, (tx) => batch(tx, now));
    total += count;
    if (count < BATCH) return total;
  }
}

export async function stats(call: Call): Promise<Stats> {
  const { driver, tenant } = call;
  const now = driver.now();
  const [cards] = await driver.long<LifetimeCounts>(tenant, countCardLifetimes(tenant, now));
  const [packets] = await driver.long<Omit<LifetimeCounts, 'deleted'>>(
    tenant,
    countPacketLifetimes(tenant, now),
  );
  return { cards: cards!, packets: packets! };
}
