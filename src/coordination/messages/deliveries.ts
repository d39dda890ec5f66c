/** deliveries: messages in mailboxes. A delivery that a reader has is leased, under the subject `<mailbox> <seq>`. */
import { byDialect, type Query, type Sql, sql, type Table, TENANT, type Tx, textToList } from '../../driver/index.js';
import { mailboxOfAgent } from './store.js';

export interface Delivery {
  readonly mailbox: string;
  readonly seq: number;
  readonly message_id: string;
  /** The messages of one sender and priority. */
  readonly lane: string;
  /** How often it was delivered. */
  readonly deliveries: number;
  /** JSON: the agents of a type that had it, the last one last. */
  readonly delivered_to: string | null;
  readonly acknowledged_at: number | null;
}

/** The last lease of a delivery, which may be over. */
export interface DeliveryLease {
  readonly holder: string | null;
  readonly leased_until: number | null;
}

/** A lane with its first open delivery. */
export type Lane = Pick<Delivery, 'mailbox' | 'lane' | 'seq'> & DeliveryLease;

const subjectOf = (mailbox: string, seq: number): string => `${mailbox} ${seq}`;
/** Up to the last blank: an agent id may contain blanks, a seq does not. */
export const mailboxOf = (subject: string): string => subject.slice(0, subject.lastIndexOf(' '));

/** Serializes readers of a mailbox, so that each sees the leases of the others. The first of them makes the row to lock. */
export async function lockMailboxes(tx: Tx, mailboxes: readonly string[]): Promise<void> {
  for (const mailbox of [...mailboxes].sort()) {
    const lock = sql`SELECT 1 FROM mailboxes WHERE tenant_id = ${TENANT} AND mailbox = ${mailbox} FOR UPDATE`;
    if (await tx.get(lock)) continue;
    await tx.run(
      sql`INSERT INTO mailboxes (tenant_id, mailbox) VALUES (${TENANT}, ${mailbox}) ON CONFLICT (tenant_id, mailbox) DO NOTHING`,
    );
    await tx.get(lock);
  }
}

const COLUMNS: Sql = sql`d.mailbox, d.seq, d.message_id, d.lane, d.deliveries, d.delivered_to, d.acknowledged_at`;

/** Open deliveries d. INDEXED BY: SQLite would otherwise scan all that a mailbox ever had. */
export const OPEN: Sql = byDialect({
  sqlite: sql`deliveries d INDEXED BY deliveries_open`,
  postgres: sql`deliveries d`,
});

/** Acknowledged deliveries d. */
export const DONE: Sql = byDialect({
  sqlite: sql`deliveries d INDEXED BY deliveries_done`,
  postgres: sql`deliveries d`,
});

const waits = (mailbox: string): Sql =>
  sql`d.tenant_id = ${TENANT} AND d.mailbox = ${mailbox} AND d.acknowledged_at IS NULL`;
const lives = (now: number): Sql => sql`(d.expires_at IS NULL OR d.expires_at > ${now})`;

/**
 * Joins the lease of a delivery, expired or not: with a condition on expires_at PostgreSQL would scan all live leases.
 * LATERAL with OFFSET 0 makes it look up each lease by its key.
 */
const withLease = (mailbox: string, seq: Sql): Sql => {
  const subject = sql`${`${mailbox} `} || ${seq}`;
  return byDialect({
    sqlite: sql`LEFT JOIN leases l ON l.tenant_id = ${TENANT} AND l.kind = 'message' AND l.subject_id = ${subject}`,
    postgres: sql`LEFT JOIN LATERAL (SELECT k.holder, k.expires_at FROM leases k
      WHERE k.tenant_id = ${TENANT} AND k.kind = 'message' AND k.subject_id = ${subject} OFFSET 0) l ON TRUE`,
  });
};

