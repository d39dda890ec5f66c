/** Forgetting packets: their place in the stream and in lineages stays. */
import { sql, TENANT } from '../../driver/index.js';
import type { Forgetter } from '../../engine/index.js';
import { erasePacket, keyedHash } from '../cards/lifetime.js';

interface StoredEnvelope {
  readonly seq: number;
  readonly packet_id: string;
  readonly content_hash: string;
  readonly envelope: string;
}

/** Packets of users: an own event holds no content. */
export const packetForgetter: Forgetter = {
  find: async (query, ids) => {
    const rows = await query.all<{ packet_id: string }>(
      sql`SELECT p.packet_id FROM packet_store p
          WHERE p.tenant_id = ${TENANT} AND p.packet_id = ANY(${ids}) AND p.format IS NULL`,
    );
    return rows.map(({ packet_id }) => packet_id);
  },
  erase: async ({ call, tx, now }, ids) => {
    const packets = await tx.all<StoredEnvelope>(
      sql`SELECT p.seq, p.packet_id, p.content_hash, p.envelope FROM packet_store p
          WHERE p.tenant_id = ${TENANT} AND p.packet_id = ANY(${ids}) AND p.erased_at IS NULL
          ORDER BY p.seq FOR UPDATE`,
    );
    for (const packet of packets)
      await erasePacket(tx, packet, keyedHash(call.meta.erasure_key, packet.content_hash), now);
    const contents = packets.map(({ packet_id: of, envelope }) => ({ of, content_id: of, texts: [envelope] }));
    return { contents, done: true };
  },
};
