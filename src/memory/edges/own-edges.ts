/** Edges that Cairn itself makes, between what it has just written. */
import type { Tx } from '../../driver/driver.js';
import type { Call } from '../../engine/calls/call.js';
import { event } from '../../engine/writes/change.js';
import type { NewPacket } from '../../engine/writes/journal.js';
import { insertEdges, type NewEdge, settleEdges } from './store.js';

/** Adds edges that Cairn itself makes between what is known to be there, and tells of them. */
export async function linkAll(
  call: Call,
  tx: Tx,
  edges: readonly NewEdge[],
  now: number,
  thread_id: string | null,
): Promise<void> {
  if (edges.length === 0) return;
  await insertEdges(tx, edges);
  const edge_ids = edges.map(({ edge_id }) => edge_id);
  const told: NewPacket = {
    ...event(call, now, 'cairn.edge.created', 'edge', edge_ids[0]!, { edge_ids }, thread_id),
    settle: (settling, recorded_at) => settleEdges(settling, edge_ids, recorded_at),
  };
  tx.journal(told);
}
