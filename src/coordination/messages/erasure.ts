/** Erasing messages: content and deliveries are deleted, ids stay taken. */
import { type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import type { Forgetter } from '../../engine/index.js';

interface ExpiredMessage {
  readonly message_id: string;
  readonly recipients: number;
}

/** Expired messages with content, by expiry. */
export const expiredMessages = (query: Query, now: number, limit: number): Promise<ExpiredMessage[]> =>
  query.all<ExpiredMessage>(
    sql`SELECT message_id, recipients FROM messages WHERE tenant_id = ${TENANT} AND expires_at IS NOT NULL
          AND erased_at IS NULL AND expires_at <= ${now} ORDER BY expires_at LIMIT ${limit}`,
  );

const BLANK: Sql = sql`payload = NULL, artifact_ids = NULL, message_type = '', sent_hash = NULL`;

/** Erases messages and their deliveries; returns the number of messages. */
export async function eraseMessages(tx: Tx, message_ids: readonly string[], now: number): Promise<number> {
  if (message_ids.length === 0) return 0;
  const erased = await tx.run(
    sql`UPDATE messages SET ${BLANK}, erased_at = ${now}
        WHERE tenant_id = ${TENANT} AND message_id = ANY(${message_ids}) AND erased_at IS NULL`,
  );
  await dropDeliveries(tx, sql`m.tenant_id = ${TENANT} AND m.message_id = ANY(${message_ids})`);
  return erased;
}

export const messageForgetter: Forgetter = {
  find: async (query, ids) => {
    const rows = await query.all<{ message_id: string }>(
      sql`SELECT message_id FROM messages WHERE tenant_id = ${TENANT} AND message_id = ANY(${ids})`,
    );
    return rows.map(({ message_id }) => message_id);
  },
  erase: async ({ tx, now }, ids) => {
    const left = await tx.all<{ message_id: string; payload: string | null }>(
      sql`SELECT message_id, payload FROM messages
          WHERE tenant_id = ${TENANT} AND message_id = ANY(${ids}) AND erased_at IS NULL ORDER BY message_id FOR UPDATE`,
    );
    await eraseMessages(tx, ids, now);
    return {
      contents: left.map(({ message_id: of, payload }) => ({ of, content_id: of, texts: [payload] })),
      done: true,
    };
  },
};

/** Erases the messages that name one of these trajectories. */
export async function eraseMessagesAbout(tx: Tx, trajectory_ids: readonly string[], now: number): Promise<void> {
  const about = sql`m.tenant_id = ${TENANT} AND m.trajectory_id = ANY(${trajectory_ids}) AND m.erased_at IS NULL`;
  await dropDeliveries(tx, about);
  await tx.send(sql`UPDATE messages AS m SET ${BLANK}, erased_at = ${now} WHERE m.tenant_id = ${TENANT} AND ${about}`);
}

/** Deletes the deliveries of messages m. */
async function dropDeliveries(tx: Tx, which: Sql): Promise<void> {
  const subjects = sql`SELECT d.mailbox || ' ' || d.seq FROM messages m CROSS JOIN deliveries d
    WHERE ${which} AND d.tenant_id = ${TENANT} AND d.message_id = m.message_id`;
  await tx.send(
    sql`DELETE FROM leases WHERE tenant_id = ${TENANT} AND kind = 'message' AND subject_id IN (${subjects})`,
  );
  await tx.send(
    sql`DELETE FROM deliveries WHERE tenant_id = ${TENANT}
          AND message_id IN (SELECT m.message_id FROM messages m WHERE ${which})`,
  );
}
