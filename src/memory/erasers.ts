/** Erases versions and edges that end with their holder. */
import { longQuery } from '../driver/index.js';
import { type Call, inBatches } from '../engine/index.js';
import { countErasedVersions, type EndingRow, trajectoryHolder } from '../engine/sql.js';
import { deleteEdges } from './edges/store.js';
import { journalEdges } from './edges/system-edges.js';
import { edgesLeftBelow } from './trajectories/removal-store.js';
import { eraseMemories } from './versions/store.js';

/** Erases the artifacts and notes of a holder. Undefined when the store is about to close. */
export async function eraseVersions(call: Call, { holder }: EndingRow): Promise<object | undefined> {
  const { driver, tenant } = call;
  const isComplete = await inBatches(call, (limit) =>
    driver.write(tenant, async (tx) => {
      const erased = await eraseMemories(tx, holder, limit, call.meta.erasure_key, driver.now());
      if (erased > 0) await countErasedVersions(tx, holder, erased);
      return erased;
    }),
  );
  return isComplete ? {} : undefined;
}

/** Deletes edges into a deleted trajectory whose writers read its content before the deletion and committed after it. */
export async function deleteLateEdges(call: Call, { holder, thread_id }: EndingRow): Promise<object> {
  if (thread_id === null || holder !== trajectoryHolder(thread_id)) return {};
  const { driver, tenant } = call;
  const late = await edgesLeftBelow(longQuery(driver, tenant), [thread_id]);
  if (late.length === 0) return {};
  await driver.write(tenant, async (tx) => {
    const edge_ids = await deleteEdges(tx, late);
    if (edge_ids.length > 0) journalEdges(tx, { call, now: driver.now() }, 'deleted', edge_ids, thread_id);
  });
  return {};
}
