/** Lists of messages in order of sending. */
import {
  afterCursor,
  byDialect,
  inOrder,
  join,
  type KeysetPage,
  type Query,
  type Sql,
  sql,
  TENANT,
} from '../../driver/index.js';
import { equalTo, type ListFilter } from '../rows.js';
import { DONE, OPEN } from './deliveries.js';
import { COLUMNS, type MessageRow, readable } from './store.js';

export type MessageFilter = Omit<ListFilter<'messages.list'>, 'to_agent' | 'party'> & {
  /** Only messages in one of these. */
  readonly mailboxes?: readonly string[] | undefined;
};

/** An agent and its mailboxes. */
export interface Viewer {
  readonly agent_id: string;
  readonly mailboxes: readonly string[];
}

/** The condition that message m was sent by this agent or is in one of its mailboxes. */
const visibleTo = ({ agent_id, mailboxes }: Viewer): Sql =>
  sql`(m.from_agent_id = ${agent_id} OR EXISTS (SELECT 1 FROM deliveries x
    WHERE x.tenant_id = ${TENANT} AND x.message_id = m.message_id AND x.mailbox = ANY(${mailboxes})))`;

export async function isVisible(query: Query, { message_id }: MessageRow, viewer: Viewer): Promise<boolean> {
  const found = await query.get(
    sql`SELECT 1 FROM messages m WHERE m.tenant_id = ${TENANT} AND m.message_id = ${message_id}
          AND ${visibleTo(viewer)}`,
  );
  return found !== undefined;
}

/** A source of messages m: tables, conditions, and the column by which an index orders them. */
interface Source {
  readonly from: Sql;
  readonly where: Sql;
  readonly seq: Sql;
}

/**
 * The message m of each delivery d, looked up by its key: PostgreSQL without statistics would otherwise scan all
 * messages; SQLite has no LATERAL and keeps the order of a CROSS JOIN.
 */
const messageOfDelivery = (): Sql =>
  byDialect({
    sqlite: sql`CROSS JOIN messages m`,
    postgres: sql`CROSS JOIN LATERAL (SELECT * FROM messages k
      WHERE k.tenant_id = ${TENANT} AND k.message_id = d.message_id OFFSET 0) m`,
  });

/** Open and acknowledged deliveries have an index each. */
const HALVES = {
  open: [OPEN, sql`d.acknowledged_at IS NULL`],
  done: [DONE, sql`d.acknowledged_at IS NOT NULL`],
} as const;

function inMailboxes(mailboxes: readonly string[], open = false): Source[] {
  const halves = open ? [HALVES.open] : [HALVES.open, HALVES.done];
  return mailboxes.flatMap((mailbox) =>
    halves.map(([deliveries, which]) => ({
      from: sql`${deliveries} ${messageOfDelivery()}`,
      where: sql`d.tenant_id = ${TENANT} AND d.mailbox = ${mailbox} AND ${which} AND m.message_id = d.message_id`,
      seq: sql`d.seq`,
    })),
  );
}

const among = (where: Sql): Source => ({ from: sql`messages m`, where, seq: sql`m.seq` });

function sourcesOf(filter: MessageFilter, viewer: Viewer | null): Source[] {
  if (filter.mailboxes) return inMailboxes(filter.mailboxes, filter.unacknowledged);
  if (viewer === null || filter.from_agent_id !== undefined) return [among(sql`TRUE`)];
  return [among(sql`m.from_agent_id = ${viewer.agent_id}`), ...inMailboxes(viewer.mailboxes)];
}

function where(filter: MessageFilter, viewer: Viewer | null, now: number): Sql {
  const equal = {
    'm.to_agent_type': filter.to_agent_type,
    'm.from_agent_id': filter.from_agent_id,
    'm.message_type': filter.message_type,
    'm.trajectory_id': filter.trajectory_id,
  };
  const conditions: Sql[] = [sql`m.tenant_id = ${TENANT}`, readable(now), ...equalTo(equal)];
  if (filter.unacknowledged && !filter.mailboxes) conditions.push(sql`m.acknowledged < m.recipients`);
  if (viewer !== null) conditions.push(visibleTo(viewer));
  return join(conditions, ' AND ');
}

export async function listMessages(
  query: Query,
  filter: MessageFilter,
  viewer: Viewer | null,
  page: KeysetPage<number>,
  now: number,
): Promise<MessageRow[]> {
  const conditions = where(filter, viewer, now);
  const { order, limit, offset = 0 } = page;
  const found = new Map<number, MessageRow>();
  for (const { from, where, seq } of sourcesOf(filter, viewer)) {
    const rows = await query.all<MessageRow>(
      sql`SELECT ${COLUMNS} FROM ${from} WHERE ${where} AND ${conditions}${afterCursor(seq, page)}
          ${inOrder(seq, order)} LIMIT ${limit + offset}`,
    );
    for (const row of rows) found.set(row.seq, row);
  }
  const sign = order === 'desc' ? -1 : 1;
  return [...found.values()].sort((a, b) => sign * (a.seq - b.seq)).slice(offset, offset + limit);
}

export function countMessages(filter: MessageFilter, viewer: Viewer | null, now: number): Sql {
  const { mailboxes, unacknowledged, ...others } = filter;
  // Deliveries are deleted with the content of their message: without other filters they are counted alone.
  if (mailboxes && viewer === null && Object.values(others).every((value) => value === undefined)) {
    const each = (unacknowledged ? [HALVES.open] : [HALVES.open, HALVES.done]).map(
      ([deliveries, which]) => sql`SELECT d.seq FROM ${deliveries} WHERE d.tenant_id = ${TENANT}
        AND d.mailbox = ANY(${mailboxes}) AND ${which} AND (d.expires_at IS NULL OR d.expires_at > ${now})`,
    );
    return sql`SELECT COUNT(*) AS total FROM (${join(each, ' UNION ALL ')}) found`;
  }
  const conditions = where(filter, viewer, now);
  const each = sourcesOf(filter, viewer).map(
    ({ from, where }) => sql`SELECT m.seq FROM ${from} WHERE ${where} AND ${conditions}`,
  );
  return sql`SELECT COUNT(*) AS total FROM (${join(each, ' UNION ')}) found`;
}
