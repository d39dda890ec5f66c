/** SQL of the lifetime engine: finds expired content, checks its pins, erases it. */
import { join, type Query, type Sql, sql, TENANT, type Tx, textToList } from '../../driver/index.js';
import { BOX_ENDED, CARD_ENDED, IS_TURN_BOX, SlotRegistry } from '../../engine/sql.js';
import { hideDocs } from '../../index/sql.js';
import { keyedSha256 } from '../../kernel/node.js';
import { indexEntries } from '../packets/index-entries.js';
import type { PacketInput } from '../packets/model.js';

type Pin = (now: number) => Sql;

/**
 * Whether a box pins the card named c. A sealed box pins the cards that were readable when it was sealed. A held box (of
 * an open scope, or a checkpoint) pins all its cards until its holder ends; the output box of an agent_turn, held but
 * not sealed, hides expired cards and does not pin them. Forks, and forks of forks, pin through their base.
 * CROSS JOIN keeps SQLite from scanning all boxes of the tenant for the few that hold the card.
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
            AND (b.sealed_at IS NOT NULL OR c.expires_at IS NULL OR c.expires_at > ${now} OR NOT ${IS_TURN_BOX})
          ELSE b.sealed_at IS NOT NULL AND (c.expires_at IS NULL OR c.expires_at > b.sealed_at)
            AND (c.deleted_at IS NULL OR c.deleted_at > b.sealed_at)
            AND (c.held_by IS NULL OR COALESCE(${CARD_ENDED}, b.sealed_at + 1) > b.sealed_at) END)`;

/** Pins besides boxes. Sweeps skip cards that they found pinned: code that unpins a card must clear its kept_at. */
export const strongPins = new SlotRegistry<'job', Pin>('strong pins', ['job']);

export const pinned: Pin = (now) => join([inBox(now), ...[...strongPins].map(([, pin]) => pin(now))], ' OR ');

interface ExpiryKey {
  readonly expires_at: number;
  readonly card_id: string;
}

export interface ExpiredCard extends ExpiryKey {
  readonly content_hash: string;
  readonly subject_ids: string | null;
  readonly derived_from: string | null;
  readonly kept: number;
}

/** What erasing a card needs to know of it. */
type Erasable = Pick<ExpiredCard, 'card_id' | 'content_hash' | 'subject_ids' | 'derived_from'>;

/** Expired cards that are not erased, in order of expiry; without those already noted as kept. */
export function expiredCards(query: Query, now: number, after: ExpiryKey, limit: number): Promise<ExpiredCard[]> {
  return query.all(
    sql`SELECT c.card_id, c.content_hash, c.subject_ids, c.derived_from, c.expires_at, CASE WHEN ${pinned(now)} THEN 1 ELSE 0 END AS kept FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.expires_at IS NOT NULL AND c.erased_at IS NULL AND c.kept_at IS NULL
          AND c.expires_at <= ${now}
          AND (c.expires_at > ${after.expires_at} OR (c.expires_at = ${after.expires_at} AND c.card_id > ${after.card_id}))
        ORDER BY c.expires_at, c.card_id LIMIT ${limit}`,
  );
}

/** The hash of erased content: without the store's key it confirms no guess. */
export const keyedHash = (key: string, hash: string): string => `keyed:${keyedSha256(key, hash)}`;

/** Erases all but the row, its id and its hash. */
const BLANK: Sql = sql`content = NULL, tool_calls = NULL, tool_call_id = NULL, metadata = NULL, author_id = NULL,
  subject_ids = NULL, derived_from = NULL, sent_hash = NULL`;

/** Erases a card. Checks expiry and pins again: either may have changed since the card was read. */
export async function eraseCard(tx: Tx, card: ExpiredCard, hash: string, now: number): Promise<boolean> {
  const changed = await tx.run(
    sql`UPDATE cards AS c SET ${BLANK}, content_hash = ${hash}, erased_at = ${now}
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ${card.card_id} AND c.erased_at IS NULL
          AND c.expires_at <= ${now} AND NOT (${pinned(now)})`,
  );
  if (changed === 0) return false;
  hideDocs(tx, 'card', [card.card_id]);
  await removeReferences(tx, card);
  return true;
}

