/** A lock for the generated tests. */
import type { Api } from '#cairn/client/index.js';
import { locks } from '#cairn/coordination/locks/contract.js';

/** Not of the resource that the example asks for, so that the example finds that one free. */
export async function plantLock(cairn: Api): Promise<{ lock_id: string }> {
  const { lock_id } = await cairn.locks.acquire({
    ...locks.acquire.example,
    resource_id: 'src/planted.ts',
    lease_ms: 3_600_000,
  });
  return { lock_id };
}
