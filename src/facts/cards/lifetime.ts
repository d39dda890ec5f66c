/** The lifetime engine's statements: what has expired, what pins it, and how content is erased. */
import { createHmac } from 'node:crypto';
import { join, type Query, type Sql, sql, TENANT, type Tx, textToList } from '../../driver/index.js';
import { BOX_ENDED, CARD_ENDED, OF_TURN, SlotRegistry } from '../../engine/sql.js';
import { indexOf } from '../packets/index-entries.js';
import type { PacketInput } from '../packets/model.js';

type Pin = (now: number) => Sql;

/**
 * Whether a box keeps the card under the name c.
 * CROSS JOIN keeps SQLite from going through all boxes of the tenant to find the few that hold the card.
 * A sealed box pins what could be read when it was sealed. A box that is held, by an open scope or a checkpoint, pins
 * all that is in it, also turns of a closed scope that it was restored from; not when what holds it has ended. The
 * output of an agent_turn, which is held and not sealed, shows what has expired no longer, and does not pin it. A fork
 * of a box, or a fork of that, pins through its base.
 */
export const inBox: Pin = (now) =>
  sql`EXISTS (
    WITH RECURSIVE held(box_id, added, removed) AS (
      SELECT e.box_id, e.added_revision, e.removed_revision FROM box_entries e
        WHERE e.tenant_id = ${TENANT} AND e.card_id = c.card_id
      UNION
      SELECT f.box_id, 0, f.base_until FROM held h CROSS JOIN boxes f
        WHERE f.tenant_id = ${TENANT} AND f.base_box_id = h.box_id AND h.added <= f.base_revision
          AND (h.removed IS NULL OR h.removed > f.base_revision)
    )
    SELECT 1 FROM held h CROSS JOIN boxes b
      WHERE b.tenant_id = ${TENANT} AND b.box_id = h.box_id AND h.removed IS NULL
        AND CASE WHEN b.held_by IS NOT NULL THEN ${BOX_ENDED} IS NULL
            AND (b.sealed_at IS NOT NULL OR c.expires_at IS NULL OR c.expires_at > ${now} OR NOT ${OF_TURN})
          ELSE b.sealed_at IS NOT NULL AND (c.expires_at IS NULL OR c.expires_at > b.sealed_at)
            AND (c.deleted_at IS NULL OR c.deleted_at > b.sealed_at)
            AND (c.held_by IS NULL OR COALESCE(${CARD_ENDED}, b.sealed_at + 1) > b.sealed_at) END)`;

/**
 * What keeps the content of a card besides boxes, as SQL on the table under the name c. Each new strong pin is one more
 * slot. Sweeps do not look again at a card that they found pinned: whatever unpins one must clear its kept_at.
 */
export const strongPins = new SlotRegistry<'job', Pin>('strong pins', ['job']);

/** Whether something keeps the card under the name c at a moment. */
export const pinned: Pin = (now) =>
  join(
    [inBox, ...[...strongPins].map(([, pin]) => pin)].map((pin) => pin(now)),
    ' OR ',
  );

export interface ExpiredCard {
  readonly card_id: string;
  readonly content_hash: string;
  readonly subject_ids: string | null;
  readonly expires_at: number;
  readonly kept: number;
}

/** Cards whose time is over and whose content is still there, in the order in which it ended; not those noted as kept. */
export async function expiredCards(
  query: Query,
  now: number,
  after: { expires_at: number; card_id: string },
  limit: number,
): Promise<ExpiredCard[]> {
  return query.all<ExpiredCard>(
    sql`SELECT c.card_id, c.content_hash, c.subject_ids, c.expires_at, CASE WHEN ${pinned(now)} THEN 1 ELSE 0 END AS kept FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.expires_at IS NOT NULL AND c.erased_at IS NULL AND c.kept_at IS NULL
          AND c.expires_at <= ${now}
          AND (c.expires_at > ${after.expires_at} OR (c.expires_at = ${after.expires_at} AND c.card_id > ${after.card_id}))
        ORDER BY c.expires_at, c.card_id LIMIT ${limit}`,
  );
}

/** The hash of erased content, from which the content cannot be guessed without the store's key. */
export const keyedHash = (key: string, hash: string): string =>
  `keyed:${createHmac('sha256', key).update(hash).digest('hex')}`;

/** What erasing sets of a card besides its hash and the moment: its row, and that it existed, stay. */
const BLANK: Sql = sql`content = NULL, tool_calls = NULL, tool_call_id = NULL, metadata = NULL, author_id = NULL,
  subject_ids = NULL, derived_from = NULL, sent_hash = NULL`;

/** Erases content. Checks time and pin again, in the writing transaction: a change may have given it longer. */
export async function eraseCard(tx: Tx, card: ExpiredCard, hash: string, now: number): Promise<boolean> {
  const changed = await tx.run(
    sql`UPDATE cards AS c SET ${BLANK}, content_hash = ${hash}, erased_at = ${now}
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ${card.card_id} AND c.erased_at IS NULL
          AND c.expires_at <= ${now} AND NOT (${pinned(now)})`,
  );
  if (changed === 0) return false;
  await forgetSubjects(tx, card.card_id, card.subject_ids);
  return true;
}

async function forgetSubjects(tx: Tx, card_id: string, subject_ids: string | null): Promise<void> {
  for (const subject of textToList(subject_ids)) {
    await tx.send(
      sql`DELETE FROM card_subjects WHERE tenant_id = ${TENANT} AND subject_id = ${subject} AND card_id = ${card_id}`,
    );
  }
}

/**
 * Erases the cards among these whose holder has ended and that nothing pins, or not this pin; says how many are erased
 * now. A card that was erased before counts as well, so that the same batch again gives the same count.
 */
