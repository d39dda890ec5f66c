/** Closing scopes: in one transaction, however many turns they have. What they held is erased after it (erasure.ts). */
import type { In } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  change,
  keptAnswer,
  startErasure,
  type Work,
  waitForErasure,
} from '../../engine/index.js';
import { addEndings, scopeHolder } from '../../engine/sql.js';
import { takeDeleteTime } from '../../facts/sql.js';
import type { Json } from '../../kernel/contract.js';
import { refuseFormerOwner } from '../trajectories/former-owners.js';
import { dropAwaited } from '../versions/sources.js';
import type { ClosedScope, Made, Scope } from './model.js';
import { noScope, readScope } from './service.js';
import { closeScopes, dropLooseCheckpoints, findScope, lockOpenScopes, type ScopeRow } from './store.js';
import { triggers } from './triggers.js';
import { keepersOf } from './turn-pins.js';

/**
 * Closes these open scopes, which are locked; says when. From the commit on, nothing that they hold can be read. What is
 * still to be made of them is made after it, unless they go on elsewhere or are deleted.
 */
export async function endScopes(
  work: Work,
  scopes: readonly ScopeRow[],
  what: 'closed' | 'moved' | 'deleted' = 'closed',
): Promise<number> {
  const { tx, now } = work;
  const ids = scopes.map(({ scope_id }) => scope_id);
  if (what === 'closed' && scopes.length > 0) await triggers.get('policies').onClose(work, scopes);
  // Behind every seal, so that a sealed box keeps what it was sealed with.
  const ended_at = await takeDeleteTime(tx, now);
  await closeScopes(tx, ids, ended_at);
  await dropLooseCheckpoints(tx, ids);
  await dropAwaited(tx, ids);
  const endings = scopes.map(({ scope_id, box_id, trajectory_id }) => ({
    holder: scopeHolder(scope_id),
    ended_at,
    thread_id: trajectory_id,
    box_id,
  }));
  await addEndings(tx, endings);
  for (const { scope_id, trajectory_id, tokens_used } of scopes) {
    appendEvent(work, 'cairn.scope.closed', { type: 'scope', id: scope_id }, { tokens_used }, trajectory_id);
  }
  return ended_at;
}

/** What a scope looks like from the outside once it is closed, and who keeps some of its turns. */
async function describeClosed(call: Call, scope: Scope, { scope_ids, made }: Closed): Promise<ClosedScope> {
  const kept_by = await keepersOf(call.driver, call.tenant, scope.box_id);
  return { ...scope, closed_scope_ids: [...scope_ids], kept_by, made: [...made] };
}

/** What is kept to answer again that a scope was closed. */
interface Closed {
  readonly scope_ids: readonly string[];
  readonly made: readonly Made[];
}

export async function close(call: Call, input: In<'scopes.close'>): Promise<ClosedScope> {
  const { tenant, driver } = call;
  const { scope_id, wait = false } = input;
  const known = await keptAnswer(call, { scope_id });
  const policies = triggers.get('policies');
  const made = known === undefined ? await policies.beforeClosing(call, { scope_ids: [scope_id] }) : [];
  const closed = await change<Closed>(call, {
    input: { scope_id },
    work: async (work) => {
      const { tx } = work;
      const row = await findScope(tx, scope_id);
      if (!row || row.deleted_at !== null) throw noScope(scope_id);
      await refuseFormerOwner(call, tx, row.trajectory_id);
      // Those nested in it go with it. One that is closed already stays as it is.
      const scopes = row.closed_at === null ? await lockOpenScopes(tx, [scope_id]) : [];
      await endScopes(work, scopes);
      return { scope_ids: scopes.map((scope) => scope.scope_id), made };
    },
    remember: (answer) => answer as unknown as Json,
    again: async (_query, kept) => kept as unknown as Closed,
  });
  const holders = [...new Set([scope_id, ...closed.scope_ids])].map(scopeHolder);
  if (wait) await waitForErasure(call, holders);
  else startErasure(call, holders);
  return describeClosed(call, await readScope(call, driver.at(tenant), scope_id), closed);
}
