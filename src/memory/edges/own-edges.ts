/** Edges that Cairn itself makes, between what it has just written. */
import { event, type NewPacket, type Work } from '../../engine/index.js';
import { insertEdges, type NewEdge, settleEdges } from './store.js';

/** Adds edges that Cairn itself makes between what is known to be there, and tells of them. */
export async function linkAll(work: Work, edges: readonly NewEdge[], thread_id: string | null): Promise<void> {
  const { tx } = work;
  if (edges.length === 0) return;
  await insertEdges(tx, edges);
  const edge_ids = edges.map(({ edge_id }) => edge_id);
  const told: NewPacket = {
    ...event(work, 'cairn.edge.created', { type: 'edge', id: edge_ids[0]! }, { edge_ids }, thread_id),
    settle: (settling, recorded_at) => settleEdges(settling, edge_ids, recorded_at),
  };
  tx.journal(told);
}
