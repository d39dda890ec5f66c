/** Doctor checks of the packet stream. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import { type Check, type CheckedContent, MAX_EXAMPLES } from '../../engine/index.js';
import { checksumOf, type EventColumns } from '../../engine/sql.js';
import { sha256 } from '../../kernel/node.js';
import { STORED, type StoredPacket } from './store.js';

export const streamChecks: readonly Check[] = [
  {
    name: 'the stream has no hole: seq runs from 1 to the head',
    broken: () =>
      sql`SELECT 'head is ' || t.seq || ', packets are ' || COUNT(p.seq) || ' up to ' || COALESCE(MAX(p.seq), 0) AS what
          FROM tenants t LEFT JOIN packet_store p ON p.tenant_id = t.tenant_id WHERE t.tenant_id = ${TENANT}
          GROUP BY t.seq HAVING COUNT(p.seq) <> t.seq OR COALESCE(MAX(p.seq), 0) <> t.seq`,
  },
  {
    name: 'recorded times rise with seq, except after a clock recovery',
    broken: () =>
      sql`SELECT 'packet ' || p.seq AS what FROM packet_store p
          JOIN packet_store n ON n.tenant_id = p.tenant_id AND n.seq = p.seq + 1
          WHERE p.tenant_id = ${TENANT} AND n.recorded_at < p.recorded_at AND NOT EXISTS (
            SELECT 1 FROM clock_overlaps o WHERE o.tenant_id = n.tenant_id AND o.seq = n.seq) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'every parent of a packet exists and is older',
    broken: () =>
      sql`SELECT 'packet ' || i.seq || ' has parent ' || i.value AS what FROM packet_index i
          LEFT JOIN packet_store p ON p.tenant_id = i.tenant_id AND p.packet_id = i.value
          WHERE i.tenant_id = ${TENANT} AND i.kind = 'parent' AND (p.seq IS NULL OR p.seq >= i.seq) LIMIT ${MAX_EXAMPLES}`,
  },
];

/** Hashed again page by page; own events by their checksum. */
export async function packetContents(query: Query, after: string, limit: number): Promise<CheckedContent[]> {
  const rows = await query.all<StoredPacket & { checksum: number | null; content_hash: string | null }>(
    sql`SELECT ${STORED}, p.checksum, p.content_hash FROM packet_store p
        WHERE p.tenant_id = ${TENANT} AND p.packet_id > ${after} AND p.erased_at IS NULL ORDER BY p.packet_id LIMIT ${limit}`,
  );
  return rows.map((row) => ({ id: row.packet_id, intact: isIntact(row) }));
}

function isIntact(row: StoredPacket & { checksum: number | null; content_hash: string | null }): boolean {
  if (row.format !== null) return checksumOf(row as EventColumns) === row.checksum;
  return row.envelope !== null && sha256(row.envelope) === row.content_hash;
}
