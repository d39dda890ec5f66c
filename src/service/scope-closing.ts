/** Closing scopes: in one transaction, however many turns they have. What they held is erased after it (erasure.ts). */
import type { z } from 'zod';
import type { scopes as operations } from '../contract/scopes.js';
import type { Tx } from '../driver/driver.js';
import type { ClosedScope, Scope } from '../model/scope.js';
import { addEndings, scopeHolder } from '../store/endings.js';
import { keepersOf } from '../store/keepers.js';
import { takeDeleteTime } from '../store/lifetime.js';
import {
  closeScopes,
  dropLooseCheckpoints,
  findScope,
  lockOpenScopes,
  type ScopeRow,
} from '../store/scopes.js';
import { startErasure, waitForErasure } from './erasure.js';
import { refuseFormerOwner } from './former-owners.js';
import type { Call } from './runtime.js';
import { noScope, readScope } from './scopes.js';
import { change, event } from './write.js';

type In<V extends keyof typeof operations> = z.output<(typeof operations)[V]['input']>;

/** Closes these open scopes, which are locked; says when. From the commit on, nothing that they hold can be read. */
export async function endScopes(
  call: Call,
  tx: Tx,
  scopes: readonly ScopeRow[],
  now: number,
): Promise<number> {
  const { tenant } = call;
  const ids = scopes.map(({ scope_id }) => scope_id);
  // Behind every seal, so that a sealed box keeps what it was sealed with.
  const ended_at = await takeDeleteTime(tx, tenant, now);
  await closeScopes(tx, tenant, ids, ended_at);
  await dropLooseCheckpoints(tx, tenant, ids);
  const endings = scopes.map(({ scope_id, box_id, trajectory_id }) => ({
    holder: scopeHolder(scope_id),
    ended_at,
    thread_id: trajectory_id,
    box_id,
  }));
  await addEndings(tx, tenant, endings);
  for (const { scope_id, trajectory_id, tokens_used } of scopes) {
    tx.journal(event(call, now, 'cairn.scope.closed', 'scope', scope_id, { tokens_used }, trajectory_id));
  }
  return ended_at;
}

/** What a scope looks like from the outside once it is closed, and who keeps some of its turns. */
async function describeClosed(call: Call, scope: Scope, ids: readonly string[]): Promise<ClosedScope> {
  const kept_by = await keepersOf(call.driver, call.tenant, scope.box_id);
  return { ...scope, closed_scope_ids: [...ids], kept_by };
}

export async function close(call: Call, input: In<'close'>): Promise<ClosedScope> {
  const { tenant, driver } = call;
  const { scope_id, wait = false } = input;
  const closed_scope_ids = await change<string[]>(call, {
    input: { scope_id },
    work: async (tx, now) => {
      const known = await findScope(tx, tenant, scope_id);
      if (!known || known.deleted_at !== null) throw noScope(scope_id);
      await refuseFormerOwner(call, tx, known.trajectory_id);
      // Those nested in it go with it. One that is closed already stays as it is.
      const scopes = known.closed_at === null ? await lockOpenScopes(tx, tenant, [scope_id]) : [];
      await endScopes(call, tx, scopes, now);
      return scopes.map((scope) => scope.scope_id);
    },
    remember: (ids) => ids,
    again: async (_query, kept) => kept as string[],
  });
  const holders = [...new Set([scope_id, ...closed_scope_ids])].map(scopeHolder);
  if (wait) await waitForErasure(call, holders);
  else startErasure(call, holders);
  return describeClosed(call, await readScope(call, driver.at(tenant), scope_id), closed_scope_ids);
}