export async function eraseCards(
  tx: Tx,
  card_ids: readonly string[],
  key: string,
  now: number,
  pin: Pin = pinned,
): Promise<number> {
  const free = await tx.all<
    Pick<ExpiredCard, 'card_id' | 'content_hash' | 'subject_ids'> & { erased_at: number | null }
  >(
    sql`SELECT c.card_id, c.content_hash, c.subject_ids, c.erased_at FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${card_ids})
          AND (c.erased_at IS NOT NULL OR (${CARD_ENDED} IS NOT NULL AND NOT (${pin(now)})))`,
  );
  for (const { card_id, content_hash, subject_ids, erased_at } of free) {
    if (erased_at !== null) continue;
    await forgetSubjects(tx, card_id, subject_ids);
    await tx.send(
      sql`UPDATE cards SET ${BLANK}, content_hash = ${keyedHash(key, content_hash)}, erased_at = ${now}
          WHERE tenant_id = ${TENANT} AND card_id = ${card_id} AND erased_at IS NULL`,
    );
  }
  return free.length;
}

/** Notes which of these cards are pinned, and says how many. Checks the pin again: one that has ended is not noted. */
export function noteKept(tx: Tx, card_ids: readonly string[], now: number): Promise<number> {
  return tx.run(
    sql`UPDATE cards AS c SET kept_at = ${now}
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${card_ids}) AND c.erased_at IS NULL AND c.kept_at IS NULL
          AND (${pinned(now)})`,
  );
}

export interface ExpiredPacket {
  readonly seq: number;
  readonly content_hash: string;
  readonly envelope: string;
}

export async function expiredPackets(query: Query, now: number, limit: number): Promise<ExpiredPacket[]> {
  return query.all<ExpiredPacket>(
    sql`SELECT seq, content_hash, envelope FROM packet_store
        WHERE tenant_id = ${TENANT} AND expires_at IS NOT NULL AND erased_at IS NULL AND expires_at <= ${now}
        ORDER BY expires_at LIMIT ${limit}`,
  );
}

/** Erases what a packet says and what it was found by; its place in stream and lineage stays. */
export async function erasePacket(tx: Tx, packet: ExpiredPacket, hash: string, now: number): Promise<boolean> {
  const changed = await tx.run(
    sql`UPDATE packet_store SET envelope = NULL, original = NULL, sent_hash = NULL, subject_ids = NULL, agent = NULL,
          source = NULL, content_hash = ${hash}, erased_at = ${now}
        WHERE tenant_id = ${TENANT} AND seq = ${packet.seq} AND erased_at IS NULL`,
  );
  // Another server's sweep was first, and has cleared the index as well.
  if (changed === 0) return false;
  for (const [kind, value] of indexOf(JSON.parse(packet.envelope) as PacketInput)) {
    await tx.run(
      sql`DELETE FROM packet_index WHERE tenant_id = ${TENANT} AND kind = ${kind} AND value = ${value} AND seq = ${packet.seq}`,
    );
  }
  return true;
}

/** The latest moments that sealing, deleting and sweeping have settled. */
export interface Turns {
  readonly swept_at: number;
  readonly sealed_at: number;
}

/**
 * Sealing, deleting and sweeping take turns by this row, so that nothing is erased that a seal is about to keep, and
 * so that their times tell which was first: also within a millisecond, or when clocks differ.
 */
export async function lockSweeps(tx: Tx): Promise<Turns> {
  await tx.run(
    sql`INSERT INTO sweeps (tenant_id, swept_at, sealed_at) VALUES (${TENANT}, 0, 0) ON CONFLICT (tenant_id) DO NOTHING`,
  );
  const row = await tx.get<Turns>(sql`SELECT swept_at, sealed_at FROM sweeps WHERE tenant_id = ${TENANT} FOR UPDATE`);
  return row!;
}

/** Seals from now on are not before this moment: what was swept or deleted by then was gone. */
export async function noteSweep(tx: Tx, now: number): Promise<void> {
  await tx.run(sql`UPDATE sweeps SET swept_at = ${now} WHERE tenant_id = ${TENANT} AND swept_at < ${now}`);
}

/** When a seal takes place: not before what was swept or deleted, and behind every other seal. */
export async function takeSealTime(tx: Tx, now: number): Promise<number> {
  const { swept_at, sealed_at } = await lockSweeps(tx);
  const moment = Math.max(now, swept_at, sealed_at + 1);
  await tx.run(sql`UPDATE sweeps SET sealed_at = ${moment} WHERE tenant_id = ${TENANT}`);
  return moment;
}

/** When a deletion takes place: behind every seal, since those keep what they hold. */
export async function takeDeleteTime(tx: Tx, now: number): Promise<number> {
  const { sealed_at } = await lockSweeps(tx);
  const moment = Math.max(now, sealed_at + 1);
  await noteSweep(tx, moment);
  return moment;
}

export interface LifetimeCounts {
  readonly total: number;
  readonly deleted: number;
  readonly expired: number;
  readonly erased: number;
}

export const countCardLifetimes = (now: number): Sql =>
  sql`SELECT COUNT(*) AS total, COUNT(deleted_at) AS deleted, COUNT(erased_at) AS erased,
        COUNT(CASE WHEN erased_at IS NULL AND expires_at <= ${now} THEN 1 END) AS expired
      FROM cards WHERE tenant_id = ${TENANT}`;

export const countPacketLifetimes = (now: number): Sql =>
  sql`SELECT COUNT(*) AS total, COUNT(erased_at) AS erased,
        COUNT(CASE WHEN erased_at IS NULL AND expires_at <= ${now} THEN 1 END) AS expired
      FROM packet_store WHERE tenant_id = ${TENANT}`;
