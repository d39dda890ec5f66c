/** memory_access: how often artifacts and notes were read, apart from them, so that reading writes no version. */
import { sql, TENANT, type Tx } from '../../driver/index.js';

export interface Accesses {
  readonly memory_id: string;
  readonly count: number;
  readonly accessed_at: number;
}

/** Adds to the counters. In the order of the ids, so that servers that count the same do not wait for each other in a circle. */
export async function addAccesses(tx: Tx, accesses: readonly Accesses[]): Promise<void> {
  const ordered = [...accesses].sort((a, b) => (a.memory_id < b.memory_id ? -1 : 1));
  for (const { memory_id, count, accessed_at } of ordered) {
    await tx.send(
      sql`INSERT INTO memory_access (tenant_id, memory_id, access_count, accessed_at)
          VALUES (${TENANT}, ${memory_id}, ${count}, ${accessed_at})
          ON CONFLICT (tenant_id, memory_id) DO UPDATE SET
            access_count = memory_access.access_count + excluded.access_count,
            accessed_at = CASE WHEN memory_access.accessed_at > excluded.accessed_at
              THEN memory_access.accessed_at ELSE excluded.accessed_at END`,
    );
  }
}
