/** Fencing: a write that names a lock and its token counts only while that lock is held so. */
import type { Work } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';
import { findLock, holds, isLive, lockResourceOf } from '../locks/store.js';

/** Refuses unless the lock is held with this token now, by the agent of the call if it has one; and it stays so until the commit, whoever else waits. */
export async function checkFencing({ call, tx, now }: Work, lock_id: string, token: number): Promise<void> {
  const [, row] = await Promise.all([lockResourceOf(tx, lock_id), findLock(tx, lock_id)]);
  const { agent_id } = call.caller;
  const isOwn = agent_id === null || row?.holder_agent_id === agent_id;
  if (row && isOwn && isLive(row, now) && holds(row) && row.token === token) return;
  throw new CairnError(
    'LOCK_EXPIRED',
    `lock ${lock_id} is not held with the fencing token ${token}: another may have the resource, so nothing was written`,
    { lock_id, fencing_token: token },
  );
}
