/** Lists of messages, in the order of sending. */
import type { Query } from '../driver/driver.js';
import { byDialect, join, type Sql, sql } from '../driver/sql.js';
import { COLUMNS, type MessageRow, readable } from './messages.js';

export interface MessageFilter {
  /** In one of these. */
  readonly mailboxes?: readonly string[] | undefined;
  readonly to_agent_type?: string | undefined;
  readonly from_agent_id?: string | undefined;
  readonly message_type?: string | undefined;
  readonly trajectory_id?: string | undefined;
  readonly unacknowledged?: boolean | undefined;
}

/** The agent that asks, and what it reads from. */
export interface Viewer {
  readonly agent_id: string;
  readonly mailboxes: readonly string[];
}

/** Whether the message under the name m is for this agent: sent by it, or in a mailbox of its. */
const visibleTo = (tenant: string, { agent_id, mailboxes }: Viewer): Sql =>
  sql`(m.from_agent_id = ${agent_id} OR EXISTS (SELECT 1 FROM deliveries x
    WHERE x.tenant_id = ${tenant} AND x.mailbox = ANY(${mailboxes}) AND x.seq = m.seq))`;

export async function isVisible(
  query: Query,
  tenant: string,
  { message_id }: MessageRow,
  viewer: Viewer,
): Promise<boolean> {
  const found = await query.get(
    sql`SELECT 1 FROM messages m WHERE m.tenant_id = ${tenant} AND m.message_id = ${message_id}
          AND ${visibleTo(tenant, viewer)}`,
  );
  return found !== undefined;
}

/** Where to look for messages: rows under the name m, and conditions. Each gives them in order by an index. */
type Source = readonly [from: Sql, where: Sql];

/** What waits in a mailbox is found by the index of that, however much was acknowledged there. */
const openIn = (tenant: string, mailbox: string): Sql =>
  byDialect({
    sqlite: sql`deliveries d INDEXED BY deliveries_open`,
    postgres: sql`(SELECT * FROM deliveries o WHERE o.tenant_id = ${tenant} AND o.mailbox = ${mailbox}
      AND o.acknowledged_at IS NULL OFFSET 0) d`,
  });

function inMailbox(tenant: string, mailbox: string, open: boolean): Source {
  return [
    sql`${open ? openIn(tenant, mailbox) : sql`deliveries d`} CROSS JOIN messages m`,
    sql`d.tenant_id = ${tenant} AND d.mailbox = ${mailbox} AND m.message_id = d.message_id${
      open ? sql` AND d.acknowledged_at IS NULL` : sql``
    }`,
  ];
}

function sourcesOf(tenant: string, filter: MessageFilter, viewer: Viewer | null): Source[] {
  const { mailboxes, unacknowledged = false } = filter;
  if (mailboxes) return mailboxes.map((mailbox) => inMailbox(tenant, mailbox, unacknowledged));
  const all: Source = [sql`messages m`, sql`TRUE`];
  if (viewer === null || filter.from_agent_id !== undefined) return [all];
  return [
    [sql`messages m`, sql`m.from_agent_id = ${viewer.agent_id}`],
    ...viewer.mailboxes.map((mailbox) => inMailbox(tenant, mailbox, false)),
  ];
}

function where(tenant: string, filter: MessageFilter, viewer: Viewer | null, now: number): Sql {
  const { to_agent_type, from_agent_id, message_type, trajectory_id } = filter;
  const conditions: Sql[] = [sql`m.tenant_id = ${tenant}`, readable(now)];
  if (to_agent_type !== undefined) conditions.push(sql`m.to_agent_type = ${to_agent_type}`);
  if (from_agent_id !== undefined) conditions.push(sql`m.from_agent_id = ${from_agent_id}`);
  if (message_type !== undefined) conditions.push(sql`m.message_type = ${message_type}`);
  if (trajectory_id !== undefined) conditions.push(sql`m.trajectory_id = ${trajectory_id}`);
  if (filter.unacknowledged && !filter.mailboxes) conditions.push(sql`m.acknowledged < m.recipients`);
  if (viewer !== null) conditions.push(visibleTo(tenant, viewer));
  return join(conditions, ' AND ');
}

export interface MessagePage {
  readonly after?: number | undefined;
  readonly limit: number;
  readonly offset?: number | undefined;
}

export async function listMessages(
  query: Query,
  tenant: string,
  filter: MessageFilter,
  viewer: Viewer | null,
  page: MessagePage,
  now: number,
): Promise<MessageRow[]> {
  const conditions = where(tenant, filter, viewer, now);
  const { after = 0, limit, offset = 0 } = page;
  const found = new Map<number, MessageRow>();
  for (const [from, where] of sourcesOf(tenant, filter, viewer)) {
    const rows = await query.all<MessageRow>(
      sql`SELECT ${COLUMNS} FROM ${from} WHERE ${where} AND ${conditions} AND m.seq > ${after}
          ORDER BY m.seq LIMIT ${limit + offset}`,
    );
    for (const row of rows) found.set(row.seq, row);
  }
  return [...found.values()].sort((a, b) => a.seq - b.seq).slice(offset, offset + limit);
}

export function countMessages(
  tenant: string,
  filter: MessageFilter,
  viewer: Viewer | null,
  now: number,
): Sql {
  const conditions = where(tenant, filter, viewer, now);
  const each = sourcesOf(tenant, filter, viewer).map(
    ([from, where]) => sql`SELECT m.seq FROM ${from} WHERE ${where} AND ${conditions}`,
  );
  return sql`SELECT COUNT(*) AS total FROM (${join(each, ' UNION ')}) found`;
}
