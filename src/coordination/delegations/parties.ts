/** Who may do what with a delegation, and locking one together with its agent_turn. */
import type { Query, Tx } from '../../driver/index.js';
import { actsAs, type Call, findLease } from '../../engine/index.js';
import { lockAgent } from '../../identity/index.js';
import { CairnError, toIso } from '../../kernel/index.js';
import { type Final, lockForEnding } from '../agent-turns/ending.js';
import type { AgentTurnView } from '../agent-turns/store.js';
import type { Delegation } from './model.js';
import { stateConflict } from './rules.js';
import { type DelegationRow, findDelegation, lockDelegation, toDelegation, viewDelegation } from './store.js';

/** For an agent that is no party of it, a delegation does not exist. */
function present<R extends DelegationRow>(call: Call, delegation_id: string, row: R | undefined): R {
  const { agent_id } = call.caller;
  if (row && (agent_id === null || agent_id === row.from_agent_id || agent_id === row.to_agent_id)) return row;
  throw new CairnError('DELEGATION_NOT_FOUND', `there is no delegation ${delegation_id} in tenant ${call.tenant}`);
}

export const openDelegation = async (call: Call, query: Query, delegation_id: string): Promise<DelegationRow> =>
  present(call, delegation_id, await findDelegation(query, delegation_id));

export const readDelegation = async (call: Call, query: Query, delegation_id: string): Promise<Delegation> =>
  toDelegation(present(call, delegation_id, await viewDelegation(query, delegation_id, call.driver.now())));

/** Refuses whoever is not this party. A key without an agent acts for the one it names, else for the party. */
export function checkParty(
  call: Call,
  row: DelegationRow,
  named: string | undefined,
  party: 'from_agent_id' | 'to_agent_id',
): void {
  const agent_id = actsAs(call, named, 'agent_id') ?? named;
  if (agent_id === undefined || agent_id === row[party]) return;
  const who = party === 'to_agent_id' ? `agent ${row.to_agent_id} that it is for` : 'who delegated it';
  throw new CairnError(
    'FORBIDDEN',
    `agent ${agent_id} may not do this with delegation ${row.delegation_id}: only ${who} may`,
    { rule: 'delegation_party', from_agent_id: row.from_agent_id, to_agent_id: row.to_agent_id },
  );
}

export interface LockedDelegation {
  readonly row: DelegationRow;
  /** Its agent_turn with all that may end with it; empty as long as it has none. */
  readonly turns: Map<string, AgentTurnView>;
}

/**
 * Locks a delegation behind its agent_turn. One that is offered has none yet, and cannot get one while its receiver is
 * locked: whoever accepts locks that first.
 */
export async function lockWithTurn(
  tx: Tx,
  delegation_id: string,
  /** How the agent_turn is going to end, if it is. */
  status: Final | undefined,
): Promise<LockedDelegation | undefined> {
  let known = await findDelegation(tx, delegation_id);
  if (known?.agent_turn_id === null) {
    await lockAgent(tx, known.to_agent_id);
    known = await findDelegation(tx, delegation_id);
  }
  if (!known) return undefined;
  const { agent_turn_id } = known;
  const turns = agent_turn_id === null ? new Map() : await lockForEnding(tx, [agent_turn_id], status ?? 'completed');
  const row = await lockDelegation(tx, delegation_id);
  return row && { row, turns };
}

/** Refuses to move what is overdue, also when nobody has noticed yet. */
export async function refuseOverdue(tx: Tx, row: DelegationRow, now: number): Promise<void> {
  const lease = await findLease(tx, 'delegation', row.delegation_id);
  if (!lease || lease.expires_at > now) return;
  throw stateConflict(row.delegation_id, 'Failed', `was due at ${toIso(lease.expires_at)}`);
}
