/** The sweep: erases expired content that nothing pins, in batches sized by time beside live traffic. */
import { deleteEndedLocks, eraseMessages, expiredMessages, KEEP_ENDED_LOCKS_MS } from '../coordination/index.js';
import type { Out } from '../engine/contract.js';
import {
  appendEvent,
  type Call,
  CHUNK,
  eraseAll,
  forgetRequests,
  inBatches,
  KEEP_REQUESTS_MS,
  nextLimit,
  packetBytes,
  scrub,
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
  lockSweeps,
  noteKept,
  noteSweep,
} from '../facts/sql.js';
import { eraseExpired, expiredVersions } from '../memory/sql.js';
import { releasePins } from '../recall/index.js';

export async function sweep(call: Call): Promise<Out<'lifetime.sweep'>> {
  const { driver } = call;
  const started = performance.now();
  const cards = await sweepCards(call);
  const memories_erased = await sweepMemories(call);
  const messages_erased = await sweepMessages(call);
  const packets_erased = await sweepPackets(call);
  const requests_forgotten = await forgetAll(call, forgetRequests, driver.now() - KEEP_REQUESTS_MS);
  await forgetAll(call, deleteEndedLocks, driver.now() - KEEP_ENDED_LOCKS_MS);
  await releasePins(call);
  await eraseAll(call);
  // Overwritten content stays in the log of the database until the log is emptied.
  if (cards.erased + memories_erased + messages_erased + packets_erased > 0) await scrub(call);
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

/** Appends the event in the erasing transaction: no erasure without its event, even if the sweep stops half way. */
function journalErased(work: Work, noun: 'cards' | 'memories' | 'messages' | 'packets', count: number): void {
  if (count === 0) return;
  const facts = { cards_erased: 0, memories_erased: 0, messages_erased: 0, packets_erased: 0 };
  appendEvent(
    work,
    'cairn.lifetime.swept',
    { type: 'tenant', id: work.call.tenant },
    { ...facts, [`${noun}_erased`]: count },
  );
}

async function sweepCards(call: Call): Promise<{ erased: number; kept: number }> {
  const { driver, tenant } = call;
  const now = driver.now();
  const total = { erased: 0, kept: 0 };
  let after = { expires_at: 0, card_id: '' };
  await inBatches(call, async (limit) => {
    const batch = await expiredCards(driver.at(tenant), now, after, limit);
    if (batch.length === 0) return 0;
    after = batch.at(-1)!;
    const done = await writeGuarded(call, (tx) => sweepBatch({ call, tx, now }, batch));
    total.erased += done.erased;
    total.kept += done.kept;
    return batch.length;
  });
  return total;
}

/** Erases the cards that nothing pins, and notes the others, so that the next sweep skips them. */
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
  const left = batch.map(({ card_id }) => card_id).filter((id) => !gone.has(id));
  const kept = left.length > 0 ? await noteKept(tx, left, now) : 0;
  journalErased(work, 'cards', gone.size);
  return { erased: gone.size, kept };
}

/** Erases up to `limit`, and tells how many it erased and whether there was no more. */
type Batch = (work: Work, limit: number) => Promise<{ readonly count: number; readonly isLast: boolean }>;

/** Runs batches, each in its own transaction, until one was the last or the store is closing; returns the total. */
async function sumOfBatches(call: Call, batch: Batch): Promise<number> {
  const now = call.driver.now();
  let total = 0;
  await inBatches(call, async (limit) => {
    const { count, isLast } = await writeGuarded(call, (tx) => batch({ call, tx, now }, limit));
    total += count;
    return isLast ? 0 : limit;
  });
  return total;
}

/** Erases the metadata of versions of artifacts and notes; their content is in cards, which expire with them. */
const sweepMemories = (call: Call): Promise<number> =>
  sumOfBatches(call, async (work, limit) => {
    const batch = await expiredVersions(work.tx, work.now, limit);
    const count = await eraseExpired(work.tx, batch, work.now);
    journalErased(work, 'memories', count);
    return { count, isLast: batch.length < limit };
  });

/** Maximum deliveries erased in one batch of several messages. */
const DELIVERIES = 10_000;

const sweepMessages = (call: Call): Promise<number> =>
  sumOfBatches(call, async (work, limit) => {
    const found = await expiredMessages(work.tx, work.now, limit);
    let deliveries = 0;
    const batch = found.filter(({ recipients }, i) => (deliveries += recipients) <= DELIVERIES || i === 0);
    const ids = batch.map(({ message_id }) => message_id);
    const count = await eraseMessages(work.tx, ids, work.now);
    journalErased(work, 'messages', count);
    return { count, isLast: found.length < limit && batch.length === found.length };
  });

async function sweepPackets(call: Call): Promise<number> {
  const now = call.driver.now();
  let total = 0;
  let fitting = CHUNK.first;
  await inBatches(call, async (limit) => {
    // Erasing parses each envelope for its index entries, so a batch is bounded by bytes as well.
    const size = Math.min(limit, fitting);
    const { batch, count } = await writeGuarded(call, (tx) => erasePackets({ call, tx, now }, size));
    total += count;
    // Set outside the transaction function, which may run again.
    fitting = nextLimit(batch, size, packetBytes);
    return batch.length < size ? 0 : limit;
  });
  return total;
}

async function erasePackets(work: Work, limit: number) {
  const batch = await expiredPackets(work.tx, work.now, limit);
  let count = 0;
  for (const packet of batch) {
    const hash = keyedHash(work.call.meta.erasure_key, packet.content_hash);
    if (await erasePacket(work.tx, packet, hash, work.now)) count++;
  }
  journalErased(work, 'packets', count);
  return { batch, count };
}

const forgetAll = (call: Call, forget: typeof forgetRequests, before: number): Promise<number> =>
  sumOfBatches(call, async ({ tx }, limit) => {
    const count = await forget(tx, before, limit);
    return { count, isLast: count < limit };
  });

type Stats = Out<'lifetime.stats'>;

export async function stats(call: Call): Promise<Stats> {
  const { driver, tenant } = call;
  const now = driver.now();
  const [cards] = await driver.long<Stats['cards']>(tenant, countCardLifetimes(now));
  const [packets] = await driver.long<Stats['packets']>(tenant, countPacketLifetimes(now));
  return { cards: cards!, packets: packets! };
}
