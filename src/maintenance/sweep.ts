/** The lifetime engine: erases what has expired and is not pinned, in small batches beside live traffic. */
import type { z } from 'zod';
import { eraseMessages, expiredMessages, forgetLocks, KEEP_ENDED_LOCKS_MS } from '../coordination/index.js';
import {
  appendEvent,
  type Call,
  CHUNK,
  eraseAll,
  forgetRequests,
  KEEP_REQUESTS_MS,
  nextLimit,
  packetBytes,
  type Work,
  writeGuarded,
} from '../engine/index.js';
import {
  countCardLifetimes,
  countPacketLifetimes,
  type ExpiredCard,
  eraseCard,
  erasePacket,
  expiredCards,
  expiredPackets,
  keyedHash,
  type LifetimeCounts,
  lockSweeps,
  noteKept,
  noteSweep,
} from '../facts/sql.js';
import { foldCounts } from '../index/sql.js';
import { eraseExpired, expiredVersions } from '../memory/sql.js';
import { releasePins } from '../recall/index.js';
import type { lifetime as operations } from './contract.js';

type Swept = z.output<(typeof operations)['sweep']['output']>;
type Stats = z.output<(typeof operations)['stats']['output']>;

const BATCH = 100;

export async function sweep(call: Call): Promise<Swept> {
  const started = performance.now();
  const cards = await sweepCards(call);
  const memories_erased = await sweepMemories(call);
  const messages_erased = await sweepMessages(call);
  const packets_erased = await sweepPackets(call);
  const requests_forgotten = await sweepRequests(call);
  await sweepLocks(call);
  if (call.driver.dialect === 'postgres') await writeGuarded(call, (tx) => foldCounts(tx));
  await releasePins(call);
  await eraseAll(call);
  // What was overwritten in the file is in its log until that is emptied.
  if (cards.erased + memories_erased + messages_erased + packets_erased > 0) await call.driver.scrub();
  return {
    cards_erased: cards.erased,
    memories_erased,
    messages_erased,
    packets_erased,
    requests_forgotten,
    cards_kept: cards.kept,
    duration_ms: Math.round(performance.now() - started),
  };
}

interface Erased {
  readonly cards?: number;
  readonly memories?: number;
  readonly messages?: number;
  readonly packets?: number;
}

/** In the transaction that erases: there is no erasure without its event, also when the sweep ends half way. */
function journalErased(work: Work, { cards = 0, memories = 0, messages = 0, packets = 0 }: Erased): void {
  const { call } = work;
  if (cards + memories + messages + packets === 0) return;
  const facts = { cards_erased: cards, memories_erased: memories, messages_erased: messages, packets_erased: packets };
  appendEvent(work, 'cairn.lifetime.swept', { type: 'tenant', id: call.tenant }, facts);
}

async function sweepCards(call: Call): Promise<{ erased: number; kept: number }> {
  const { driver, tenant } = call;
  const now = driver.now();
  let erased = 0;
  let kept = 0;
  let after = { expires_at: 0, card_id: '' };
  for (;;) {
    const batch = await expiredCards(driver.at(tenant), now, after, BATCH);
    if (batch.length === 0) return { erased, kept };
    after = batch.at(-1)!;
    const done = await writeGuarded(call, (tx) => sweepBatch({ call, tx, now }, batch));
    erased += done.erased;
    kept += done.kept;
  }
}

/** Erases the cards that nothing pins and notes the others, so that the next sweep does not examine them again. */
async function sweepBatch(work: Work, batch: readonly ExpiredCard[]): Promise<{ erased: number; kept: number }> {
  const { call, tx, now } = work;
  await lockSweeps(tx);
  const free = batch.filter((card) => card.kept === 0);
  if (free.length > 0) await noteSweep(tx, now);
  const gone = new Set<string>();
  for (const card of free) {
    const hash = keyedHash(call.meta.erasure_key, card.content_hash);
    if (await eraseCard(tx, card, hash, now)) gone.add(card.card_id);
  }
  const left = batch.filter(({ card_id }) => !gone.has(card_id)).map(({ card_id }) => card_id);
  const kept = left.length > 0 ? await noteKept(tx, left, now) : 0;
  journalErased(work, { cards: gone.size });
  return { erased: gone.size, kept };
}

/** What versions of artifacts and notes say of themselves; their content is that of cards, which expire with them. */
async function sweepMemories(call: Call): Promise<number> {
  const { driver } = call;
  const now = driver.now();
  for (let total = 0; ; ) {
    const { found, erased } = await writeGuarded(call, async (tx) => {
      const batch = await expiredVersions(tx, now, BATCH);
      const erased = await eraseExpired(tx, batch, now);
      journalErased({ call, tx, now }, { memories: erased });
      return { found: batch.length, erased };
    });
    total += erased;
    if (found < BATCH) return total;
  }
}

/** How many deliveries go with the messages of a batch, if they are more than one's. */
const DELIVERIES = 10_000;

async function sweepMessages(call: Call): Promise<number> {
  const { driver } = call;
  const now = driver.now();
  for (let total = 0; ; ) {
    const { left, erased } = await writeGuarded(call, async (tx) => {
      const found = await expiredMessages(tx, now, BATCH);
      let deliveries = 0;
      const batch = found.filter(({ recipients }, i) => (deliveries += recipients) <= DELIVERIES || i === 0);
      const ids = batch.map(({ message_id }) => message_id);
      const erased = await eraseMessages(tx, ids, now);
      journalErased({ call, tx, now }, { messages: erased });
      return { left: found.length === BATCH || batch.length < found.length, erased };
    });
    total += erased;
    if (!left) return total;
  }
}

async function sweepPackets(call: Call): Promise<number> {
  const { driver } = call;
  const now = driver.now();
  let limit = CHUNK.first;
  for (let total = 0; ; ) {
    const asked = limit;
    const { batch, erased } = await writeGuarded(call, async (tx) => {
      const batch = await expiredPackets(tx, now, asked);
      let erased = 0;
      for (const packet of batch) {
        const hash = keyedHash(call.meta.erasure_key, packet.content_hash);
        if (await erasePacket(tx, packet, hash, now)) erased++;
      }
      journalErased({ call, tx, now }, { packets: erased });
      return { batch, erased };
    });
    total += erased;
    if (batch.length < asked) return total;
    // What a packet was found by is read from its envelope, so a batch is bounded by bytes as well.
    limit = Math.min(BATCH, nextLimit(batch, limit, packetBytes));
  }
}

async function sweepRequests(call: Call): Promise<number> {
  const before = call.driver.now() - KEEP_REQUESTS_MS;
  for (let total = 0; ; ) {
    const count = await writeGuarded(call, (tx) => forgetRequests(tx, before, BATCH));
    total += count;
    if (count < BATCH) return total;
  }
}

async function sweepLocks(call: Call): Promise<void> {
  const { driver } = call;
  const before = driver.now() - KEEP_ENDED_LOCKS_MS;
  while ((await writeGuarded(call, (tx) => forgetLocks(tx, before, BATCH))) === BATCH);
}

export async function stats(call: Call): Promise<Stats> {
  const { driver, tenant } = call;
  const now = driver.now();
  const [cards] = await driver.long<LifetimeCounts>(tenant, countCardLifetimes(now));
  const [packets] = await driver.long<Omit<LifetimeCounts, 'deleted'>>(tenant, countPacketLifetimes(now));
  return { cards: cards!, packets: packets! };
}