/** Removes what the indexes by subject and by source hold of a card. */
async function removeReferences(tx: Tx, { card_id, subject_ids, derived_from }: Erasable): Promise<void> {
  for (const subject of textToList(subject_ids))
    await tx.send(
      sql`DELETE FROM card_subjects WHERE tenant_id = ${TENANT} AND subject_id = ${subject} AND card_id = ${card_id}`,
    );
  for (const source of textToList(derived_from))
    await tx.send(
      sql`DELETE FROM card_sources WHERE tenant_id = ${TENANT} AND source_id = ${source} AND card_id = ${card_id}`,
    );
}

/** Erases unpinned cards of ended holders. Counts cards erased before too: a repeated batch returns the same count. */
export async function eraseCards(
  tx: Tx,
  card_ids: readonly string[],
  key: string,
  now: number,
  pin: Pin = pinned,
): Promise<number> {
  const free = await tx.all<Erasable & { erased_at: number | null }>(
    sql`SELECT c.card_id, c.content_hash, c.subject_ids, c.derived_from, c.erased_at FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${card_ids})
          AND (c.erased_at IS NOT NULL OR (${CARD_ENDED} IS NOT NULL AND NOT (${pin(now)})))`,
  );
  const left = free.filter(({ erased_at }) => erased_at === null);
  await blankCards(tx, left, key, now);
  return free.length;
}

interface ForgottenCard extends Erasable {
  readonly content: string | null;
  readonly tool_calls: string | null;
}

/** Erases cards whatever pins them; returns those that were not erased before, as they were. */
export async function forgetCards(
  tx: Tx,
  card_ids: readonly string[],
  key: string,
  now: number,
): Promise<ForgottenCard[]> {
  const left = await tx.all<ForgottenCard>(
    sql`SELECT c.card_id, c.content_hash, c.subject_ids, c.derived_from, c.content, c.tool_calls FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${card_ids}) AND c.erased_at IS NULL
        ORDER BY c.card_id FOR UPDATE`,
  );
  await blankCards(tx, left, key, now);
  return left;
}

async function blankCards(tx: Tx, cards: readonly Erasable[], key: string, now: number): Promise<void> {
  hideDocs(
    tx,
    'card',
    cards.map(({ card_id }) => card_id),
  );
  for (const card of cards) await removeReferences(tx, card);
  const hashed = cards.map(({ card_id, content_hash }) => [card_id, keyedHash(key, content_hash)] as const);
  if (tx.dialect === 'postgres') return blankAtOnce(tx, hashed, now);
  for (const [card_id, hash] of hashed)
    await tx.send(
      sql`UPDATE cards SET ${BLANK}, content_hash = ${hash}, erased_at = ${now}
          WHERE tenant_id = ${TENANT} AND card_id = ${card_id} AND erased_at IS NULL`,
    );
}

/** PostgreSQL answers each statement, so that one for all takes a part of the time. */
async function blankAtOnce(tx: Tx, hashed: readonly (readonly [string, string])[], now: number): Promise<void> {
  if (hashed.length === 0) return;
  const card_ids = hashed.map(([card_id]) => card_id);
  const hashes = hashed.map(([, hash]) => hash);
  await tx.send(
    sql`UPDATE cards c SET ${BLANK}, content_hash = e.hash, erased_at = ${now}
        FROM unnest(${card_ids}::text[], ${hashes}::text[]) e(card_id, hash)
        WHERE c.tenant_id = ${TENANT} AND c.card_id = e.card_id AND c.erased_at IS NULL`,
  );
}

/** Sets kept_at on the cards that are still pinned; returns how many. */
export const noteKept = (tx: Tx, card_ids: readonly string[], now: number): Promise<number> =>
  tx.run(
    sql`UPDATE cards AS c SET kept_at = ${now}
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${card_ids}) AND c.erased_at IS NULL AND c.kept_at IS NULL
          AND (${pinned(now)})`,
  );

