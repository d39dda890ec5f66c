/** What a packet is found by: the same when it is written and when all is indexed anew. */
import { type Doc, type Measured, measure, PLAIN_DOC } from '../../index/sql.js';
import type { JsonObject } from '../../kernel/contract.js';

export const packetDoc = (
  packet: { readonly packet_id: string; readonly packet_type: string; readonly thread_id: string | null },
  measured: Measured,
): Doc => ({
  ...PLAIN_DOC,
  entity_type: 'packet',
  entity_id: packet.packet_id,
  type: packet.packet_type,
  trajectory_id: packet.thread_id,
  category: 'episodic',
  measured,
});

/** What a packet says; its tags are beside its metadata. */
export const measurePacket = (
  index_key: string,
  packet: {
    readonly payload: JsonObject;
    readonly tags?: string[] | undefined;
    readonly metadata?: JsonObject | undefined;
  },
): Measured =>
  measure(index_key, { content: packet.payload, metadata: { tags: packet.tags ?? [], ...packet.metadata } });
