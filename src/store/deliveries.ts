/**
 * deliveries: what waits in mailboxes, for whom it is on its way now, and what was acknowledged. A delivery on its way
 * has a lease of the kind message, whose subject is `<mailbox> <seq>`.
 */
import type { Query, Table, Tx } from '../driver/driver.js';
import { byDialect, type Sql, sql } from '../driver/sql.js';
import { textToList } from './codec.js';
import { mailboxOfAgent } from './messages.js';

export interface Delivery {
  readonly mailbox: string;
  readonly seq: number;
  readonly message_id: string;
  readonly from_agent_id: string | null;
  readonly priority: number;
  /** How often it was handed out. */
  readonly deliveries: number;
  /** JSON: which agents of a type had it, the last one last. */
  readonly delivered_to: string | null;
  readonly acknowledged_at: number | null;
}

/** A delivery that waits, with the lease under which somebody has it now. */
export interface OpenDelivery extends Delivery {
  readonly holder: string | null;
  readonly leased_until: number | null;
}

export const subjectOf = (mailbox: string, seq: number): string => `${mailbox} ${seq}`;
/** A seq has no blank, whatever an agent is called. */
export const mailboxOf = (subject: string): string => subject.slice(0, subject.lastIndexOf(' '));

const locking = (mailbox: string): Sql =>
  byDialect({
    sqlite: sql`1`,
    postgres: sql`pg_advisory_xact_lock(hashtextextended(t.tenant_id || ' mailbox ' || ${mailbox}, 0))`,
  });

/**
 * Who takes from these mailboxes takes turns, so that all see what is on its way with others. SQLite has one writer, and
 * there is no row that stands for a mailbox.
 */
export async function lockMailboxes(tx: Tx, tenant: string, mailboxes: readonly string[]): Promise<void> {
  for (const mailbox of [...mailboxes].sort()) {
    await tx.all(sql`SELECT ${locking(mailbox)} FROM tenants t WHERE t.tenant_id = ${tenant}`);
  }
}

/** What waits in a mailbox, the most urgent first, then in order; behind a place, if one is given. */
export function openDeliveries(
  query: Query,
  tenant: string,
  mailbox: string,
  now: number,
  after: Pick<Delivery, 'priority' | 'seq'> | undefined,
  limit: number,
): Promise<OpenDelivery[]> {
  const behind = after
    ? sql` AND d.priority <= ${after.priority} AND NOT (d.priority = ${after.priority} AND d.seq <= ${after.seq})`
    : sql``;
  return query.all<OpenDelivery>(
    sql`SELECT d.mailbox, d.seq, d.message_id, d.from_agent_id, d.priority, d.deliveries, d.delivered_to,
          d.acknowledged_at, l.holder, l.expires_at AS leased_until
        FROM deliveries d LEFT JOIN leases l ON l.tenant_id = ${tenant} AND l.kind = 'message'
          AND l.subject_id = d.mailbox || ' ' || d.seq AND l.expires_at > ${now}
        WHERE d.tenant_id = ${tenant} AND d.mailbox = ${mailbox} AND d.acknowledged_at IS NULL
          AND (d.expires_at IS NULL OR d.expires_at > ${now})${behind}
        ORDER BY d.priority DESC, d.seq LIMIT ${limit}`,
  );
}

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

export interface Taking {
  readonly agent_id: string;
  readonly holder: string;
  readonly expires_at: number;
}

/** Of the agents that had a message so many are remembered; each of them may acknowledge it. */
const REMEMBERED = 16;

/** Who had it once this agent has it. In the mailbox of an agent it is always that one. */
function deliveredTo(one: Delivery, agent_id: string): string | null {
  if (one.mailbox === mailboxOfAgent(agent_id)) return null;
  const before = textToList(one.delivered_to).filter((id) => id !== agent_id);
  return JSON.stringify([...before, agent_id].slice(-REMEMBERED));
}

