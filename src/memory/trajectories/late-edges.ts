/** Edges to what a deleted trajectory took with it, by writers who had seen that before it went and committed after. */
import { atLength } from '../../driver/index.js';
import { type Call, event, type NewPacket } from '../../engine/index.js';
import { type EndingRow, trajectoryHolder } from '../../engine/sql.js';
import { deleteEdges, settleEdges } from '../edges/store.js';
import { edgesLeftBelow } from './removal-store.js';

export async function deleteLateEdges(call: Call, { holder, thread_id }: EndingRow): Promise<object> {
  if (thread_id === null || holder !== trajectoryHolder(thread_id)) return {};
  const { driver, tenant } = call;
  const late = await edgesLeftBelow(atLength(driver, tenant), [thread_id]);
  if (late.length === 0) return {};
  await driver.write(tenant, async (tx) => {
    const edge_ids = await deleteEdges(tx, late);
    if (edge_ids.length === 0) return;
    const told: NewPacket = {
      ...event(
        { call, now: driver.now() },
        'cairn.edge.deleted',
        { type: 'edge', id: edge_ids[0]! },
        { edge_ids },
        thread_id,
      ),
      settle: (settling, recorded_at) => settleEdges(settling, edge_ids, recorded_at),
    };
    tx.journal(told);
  });
  return {};
}
