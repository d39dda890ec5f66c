/** Access to a delegation by its parties, and locking it together with its agent_turn. */
import type { Query, Tx } from '../../driver/index.js';
import { type Call, findLease } from '../../engine/index.js';
import { lockAgent } from '../../identity/index.js';
import { CairnError, notFound, toIso } from '../../kernel/index.js';
import { agentOf } from '../acting-agent.js';
import { type Final, lockForEnding } from '../agent-turns/ending.js';
import type { AgentTurnView } from '../agent-turns/store.js';
import type { Delegation } from './model.js';
import { stateConflict } from './rules.js';
import { type DelegationRow, findDelegation, lockDelegation, toDelegation, viewDelegation } from './store.js';

/** To an agent that is not a party, a delegation does not exist. */
function visible<R extends DelegationRow>(call: Call, delegation_id: string, row: R | undefined): R {
  const { agent_id } = call.caller;
  if (row && (agent_id === null || agent_id === row.from_agent_id || agent_id === row.to_agent_id)) return row;
  throw notFound(call, 'delegation', delegation_id);
}

export const openDelegation = async (call: Call, query: Query, delegation_id: string): Promise<DelegationRow> =>
  visible(call, delegation_id, await findDelegation(query, delegation_id));

export const readDelegation = async (call: Call, query: Query, delegation_id: string): Promise<Delegation> =>
  toDelegation(visible(call, delegation_id, await viewDelegation(query, delegation_id, call.driver.now())));

/** Refuses an agent that is not this party. A key without an agent acts for the party by default. */
export function checkParty(
  call: Call,
  row: DelegationRow,
  named: string | undefined,
  party: 'from_agent_id' | 'to_agent_id',
): void {
  const { delegation_id, from_agent_id, to_agent_id } = row;
  const agent_id = agentOf(call, named, 'agent_id');
  if (agent_id === undefined || agent_id === row[party]) return;
  const who = party === 'to_agent_id' ? `its receiver, agent ${to_agent_id},` : 'its delegator';
  throw new CairnError(
    'FORBIDDEN',
    `agent ${agent_id} may not do this with delegation ${delegation_id}: only ${who} may`,
    { rule: 'delegation_party', from_agent_id, to_agent_id },
  );
}

export interface LockedDelegation {
  readonly row: DelegationRow;
  /** Its agent_turn and all that may end with it; empty while it has none. */
  readonly turns: Map<string, AgentTurnView>;
}

/**
 * Locks a delegation after its agent_turn. A pending one has none yet, and gets none while its receiver is locked:
 * accepting locks the receiver first. `status` is how the agent_turn will end, if it will.
 */
export async function lockWithTurn(
  tx: Tx,
  delegation_id: string,
  status: Final = 'completed',
): Promise<LockedDelegation | undefined> {
  let known = await findDelegation(tx, delegation_id);
  if (known?.agent_turn_id === null) {
    await lockAgent(tx, known.to_agent_id);
    known = await findDelegation(tx, delegation_id);
  }
  if (!known) return undefined;
  const turns = known.agent_turn_id === null ? new Map() : await lockForEnding(tx, [known.agent_turn_id], status);
  const row = await lockDelegation(tx, delegation_id);
  return row && { row, turns };
}

/** Refuses an overdue delegation, even before its expiry is recorded. */
export async function refuseOverdue(tx: Tx, { delegation_id }: DelegationRow, now: number): Promise<void> {
  const lease = await findLease(tx, 'delegation', delegation_id);
  if (!lease || lease.expires_at > now) return;
  throw stateConflict(delegation_id, 'Failed', `was due at ${toIso(lease.expires_at)}`);
}
