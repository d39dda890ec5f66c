/** Edges that Cairn creates and deletes itself. */
import type { Tx } from '../../driver/index.js';
import { event, type NewPacket, type Work } from '../../engine/index.js';
import { insertEdges, type NewEdge, settleEdges } from './store.js';

/** Journals an event about edges, which settles them. */
export function journalEdges(
  tx: Tx,
  within: Pick<Work, 'call' | 'now'>,
  what: 'created' | 'deleted',
  edge_ids: readonly string[],
  thread_id: string | null,
): void {
  const facts = { edge_ids: [...edge_ids] };
  const packet: NewPacket = {
    ...event(within, `cairn.edge.${what}`, { type: 'edge', id: edge_ids[0]! }, facts, thread_id),
    settle: (settling, recorded_at) => settleEdges(settling, edge_ids, recorded_at),
  };
  tx.journal(packet);
}

/** Inserts edges between entities that the caller has just written or locked. */
export async function addSystemEdges(work: Work, edges: readonly NewEdge[], thread_id: string | null): Promise<void> {
  if (edges.length === 0) return;
  await insertEdges(work.tx, edges);
  const edge_ids = edges.map(({ edge_id }) => edge_id);
  journalEdges(work.tx, work, 'created', edge_ids, thread_id);
}
