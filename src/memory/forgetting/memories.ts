/** Forgetting artifacts and notes: all their versions. */
import { sql, TENANT } from '../../driver/index.js';
import type { Forgetter } from '../../engine/index.js';
import { selectIds } from '../rows.js';
import { forgetVersions, lockMemory, type MemoryKind } from '../versions/store.js';

export const memoryForgetter = (kind: MemoryKind): Forgetter => ({
  find: (query, ids) =>
    selectIds(
      query,
      sql`SELECT v.memory_id AS id FROM memory_versions v
          WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${ids}) AND v.version = 1 AND v.kind = ${kind}`,
    ),
  erase: async ({ call, tx, now }, ids, limit) => {
    for (const id of [...ids].sort()) await lockMemory(tx, id);
    const contents = await forgetVersions(tx, ids, limit, call.meta.erasure_key, now);
    return { contents, done: contents.length < limit };
  },
});