interface ExpiredPacket {
  readonly seq: number;
  readonly packet_id: string;
  readonly content_hash: string;
  readonly envelope: string;
}

export const expiredPackets = (query: Query, now: number, limit: number): Promise<ExpiredPacket[]> =>
  query.all(
    sql`SELECT seq, packet_id, content_hash, envelope FROM packet_store
        WHERE tenant_id = ${TENANT} AND expires_at IS NOT NULL AND erased_at IS NULL AND expires_at <= ${now}
        ORDER BY expires_at LIMIT ${limit}`,
  );

/** Erases the content and index entries of a packet; its place in the stream and lineage stays. */
export async function erasePacket(tx: Tx, packet: ExpiredPacket, hash: string, now: number): Promise<boolean> {
  const changed = await tx.run(
    sql`UPDATE packet_store SET envelope = NULL, original = NULL, sent_hash = NULL, subject_ids = NULL, agent = NULL,
          source = NULL, content_hash = ${hash}, erased_at = ${now}
        WHERE tenant_id = ${TENANT} AND seq = ${packet.seq} AND erased_at IS NULL`,
  );
  // Another server's sweep was first, and has removed the index entries.
  if (changed === 0) return false;
  hideDocs(tx, 'packet', [packet.packet_id]);
  for (const [kind, value] of indexEntries(JSON.parse(packet.envelope) as PacketInput)) {
    await tx.run(
      sql`DELETE FROM packet_index WHERE tenant_id = ${TENANT} AND kind = ${kind} AND value = ${value} AND seq = ${packet.seq}`,
    );
  }
  return true;
}

/** Serializes seals, deletions and sweeps: no sweep erases what a seal keeps, and times give the order on any clock. */
export async function lockSweeps(tx: Tx): Promise<{ readonly swept_at: number; readonly sealed_at: number }> {
  await tx.run(
    sql`INSERT INTO sweeps (tenant_id, swept_at, sealed_at) VALUES (${TENANT}, 0, 0) ON CONFLICT (tenant_id) DO NOTHING`,
  );
  return (await tx.get(sql`SELECT swept_at, sealed_at FROM sweeps WHERE tenant_id = ${TENANT} FOR UPDATE`))!;
}

/** Later seals get no earlier time: content swept or deleted by then was gone. */
export async function noteSweep(tx: Tx, now: number): Promise<void> {
  await tx.run(sql`UPDATE sweeps SET swept_at = ${now} WHERE tenant_id = ${TENANT} AND swept_at < ${now}`);
}

/** The time of a seal: not before the last sweep or deletion, and after every other seal. */
export async function takeSealTime(tx: Tx, now: number): Promise<number> {
  const { swept_at, sealed_at } = await lockSweeps(tx);
  const moment = Math.max(now, swept_at, sealed_at + 1);
  await tx.run(sql`UPDATE sweeps SET sealed_at = ${moment} WHERE tenant_id = ${TENANT}`);
  return moment;
}

/** The time of a deletion: after every seal, since a sealed box keeps its cards. */
export async function takeDeleteTime(tx: Tx, now: number): Promise<number> {
  const { sealed_at } = await lockSweeps(tx);
  const moment = Math.max(now, sealed_at + 1);
  await noteSweep(tx, moment);
  return moment;
}

export const countCardLifetimes = (now: number): Sql =>
  sql`SELECT COUNT(*) AS total, COUNT(deleted_at) AS deleted, COUNT(erased_at) AS erased,
        COUNT(CASE WHEN erased_at IS NULL AND expires_at <= ${now} THEN 1 END) AS expired
      FROM cards WHERE tenant_id = ${TENANT}`;

export const countPacketLifetimes = (now: number): Sql =>
  sql`SELECT COUNT(*) AS total, COUNT(erased_at) AS erased,
        COUNT(CASE WHEN erased_at IS NULL AND expires_at <= ${now} THEN 1 END) AS expired
      FROM packet_store WHERE tenant_id = ${TENANT}`;
