/** messages: rows in, rows out, and the deliveries that a new one makes. */
import { type Query, type Sql, sql, TENANT, type Tx, textToList } from '../../driver/index.js';
import { PENDING } from '../../engine/sql.js';
import { toIso } from '../../kernel/index.js';
import { type Message, priorities } from './model.js';

export interface MessageRow {
  readonly message_id: string;
  readonly from_agent_id: string | null;
  readonly to_agent_id: string | null;
  readonly to_agent_type: string | null;
  readonly fan_out: Message['fan_out'];
  readonly message_type: string;
  readonly payload: string | null;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  /** JSON. */
  readonly artifact_ids: string | null;
  /** Its place among the priorities: the larger, the sooner. */
  readonly priority: number;
  /** That of its event, PENDING until the commit knows it. */
  readonly seq: number;
  readonly recipients: number;
  readonly acknowledged: number;
  readonly acknowledged_at: number | null;
  readonly sent_hash: string | null;
  readonly expires_at: number | null;
  readonly created_at: number;
  readonly erased_at: number | null;
}

export const COLUMNS: Sql = sql`m.message_id, m.from_agent_id, m.to_agent_id, m.to_agent_type, m.fan_out, m.message_type,
  m.payload, m.trajectory_id, m.scope_id, m.artifact_ids, m.priority, m.seq, m.recipients, m.acknowledged,
  m.acknowledged_at, m.sent_hash, m.expires_at, m.created_at, m.erased_at`;

export const mailboxOfAgent = (agent_id: string): string => `agent:${agent_id}`;
export const mailboxOfType = (agent_type: string): string => `type:${agent_type}`;

export const toMessage = (row: MessageRow): Message => ({
  message_id: row.message_id,
  seq: row.seq,
  from_agent_id: row.from_agent_id,
  to_agent_id: row.to_agent_id,
  to_agent_type: row.to_agent_type,
  fan_out: row.fan_out,
  message_type: row.message_type,
  payload: row.payload ?? '',
  trajectory_id: row.trajectory_id,
  scope_id: row.scope_id,
  artifact_ids: textToList(row.artifact_ids),
  priority: priorities[row.priority]!,
  expires_at: row.expires_at === null ? null : toIso(row.expires_at),
  created_at: toIso(row.created_at),
  recipients: row.recipients,
  acknowledged: row.acknowledged,
  acknowledged_at:
    row.acknowledged_at === null || row.acknowledged < row.recipients ? null : toIso(row.acknowledged_at),
});

/** Whether a message can no longer be read, whether or not a sweep has come by. */
export const isOver = (row: Pick<MessageRow, 'erased_at' | 'expires_at'>, now: number): boolean =>
  row.erased_at !== null || (row.expires_at !== null && row.expires_at <= now);

/** What it takes in memory, about. */
export const messageBytes = (row: Pick<MessageRow, 'payload' | 'artifact_ids'>): number =>
  Buffer.byteLength(row.payload ?? '') + (row.artifact_ids?.length ?? 0);

/** Those that are over included, since an id is never used twice. */
export function findMessage(query: Query, message_id: string): Promise<MessageRow | undefined> {
  return query.get<MessageRow>(
    sql`SELECT ${COLUMNS} FROM messages m WHERE m.tenant_id = ${TENANT} AND m.message_id = ${message_id}`,
  );
}

/** The same, and nobody acknowledges or erases it until the commit. */
export function lockMessage(tx: Tx, message_id: string): Promise<MessageRow | undefined> {
  return tx.get<MessageRow>(
    sql`SELECT ${COLUMNS} FROM messages m WHERE m.tenant_id = ${TENANT} AND m.message_id = ${message_id} FOR UPDATE`,
  );
}

/** Those of these that can be read. */
export function findMessages(query: Query, message_ids: readonly string[], now: number): Promise<MessageRow[]> {
  return query.all<MessageRow>(
    sql`SELECT ${COLUMNS} FROM messages m WHERE m.tenant_id = ${TENANT} AND m.message_id = ANY(${message_ids})
          AND ${readable(now)}`,
  );
}

/** Whether the message under the name m can be read. */
export const readable = (now: number): Sql =>
  sql`m.erased_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > ${now})`;

export type NewMessage = Omit<MessageRow, 'seq' | 'recipients' | 'acknowledged' | 'acknowledged_at'>;

/** What a message has before its commit. */
const NEW = { seq: PENDING, recipients: 0, acknowledged: 0, acknowledged_at: null };

export async function insertMessage(tx: Tx, message: NewMessage): Promise<MessageRow> {
  const row = { ...message, ...NEW };
  await tx.send(
    sql`INSERT INTO messages (tenant_id, message_id, from_agent_id, to_agent_id, to_agent_type, fan_out, message_type,
          payload, trajectory_id, scope_id, artifact_ids, priority, seq, recipients, acknowledged, sent_hash, expires_at,
          created_at)
        VALUES (${TENANT}, ${row.message_id}, ${row.from_agent_id}, ${row.to_agent_id}, ${row.to_agent_type},
          ${row.fan_out}, ${row.message_type}, ${row.payload}, ${row.trajectory_id}, ${row.scope_id},
          ${row.artifact_ids}, ${row.priority}, ${row.seq}, ${row.recipients}, ${row.acknowledged}, ${row.sent_hash},
          ${row.expires_at}, ${row.created_at})`,
  );
  return row;
}

/** Which lane of a mailbox a message is in: one for each sender and priority, the more urgent before the others. */
const laneOf = ({ priority, from_agent_id }: MessageRow): string =>
  `${priorities.length - 1 - priority} ${from_agent_id ?? ''}`;

/** How late the lane of a message comes: 0 is the most urgent. */
export const urgencyOf = (lane: string): number => Number(lane.slice(0, lane.indexOf(' ')));

/**
 * Puts a message into its mailboxes, under the number that it got by its commit, and gives those. One that was erased
 * within the same commit goes to none.
 */
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
