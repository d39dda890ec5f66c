// Packets with a thread and lineage: `npx tsx examples/packets.ts`. Needs no server.
import { randomUUID } from 'node:crypto';
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
const thread_id = randomUUID();

// #region packets
const query = await cairn.packets.write({
  packet_type: 'event',
  payload: { action: 'user_query', content: 'Find HDPE' },
  thread_id,
  tags: ['hdpe', 'search'],
});
const insight = await cairn.packets.write({
  packet_type: 'insight',
  payload: { text: 'HDPE resists chlorine' },
  thread_id,
  lineage: { parent_ids: [query.packet_id], derivation_type: 'inference' },
});

const { packets: ancestors } = await cairn.packets.lineage({ packet_id: insight.packet_id });
console.log('derived from:', ancestors.map((packet) => packet.packet_type).join(', '));
// #endregion

const thread = await cairn.packets.thread({ thread_id });
for (const { packet_type, lineage } of thread.packets) {
  console.log('in the thread:', packet_type, 'of generation', lineage.generation);
}

const found = await cairn.packets.list({ tag: 'hdpe', limit: 10 });
console.log('with the tag hdpe:', found.packets[0]?.packet_type);

await cairn.close();