/** Lanes of a mailbox with open deliveries, most urgent first. A loose index scan: long lanes cost no more. */
export function openLanes(query: Query, mailbox: string, now: number, limit: number): Promise<Lane[]> {
  const waiting = waits(mailbox);
  return query.all<Lane>(
    sql`WITH RECURSIVE lanes(lane) AS (
          SELECT f.lane FROM (SELECT d.lane FROM ${OPEN} WHERE ${waiting} ORDER BY d.lane LIMIT 1) f
          UNION ALL
          SELECT (SELECT d.lane FROM ${OPEN} WHERE ${waiting} AND d.lane > n.lane ORDER BY d.lane LIMIT 1) FROM lanes n
            WHERE n.lane IS NOT NULL
        ), heads AS (
          SELECT n.lane, (SELECT d.seq FROM ${OPEN} WHERE ${waiting} AND d.lane = n.lane AND ${lives(now)}
            ORDER BY d.seq LIMIT 1) AS seq
          FROM lanes n WHERE n.lane IS NOT NULL LIMIT ${limit}
        )
        SELECT CAST(${mailbox} AS TEXT) AS mailbox, h.lane, h.seq, l.holder, l.expires_at AS leased_until
        FROM heads h ${withLease(mailbox, sql`h.seq`)} WHERE h.seq IS NOT NULL`,
  );
}

/** Open deliveries of a lane after a seq, in order. */
export const openDeliveries = (
  query: Query,
  { mailbox, lane }: Pick<Lane, 'mailbox' | 'lane'>,
  now: number,
  after: number,
  limit: number,
): Promise<(Delivery & DeliveryLease)[]> =>
  query.all(
    sql`SELECT ${COLUMNS}, l.holder, l.expires_at AS leased_until
        FROM ${OPEN} ${withLease(mailbox, sql`d.seq`)}
        WHERE ${waits(mailbox)} AND d.lane = ${lane} AND ${lives(now)} AND d.seq > ${after}
        ORDER BY d.seq LIMIT ${limit}`,
  );

const leasesTable: Table = {
  name: 'leases',
  columns: {
    tenant_id: 'text',
    kind: 'text',
    subject_id: 'text',
    holder: 'text',
    token: 'bigint',
    expires_at: 'bigint',
  },
};

interface Taker {
  readonly agent_id: string;
  readonly holder: string;
  readonly expires_at: number;
}

/** How many agents that had a message are remembered; each of them may acknowledge it. */
const REMEMBERED = 16;

/** The agents that had a delivery, including this one; null in the mailbox of an agent. */
function deliveredTo(one: Delivery, agent_id: string): string | null {
  if (one.mailbox === mailboxOfAgent(agent_id)) return null;
  const before = textToList(one.delivered_to).filter((id) => id !== agent_id);
  return JSON.stringify([...before, agent_id].slice(-REMEMBERED));
}

/** Leases deliveries to a reader; returns those it got. One that was acknowledged or erased meanwhile is left out. */
export async function takeDeliveries(
  tx: Tx,
  chosen: readonly Delivery[],
  { agent_id, holder, expires_at }: Taker,
): Promise<Delivery[]> {
  // Grouped by new value: most were never delivered before, so there is one statement per mailbox.
  const groups = new Map<string, { mailbox: string; delivered_to: string | null; ids: string[] }>();
  for (const one of chosen) {
    const delivered_to = deliveredTo(one, agent_id);
    const key = JSON.stringify([one.mailbox, delivered_to]);
    const group = groups.get(key) ?? { mailbox: one.mailbox, delivered_to, ids: [] };
    group.ids.push(one.message_id);
    groups.set(key, group);
  }
  const got = new Set<string>();
  for (const { mailbox, delivered_to, ids } of groups.values()) {
    // COALESCE keeps PostgreSQL from scanning the partial index of open deliveries.
    const rows = await tx.returning<{ seq: number }>(
      sql`UPDATE deliveries SET deliveries = deliveries + 1, delivered_to = ${delivered_to}
          WHERE tenant_id = ${TENANT} AND message_id = ANY(${ids}) AND mailbox = ${mailbox}
            AND COALESCE(acknowledged_at, 0) = 0
          RETURNING seq`,
    );
    for (const { seq } of rows) got.add(subjectOf(mailbox, seq));
  }
  const taken = chosen
    .filter(({ mailbox, seq }) => got.has(subjectOf(mailbox, seq)))
    .map((one) => ({ ...one, deliveries: one.deliveries + 1 }));
  if (taken.length === 0) return taken;
  // An expired lease may still exist.
  const subjects = taken.map(({ mailbox, seq }) => subjectOf(mailbox, seq));
  await tx.send(
    sql`DELETE FROM leases WHERE tenant_id = ${TENANT} AND kind = 'message' AND subject_id = ANY(${subjects})`,
  );
  await tx.insert(
    leasesTable,
    taken.map((one, i) => [tx.tenant, 'message', subjects[i]!, holder, one.deliveries, expires_at]),
  );
  return taken;
}

