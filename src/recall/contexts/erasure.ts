/** What goes of contexts when what they were made in ends: the texts of requests; with a trajectory, the manifests too. */
import type { Tx } from '../../driver/index.js';
import { type Call, inBatches } from '../../engine/index.js';
import { type EndingRow, trajectoryHolder } from '../../engine/sql.js';
import { eraseCards, inBox } from '../../facts/sql.js';
import { manifestsHeldBy, manifestsOf, noteTextsErased, removeManifests } from '../manifests/store.js';

/** False when the store is about to close. */
export async function eraseContexts(call: Call, { holder, thread_id }: EndingRow): Promise<boolean> {
  const { driver, tenant } = call;
  // What a job keeps is the turns of the scope, which it is made from; it has no use for what a request said.
  const erase = (tx: Tx, card_ids: readonly string[]) =>
    eraseCards(tx, card_ids, call.meta.erasure_key, driver.now(), inBox);
  const texts = await inBatches(call, (limit) =>
    driver.write(tenant, async (tx) => {
      const held = await manifestsHeldBy(tx, holder, limit);
      if (held.length === 0) return 0;
      await erase(
        tx,
        held.flatMap(({ card_ids }) => card_ids),
      );
      const ids = held.map(({ manifest_id }) => manifest_id);
      await noteTextsErased(tx, ids, driver.now());
      return held.length;
    }),
  );
  if (!texts || thread_id === null || holder !== trajectoryHolder(thread_id)) return texts;
  return inBatches(call, (limit) =>
    driver.write(tenant, async (tx) => {
      const gone = await manifestsOf(tx, thread_id, limit);
      if (gone.length === 0) return 0;
      // Those of its scopes may not have been erased yet, and without the manifest nobody would find them.
      await erase(
        tx,
        gone.flatMap(({ card_ids }) => card_ids),
      );
      await removeManifests(tx, gone);
      return gone.length;
    }),
  );
}
