/** The search document of a packet, for writing and for reindexing. */
import { type Doc, describe, type Measured, measure } from '../../index/sql.js';
import type { PacketInput } from './model.js';

/** The types of Cairn's own events begin with it. They have no document, and users choose other types. */
export const RESERVED_PREFIX = 'cairn.';

export const packetDoc = (
  packet: { readonly packet_id: string; readonly packet_type: string; readonly thread_id: string | null },
  { tags = [], metadata }: Pick<PacketInput, 'tags' | 'metadata'>,
): Doc => ({
  // Member by member: those behind a spread are slow to define.
  entity_type: 'packet',
  entity_id: packet.packet_id,
  type: packet.packet_type,
  name: null,
  trajectory_id: packet.thread_id,
  scope_id: null,
  position: null,
  role: null,
  abstraction_level: 'L0',
  category: 'episodic',
  described: describe({ tags, ...metadata }),
});

export const measurePacket = (
  index_key: string,
  { payload, tags = [], metadata }: Pick<PacketInput, 'payload' | 'tags' | 'metadata'>,
): Measured => measure(index_key, { content: payload, metadata: { tags, ...metadata } });
