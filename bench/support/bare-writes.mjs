// The rows that Cairn writes, written by bare prepared statements: one statement a row, one commit a group.
import { TENANT } from './databases.mjs';

const HEAD = `UPDATE tenants SET seq = seq + $1, recorded_at = $2 WHERE tenant_id = $3 RETURNING seq`;
const ENTRY = `INSERT INTO box_entries (tenant_id, box_id, position, card_id, added_revision, ordinal) VALUES ($1, $2, $3, $4, $5, $6)`;
const BOX = `UPDATE boxes SET revision = $1, length = $2, first_position = $3, next_position = $4, base_until = $5,
  updated_at = $6 WHERE tenant_id = $7 AND box_id = $8`;
const GROW = `UPDATE boxes SET revision = $1, length = $2, next_position = $3, updated_at = $4
  WHERE tenant_id = $5 AND box_id = $6`;
const USE = `UPDATE scopes SET tokens_used = $1, threshold_at = $2, updated_at = $3 WHERE tenant_id = $4 AND scope_id = $5`;
const RESOURCE = `UPDATE lock_resources SET token = $1, ticket = $2 WHERE tenant_id = $3 AND resource_type = $4 AND resource_id = $5`;
const LOCK = `INSERT INTO locks (tenant_id, lock_id, resource_type, resource_id, holder_agent_id, mode, state, ticket, token,
  lease_ms, asked_at, granted_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;
const LEASE = `INSERT INTO leases (tenant_id, kind, subject_id, holder, token, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`;
const UNLOCK = `UPDATE locks SET state = $1, ticket = $2, token = $3, granted_at = $4, ended_at = $5
  WHERE tenant_id = $6 AND lock_id = $7`;
const UNLEASE = `DELETE FROM leases WHERE tenant_id = $1 AND kind = $2 AND subject_id = $3`;
const INDEX = `INSERT INTO packet_index (tenant_id, kind, value, seq) VALUES ($1, $2, $3, $4)`;

const IN_EVERY_PACKET = [
  ...['tenant_id', 'seq', 'packet_id', 'packet_type', 'timestamp', 'recorded_at', 'thread_id', 'agent'],
];
const EVENT_COLUMNS = [...IN_EVERY_PACKET, 'key_id', 'entity_type', 'entity_id', 'facts', 'format', 'checksum'];
const PACKET_COLUMNS = [
  ...IN_EVERY_PACKET,
  ...['source', 'envelope', 'original', 'content_hash', 'sent_hash', 'expires_at', 'generation', 'root_packet_id'],
  ...['parent_ids', 'subject_ids'],
];
const CARD_COLUMNS = [
  ...['tenant_id', 'card_id', 'content', 'tool_calls', 'tool_call_id', 'metadata', 'author_id', 'subject_ids'],
  ...['derived_from', 'content_hash', 'sent_hash', 'ttl_seconds', 'expires_at', 'created_at', 'held_by'],
];
const insertOf = (table, columns) =>
  `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(', ')})`;
const EVENT = insertOf('packet_store', EVENT_COLUMNS);
const PACKET = insertOf('packet_store', PACKET_COLUMNS);
const CARD = insertOf('cards', CARD_COLUMNS);

/** Makes rows of packet_store like one that a user wrote, of the same bytes, with other ids in it. */
export const packetRows = (template) => rowsLike(template, PACKET_COLUMNS);

/** The same for Cairn's own events. */
export const eventRows = (template) => rowsLike(template, EVENT_COLUMNS);

/** The same for cards. */
export const cardRows = (template) => rowsLike(template, CARD_COLUMNS);

function rowsLike(template, columns) {
  const values = columns.map((name) => template[name]);
  return (replacements) =>
    values.map((value) =>
      typeof value === 'string' ? replacements.reduce((text, [from, to]) => text.replaceAll(from, to), value) : value,
    );
}

/**
 * Gives a function that writes a group in one transaction. Each item has an `event` row, or a `packet` row with
 * `index` pairs, for an append the card's `entry` and the `box` as it is after it, for a turn the `card`, its `entry`, and how box and
 * scope `grow` and are in `use` by it; for a lock its `resource`, `lock` and `lease`, and how they end.
 */
export function groupWriter(kind, bare) {
  return kind === 'sqlite' ? sqliteGroups(bare) : postgresGroups(bare);
}

/** What an item writes before its packet, in order: the statement and the item's member that has the values. */
const BEFORE = [
  [CARD, 'card'],
  [ENTRY, 'entry'],
  [BOX, 'box'],
  [GROW, 'grow'],
  [USE, 'use'],
  [RESOURCE, 'resource'],
  [LOCK, 'lock'],
  [LEASE, 'lease'],
  [UNLOCK, 'unlock'],
  [UNLEASE, 'unlease'],
];

function sqliteGroups(bare) {
  const [begin, commit] = ['BEGIN IMMEDIATE', 'COMMIT'].map(bare.prepare);
  const [head, event, packet, index] = [HEAD, EVENT, PACKET, INDEX].map(bare.prepare);
  const before = BEFORE.map(([text, member]) => [bare.prepare(text), member]);
  return (items) => {
    begin.run();
    for (const item of items)
      for (const [statement, member] of before) if (item[member]) statement.run(...item[member]);
    let seq = head.get(items.length, Date.now(), TENANT).seq - items.length;
    for (const item of items) {
      const row = item.event ?? item.packet;
      row[1] = ++seq;
      (item.event ? event : packet).run(...row);
      if (item.index) for (const [name, value] of item.index) index.run(TENANT, name, value, seq);
    }
    commit.run();
  };
}

/** Nothing is awaited but the number that the packets need. */
function postgresGroups({ run }) {
  return async (items) => {
    const sent = [run('BEGIN')];
    for (const item of items) for (const [text, member] of BEFORE) if (item[member]) sent.push(run(text, item[member]));
    let seq = (await run(HEAD, [items.length, Date.now(), TENANT])).rows[0].seq - items.length;
    for (const item of items) {
      const row = item.event ?? item.packet;
      row[1] = ++seq;
      sent.push(run(item.event ? EVENT : PACKET, row));
      if (item.index) for (const [name, value] of item.index) sent.push(run(INDEX, [TENANT, name, value, seq]));
    }
    sent.push(run('COMMIT'));
    await Promise.all(sent);
  };
}