/** Deliveries of a message, optionally in these mailboxes only. */
export function deliveriesOf(
  tx: Tx,
  message_id: string,
  mailboxes: readonly string[] | undefined,
  limit: number,
): Promise<Delivery[]> {
  const among = mailboxes === undefined ? sql`` : sql` AND d.mailbox = ANY(${mailboxes})`;
  return tx.all<Delivery>(
    sql`SELECT ${COLUMNS} FROM deliveries d WHERE d.tenant_id = ${TENANT} AND d.message_id = ${message_id}${among}
        ORDER BY d.mailbox LIMIT ${limit}`,
  );
}

/** Acknowledges a delivery of a locked message and ends its lease. */
export async function acknowledgeDelivery(
  tx: Tx,
  { mailbox, seq, message_id }: Delivery,
  agent_id: string | null,
  now: number,
): Promise<void> {
  await tx.send(
    sql`UPDATE deliveries SET acknowledged_at = ${now}, acknowledged_by = ${agent_id}
        WHERE tenant_id = ${TENANT} AND message_id = ${message_id} AND mailbox = ${mailbox}`,
  );
  await tx.send(
    sql`DELETE FROM leases WHERE tenant_id = ${TENANT} AND kind = 'message' AND subject_id = ${subjectOf(mailbox, seq)}`,
  );
  await tx.send(
    sql`UPDATE messages SET acknowledged = acknowledged + 1, acknowledged_at = ${now}
        WHERE tenant_id = ${TENANT} AND message_id = ${message_id}`,
  );
}

/** Ends a lease if it is over and still the same: the message may have been delivered again. */
export async function endDelivery(
  tx: Tx,
  lease: { readonly subject_id: string; readonly token: number },
  now: number,
): Promise<boolean> {
  const ended = await tx.run(
    sql`DELETE FROM leases WHERE tenant_id = ${TENANT} AND kind = 'message' AND subject_id = ${lease.subject_id}
          AND token = ${lease.token} AND expires_at <= ${now}`,
  );
  return ended > 0;
}

/** The holder of a delivery lease: a reader of an agent. */
export const holderOf = (agent_id: string, reader_id: string): string => JSON.stringify([agent_id, reader_id]);

/** Ends the delivery leases of all readers of an agent; returns their mailboxes. */
export async function releaseDeliveries(tx: Tx, agent_id: string): Promise<string[]> {
  const start = JSON.stringify([agent_id]).slice(0, -1);
  // A holder is JSON, so `["<agent>",` is a prefix; `-` is the character after `,`.
  const ended = await tx.returning<{ subject_id: string }>(
    sql`DELETE FROM leases WHERE tenant_id = ${TENANT} AND kind = 'message' AND holder >= ${`${start},`}
          AND holder < ${`${start}-`} RETURNING subject_id`,
  );
  return [...new Set(ended.map(({ subject_id }) => mailboxOf(subject_id)))];
}
