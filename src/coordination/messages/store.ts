/** messages: rows in, rows out, and the insertion of a new message into its mailboxes. */
import { type Query, type Sql, sql, TENANT, type Tx, textToList } from '../../driver/index.js';
import { PENDING } from '../../engine/sql.js';
import { toIso } from '../../kernel/index.js';
import { type Stored, withIsoTimes } from '../rows.js';
import { type Message, priorities } from './model.js';

/** The answer as it is stored, and the columns that are not shown. */
export interface MessageRow extends Omit<Stored<Message>, 'payload' | 'artifact_ids' | 'priority'> {
  /** Null once the message is erased. */
  readonly payload: string | null;
  /** JSON. */
  readonly artifact_ids: string | null;
  /** The index in `priorities`: higher is more urgent. */
  readonly priority: number;
  readonly sent_hash: string | null;
  readonly erased_at: number | null;
}

export const COLUMNS: Sql = sql`m.message_id, m.from_agent_id, m.to_agent_id, m.to_agent_type, m.fan_out, m.message_type,
  m.payload, m.trajectory_id, m.scope_id, m.artifact_ids, m.priority, m.seq, m.recipients, m.acknowledged,
  m.acknowledged_at, m.sent_hash, m.expires_at, m.created_at, m.erased_at`;

export const mailboxOfAgent = (agent_id: string): string => `agent:${agent_id}`;
export const mailboxOfType = (agent_type: string): string => `type:${agent_type}`;

export const toMessage = (row: MessageRow): Message => {
  const { sent_hash: _, erased_at: __, ...shown } = row;
  return {
    ...withIsoTimes(shown),
    payload: row.payload ?? '',
    artifact_ids: textToList(row.artifact_ids),
    priority: priorities[row.priority]!,
    acknowledged_at:
      row.acknowledged_at === null || row.acknowledged < row.recipients ? null : toIso(row.acknowledged_at),
  };
};

/** Whether a message is erased or expired, swept or not. */
export const isOver = (row: Pick<MessageRow, 'erased_at' | 'expires_at'>, now: number): boolean =>
  row.erased_at !== null || (row.expires_at !== null && row.expires_at <= now);

/** Approximate size in memory. */
export const messageBytes = (row: Pick<MessageRow, 'payload' | 'artifact_ids'>): number =>
  Buffer.byteLength(row.payload ?? '') + (row.artifact_ids?.length ?? 0);

const byId = (message_id: string): Sql =>
  sql`SELECT ${COLUMNS} FROM messages m WHERE m.tenant_id = ${TENANT} AND m.message_id = ${message_id}`;

/** Includes expired and erased messages, since ids are never reused. */
export const findMessage = (query: Query, message_id: string): Promise<MessageRow | undefined> =>
  query.get(byId(message_id));

export const lockMessage = (tx: Tx, message_id: string): Promise<MessageRow | undefined> =>
  tx.get(sql`${byId(message_id)} FOR UPDATE`);

/** The readable ones of these messages. */
export const findMessages = (query: Query, message_ids: readonly string[], now: number): Promise<MessageRow[]> =>
  query.all(
    sql`SELECT ${COLUMNS} FROM messages m WHERE m.tenant_id = ${TENANT} AND m.message_id = ANY(${message_ids})
          AND ${readable(now)}`,
  );

/** The condition that message m is neither erased nor expired. */
export const readable = (now: number): Sql =>
  sql`m.erased_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > ${now})`;

/** Columns of a message before its commit. */
const NEW = { seq: PENDING, recipients: 0, acknowledged: 0, acknowledged_at: null };

export async function insertMessage(tx: Tx, message: Omit<MessageRow, keyof typeof NEW>): Promise<MessageRow> {
  const row = { ...message, ...NEW };
  await tx.send(
    sql`INSERT INTO messages (tenant_id, message_id, from_agent_id, to_agent_id, to_agent_type, fan_out, message_type,
          payload, trajectory_id, scope_id, artifact_ids, priority, seq, recipients, acknowledged, sent_hash,
          expires_at, created_at)
        VALUES (${TENANT}, ${row.message_id}, ${row.from_agent_id}, ${row.to_agent_id}, ${row.to_agent_type},
          ${row.fan_out}, ${row.message_type}, ${row.payload}, ${row.trajectory_id}, ${row.scope_id},
          ${row.artifact_ids}, ${row.priority}, ${row.seq}, ${row.recipients}, ${row.acknowledged}, ${row.sent_hash},
          ${row.expires_at}, ${row.created_at})`,
  );
  return row;
}

/** The lane of a message: one per sender and priority; more urgent lanes sort first. */
const laneOf = ({ priority, from_agent_id }: MessageRow): string =>
  `${priorities.length - 1 - priority} ${from_agent_id ?? ''}`;

/** The rank of a lane: 0 is the most urgent. */
export const urgencyOf = (lane: string): number => Number(lane.slice(0, lane.indexOf(' ')));

/** Inserts a message into its mailboxes with the seq of its commit; returns them. None if erased in the same commit. */
export async function settleMessage(tx: Tx, row: MessageRow, seq: number): Promise<string[]> {
  const { to_agent_id, to_agent_type } = row;
  const toAll = to_agent_type !== null && row.fan_out === 'all';
  const one = to_agent_type === null ? mailboxOfAgent(to_agent_id!) : mailboxOfType(to_agent_type);
  const mailbox = toAll ? sql`${mailboxOfAgent('')} || a.agent_id` : sql`CAST(${one} AS TEXT)`;
  const everyone = toAll ? sql` CROSS JOIN agents a` : sql``;
  const registered = toAll
    ? sql` AND a.tenant_id = ${TENANT} AND a.agent_type = ${to_agent_type} AND a.typed = 1
          AND a.unregistered_at IS NULL
          AND (a.made = 0 OR EXISTS (SELECT 1 FROM agent_turns t
            WHERE t.tenant_id = ${TENANT} AND t.agent_id = a.agent_id AND t.ended_at IS NULL))`
    : sql``;
  const delivered = await tx.returning<{ mailbox: string }>(
    sql`INSERT INTO deliveries (tenant_id, mailbox, seq, message_id, lane, deliveries, expires_at)
        SELECT m.tenant_id, ${mailbox}, CAST(${seq} AS BIGINT), m.message_id, CAST(${laneOf(row)} AS TEXT), 0, m.expires_at
        FROM messages m${everyone}
        WHERE m.tenant_id = ${TENANT} AND m.message_id = ${row.message_id} AND m.erased_at IS NULL${registered}
        RETURNING mailbox`,
  );
  await tx.send(
    sql`UPDATE messages SET seq = ${seq}, recipients = ${delivered.length}
        WHERE tenant_id = ${TENANT} AND message_id = ${row.message_id}`,
  );
  return delivered.map((one) => one.mailbox);
}
