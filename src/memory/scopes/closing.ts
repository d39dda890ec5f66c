/** Closes scopes in one transaction, whatever their number of turns. Their content is erased afterwards. */
import type { In } from '../../engine/contract.js';
import {
  type Call,
  change,
  event,
  type NewPacket,
  startErasure,
  storedReplay,
  type Work,
  waitForErasure,
} from '../../engine/index.js';
import { addEndings, scopeHolder } from '../../engine/sql.js';
import { takeDeleteTime } from '../../facts/sql.js';
import type { Json } from '../../kernel/contract.js';
import { present } from '../../kernel/index.js';
import { refuseFormerOwner } from '../trajectories/former-owners.js';
import { dropAwaited } from '../versions/sources.js';
import type { ClosedScope, PolicyOutput } from './model.js';
import { readScope } from './service.js';
import { closeScopes, dropLooseCheckpoints, findScope, lockOpenScopes, type ScopeRow } from './store.js';
import { triggers } from './triggers.js';
import { pinsOf } from './turn-pins.js';

/**
 * Closes locked open scopes and returns the time. From the commit on, their content is unreadable. Policies queue their
 * remaining work, unless the scopes are moved or deleted.
 */
export async function endScopes(
  work: Work,
  scopes: readonly ScopeRow[],
  what: 'closed' | 'moved' | 'deleted' = 'closed',
): Promise<number> {
  const { tx, now } = work;
  const ids = scopes.map(({ scope_id }) => scope_id);
  const policies = what === 'closed' && scopes.length > 0 ? triggers.get('policies') : undefined;
  const assumes = await policies?.onClose(work, scopes);
  // Later than every seal, so that a sealed box keeps its cards.
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
    const closed = event(work, 'cairn.scope.closed', { type: 'scope', id: scope_id }, { tokens_used }, trajectory_id);
    const packet: NewPacket = { ...closed, assumes };
    tx.journal(packet);
  }
  return ended_at;
}

/** Stored to replay the answer. */
interface Closed {
  readonly scope_ids: readonly string[];
  readonly made: readonly PolicyOutput[];
}

export async function close(call: Call, input: In<'scopes.close'>): Promise<ClosedScope> {
  const { tenant, driver } = call;
  const { scope_id, wait = false } = input;
  const isReplay = (await storedReplay(call, { scope_id })) !== undefined;
  const made = isReplay ? [] : await triggers.get('policies').beforeClosing(call, { scope_ids: [scope_id] });
  const closed = await change<Closed>(call, {
    input: { scope_id },
    work: async (work) => {
      const { tx } = work;
      const row = present(tx, 'scope', scope_id, await findScope(tx, scope_id));
      await refuseFormerOwner(call, tx, row.trajectory_id);
      // Nested scopes close with it; a closed scope stays as it is.
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
  const scope = await readScope(call, driver.at(tenant), scope_id);
  const kept_by = await pinsOf(driver, tenant, scope.box_id);
  return { ...scope, closed_scope_ids: [...closed.scope_ids], kept_by, made: [...closed.made] };
}
