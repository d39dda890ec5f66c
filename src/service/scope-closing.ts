/** Ending scopes: in one transaction, however many turns they have. What they held is erased after it (erasure.ts). */
import type { Tx } from '../driver/driver.js';
import { addEndings, scopeHolder } from '../store/endings.js';
import { takeDeleteTime } from '../store/lifetime.js';
import { closeScopes, type ScopeRow } from '../store/scopes.js';
import type { Call } from './runtime.js';

/** Closes these open scopes, which are locked. From the commit on, nothing that they hold can be read. */
export async function endScopes(
  call: Call,
  tx: Tx,
  scopes: readonly ScopeRow[],
  now: number,
): Promise<number> {
  // Behind every seal, so that a sealed box keeps what it was sealed with.
  const moment = await takeDeleteTime(tx, call.tenant, now);
  await closeScopes(
    tx,
    call.tenant,
    scopes.map(({ scope_id }) => scope_id),
    moment,
  );
  await addEndings(
    tx,
    call.tenant,
    scopes.map(({ scope_id, box_id, trajectory_id }) => ({
      holder: scopeHolder(scope_id),
      ended_at: moment,
      thread_id: trajectory_id,
      box_id,
    })),
  );
  return moment;
}
