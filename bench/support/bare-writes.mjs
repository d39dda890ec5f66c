// The rows that Cairn writes, written by bare prepared statements: one statement a row, one commit a group.
import { TENANT } from './databases.mjs';

const HEAD = `UPDATE tenants SET seq = seq + $1, recorded_at = $2 WHERE tenant_id = $3 RETURNING seq`;
const ENTRY = `INSERT INTO box_entries (tenant_id, box_id, position, card_id, added_revision, ordinal) VALUES ($1, $2, $3, $4, $5, $6)`;
const BOX = `UPDATE boxes SET revision = $1, length = $2, first_position = $3, next_position = $4, base_until = $5,
  updated_at = $6 WHERE tenant_id = $7 AND box_id = $8`;
const INDEX = `INSERT INTO packet_index (tenant_id, kind, value, seq) VALUES ($1, $2, $3, $4)`;

const PACKET_COLUMNS = [
  ...[
    'tenant_id',
    'seq',
    'packet_id',
    'packet_type',
    'timestamp',
    'recorded_at',
    'thread_id',
    'agent',
    'source',
  ],
  ...[
    'entity_type',
    'entity_id',
    'envelope',
    'original',
    'content_hash',
    'sent_hash',
    'expires_at',
    'generation',
  ],
  ...['root_packet_id', 'parent_ids', 'subject_ids'],
];
const PACKET = `INSERT INTO packet_store (${PACKET_COLUMNS.join(', ')})
  VALUES (${PACKET_COLUMNS.map((_, i) => `$${i + 1}`).join(', ')})`;

/** Makes rows of packet_store like one that Cairn wrote, of the same bytes, with other ids in it. */
export function packetRows(template) {
  const values = PACKET_COLUMNS.map((name) => template[name]);
  return (replacements) =>
    values.map((value) =>
      typeof value === 'string'
        ? replacements.reduce((text, [from, to]) => text.replaceAll(from, to), value)
        : value,
    );
}

/**
 * Gives a function that writes a group in one transaction. Each item has a `packet` row, maybe `index` pairs, and for
 * an append the card's `entry` and the `box` as it is after it.
 */
export function groupWriter(kind, bare) {
  return kind === 'sqlite' ? sqliteGroups(bare) : postgresGroups(bare);
}

function sqliteGroups(bare) {
  const [begin, commit] = ['BEGIN IMMEDIATE', 'COMMIT'].map(bare.prepare);
  const [head, entry, box, packet, index] = [HEAD, ENTRY, BOX, PACKET, INDEX].map(bare.prepare);
  return (items) => {
    begin.run();
    for (const item of items) {
      if (item.entry) entry.run(...item.entry);
      if (item.box) box.run(...item.box);
    }
    let seq = head.get(items.length, Date.now(), TENANT).seq - items.length;
    for (const item of items) {
      item.packet[1] = ++seq;
      packet.run(...item.packet);
      if (item.index) for (const [name, value] of item.index) index.run(TENANT, name, value, seq);
    }
    commit.run();
  };
}

/** Nothing is awaited but the number that the packets need. */
function postgresGroups({ run }) {
  return async (items) => {
    const sent = [run('BEGIN')];
    for (const item of items) {
      if (item.entry) sent.push(run(ENTRY, item.entry));
      if (item.box) sent.push(run(BOX, item.box));
    }
    let seq = (await run(HEAD, [items.length, Date.now(), TENANT])).rows[0].seq - items.length;
    for (const item of items) {
      item.packet[1] = ++seq;
      sent.push(run(PACKET, item.packet));
      if (item.index)
        for (const [name, value] of item.index) sent.push(run(INDEX, [TENANT, name, value, seq]));
    }
    sent.push(run('COMMIT'));
    await Promise.all(sent);
  };
}
