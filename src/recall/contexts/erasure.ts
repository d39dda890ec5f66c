/** Erases contexts with their holder: the texts of requests; with a trajectory also the manifests. */
import type { Tx } from '../../driver/index.js';
import { type Call, inBatches } from '../../engine/index.js';
import { type EndingRow, trajectoryHolder } from '../../engine/sql.js';
import { eraseCards, inBox } from '../../facts/sql.js';
import {
  type HeldManifest,
  manifestsHeldBy,
  manifestsOf,
  markTextsErased,
  removeManifests,
} from '../manifests/store.js';

/** False if the store closes before it is done. */
export async function eraseContexts(call: Call, { holder, thread_id }: EndingRow): Promise<boolean> {
  const { driver, tenant } = call;
  const erasing = <M extends HeldManifest>(
    read: (tx: Tx, limit: number) => Promise<M[]>,
    finish: (tx: Tx, manifests: readonly M[]) => Promise<void>,
  ): Promise<boolean> =>
    inBatches(call, (limit) =>
      driver.write(tenant, async (tx) => {
        const manifests = await read(tx, limit);
        if (manifests.length === 0) return 0;
        const card_ids = manifests.flatMap((manifest) => manifest.card_ids);
        // Pins of jobs do not count: they keep the turns of a scope, not the texts of requests.
        await eraseCards(tx, card_ids, call.meta.erasure_key, driver.now(), inBox);
        await finish(tx, manifests);
        return manifests.length;
      }),
    );
  const isDone = await erasing(
    (tx, limit) => manifestsHeldBy(tx, holder, limit),
    (tx, manifests) => markTextsErased(tx, manifests, driver.now()),
  );
  if (!isDone || thread_id === null || holder !== trajectoryHolder(thread_id)) return isDone;
  // Erases cards again: those of its scopes may not be erased yet, and only their manifests lead to them.
  return erasing((tx, limit) => manifestsOf(tx, thread_id, limit), removeManifests);
}