/** Leases deliveries to a reader. Gives those that it got: one that was acknowledged or erased meanwhile is left out. */
export async function takeDeliveries(
  tx: Tx,
  tenant: string,
  chosen: readonly Delivery[],
  { agent_id, holder, expires_at }: Taking,
): Promise<Delivery[]> {
  // Those that nobody else had, which most are, are one statement a mailbox.
  const alike = new Map<string, { mailbox: string; delivered_to: string | null; seqs: number[] }>();
  for (const one of chosen) {
    const { mailbox, seq } = one;
    const delivered_to = deliveredTo(one, agent_id);
    const name = JSON.stringify([mailbox, delivered_to]);
    const others = alike.get(name);
    if (others) others.seqs.push(seq);
    else alike.set(name, { mailbox, delivered_to, seqs: [seq] });
  }
  const got = new Set<string>();
  for (const { mailbox, delivered_to, seqs } of alike.values()) {
    const rows = await tx.returning<{ seq: number }>(
      sql`UPDATE deliveries SET deliveries = deliveries + 1, delivered_to = ${delivered_to}
          WHERE tenant_id = ${tenant} AND mailbox = ${mailbox} AND seq = ANY(${seqs}) AND acknowledged_at IS NULL
          RETURNING seq`,
    );
    for (const { seq } of rows) got.add(subjectOf(mailbox, seq));
  }
  const taken = chosen
    .filter(({ mailbox, seq }) => got.has(subjectOf(mailbox, seq)))
    .map((one) => ({ ...one, deliveries: one.deliveries + 1 }));
  // What is over may still be there.
  const subjects = taken.map(({ mailbox, seq }) => subjectOf(mailbox, seq));
  await tx.send(
    sql`DELETE FROM leases WHERE tenant_id = ${tenant} AND kind = 'message' AND subject_id = ANY(${subjects})`,
  );
  await tx.insert(
    leasesTable,
    taken.map((one, i) => [tenant, 'message', subjects[i]!, holder, one.deliveries, expires_at]),
  );
  return taken;
}

/** The deliveries of a message: at most so many, or the one in one of these mailboxes. */
export function deliveriesOf(
  tx: Tx,
  tenant: string,
  message_id: string,
  mailboxes: readonly string[] | undefined,
  limit: number,
): Promise<Delivery[]> {
  const among = mailboxes === undefined ? sql`` : sql` AND d.mailbox = ANY(${mailboxes})`;
  return tx.all<Delivery>(
    sql`SELECT d.mailbox, d.seq, d.message_id, d.from_agent_id, d.priority, d.deliveries, d.delivered_to,
          d.acknowledged_at
        FROM deliveries d WHERE d.tenant_id = ${tenant} AND d.message_id = ${message_id}${among}
        ORDER BY d.mailbox LIMIT ${limit}`,
  );
}

/** Acknowledges a delivery of a message that is locked, and ends its lease. */
export async function acknowledgeDelivery(
  tx: Tx,
  tenant: string,
  { mailbox, seq, message_id }: Delivery,
  agent_id: string | null,
  now: number,
): Promise<void> {
  await tx.send(
    sql`UPDATE deliveries SET acknowledged_at = ${now}, acknowledged_by = ${agent_id}
        WHERE tenant_id = ${tenant} AND mailbox = ${mailbox} AND seq = ${seq}`,
  );
  await tx.send(
    sql`DELETE FROM leases WHERE tenant_id = ${tenant} AND kind = 'message' AND subject_id = ${subjectOf(mailbox, seq)}`,
  );
  await tx.send(
    sql`UPDATE messages SET acknowledged = acknowledged + 1, acknowledged_at = ${now}
        WHERE tenant_id = ${tenant} AND message_id = ${message_id}`,
  );
}

/** Ends a lease on a delivery, if it is still this one and over: it may have been handed out again. */
export async function endDelivery(
  tx: Tx,
  tenant: string,
  lease: { readonly subject_id: string; readonly token: number },
  now: number,
): Promise<boolean> {
  const ended = await tx.run(
    sql`DELETE FROM leases WHERE tenant_id = ${tenant} AND kind = 'message' AND subject_id = ${lease.subject_id}
          AND token = ${lease.token} AND expires_at <= ${now}`,
  );
  return ended > 0;
}

/** Who holds a delivery: a reader of an agent. */
export const holderOf = (agent_id: string, reader_id: string): string =>
  JSON.stringify([agent_id, reader_id]);

/** Ends what all readers of an agent have on its way, and gives the mailboxes that it was from. */
export async function releaseDeliveries(tx: Tx, tenant: string, agent_id: string): Promise<string[]> {
  const start = JSON.stringify([agent_id]).slice(0, -1);
  // The agent's id ends with a quote and is followed by a comma, behind which a minus comes.
  const ended = await tx.returning<{ subject_id: string }>(
    sql`DELETE FROM leases WHERE tenant_id = ${tenant} AND kind = 'message' AND holder >= ${`${start},`}
          AND holder < ${`${start}-`} RETURNING subject_id`,
  );
  return [...new Set(ended.map(({ subject_id }) => mailboxOf(subject_id)))];
}
