/**
 * Guards against stale writers: a write may name the agent_turn or the lock under which it is made. Both are checked
 * first in the writing transaction, so that a stale write changes nothing.
 */
import type { Call, CallOptions, TurnGuard, Work } from '../../engine/index.js';
import { recordCallHeartbeat } from '../../identity/index.js';
import { uuid } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { checkTurnHeld, isHeld, staleTurn } from '../agent-turns/holding.js';
import { isPartyTo } from '../agent-turns/rules.js';
import { findAgentTurn, lockAgentTurn } from '../agent-turns/store.js';
import { findLock, holds, isLive, lockResourceOf } from '../locks/store.js';
import { EXAMPLE_ID } from '../party-operations.js';

/** Parses `<id>:<number>`. */
function parseGuard(name: string, text: string): { readonly id: string; readonly number: number } {
  const [, id, number] = /^([^:]+):(\d{1,15})$/.exec(text) ?? [];
  const parsed = uuid.safeParse(id);
  if (parsed.success && number !== undefined) return { id: parsed.data, number: Number(number) };
  throw invalid(`${name} must be <id>:<number>, such as ${EXAMPLE_ID}:3, not "${text.slice(0, 100)}"`);
}

const parseTurn = (text: string) => parseGuard('agent_turn (X-Agent-Turn)', text);
const parseFencing = (text: string) => parseGuard('fencing_token (X-Fencing-Token)', text);

/** Whether the options of a call have guards. Refuses malformed ones, for reads as well. */
export function hasGuards({ agent_turn, fencing_token }: CallOptions): boolean {
  if (agent_turn !== undefined) parseTurn(agent_turn);
  if (fencing_token !== undefined) parseFencing(fencing_token);
  return agent_turn !== undefined || fencing_token !== undefined;
}

/** The call acting as the agent of its agent_turn. Refuses the key of another agent. */
export async function asTurnAgent(call: Call, input: unknown, writes: boolean): Promise<Call> {
  const { agent_turn, idempotency_key } = call.options;
  if (agent_turn === undefined) return call;
  const { id, number } = parseTurn(agent_turn);
  const turn = await findAgentTurn(call.driver.at(call.tenant), id);
  const { agent_id } = call.caller;
  // To others than its parties, an agent_turn does not exist.
  if (!turn || !isPartyTo(turn, agent_id)) throw staleTurn(id, number, 'it does not exist');
  if (agent_id !== null && agent_id !== turn.agent_id) {
    const message = `agent_turn ${id} belongs to another agent: this key acts as ${agent_id}`;
    throw new CairnError('FORBIDDEN', message, { rule: 'key_agent' });
  }
  const guard: TurnGuard = { agent_turn_id: id, turn_epoch: number };
  const now = call.driver.now();
  // Refuses also writes that would change nothing. With a key, the write may have been made before the turn ended.
  if (writes && idempotency_key === undefined && !namesTurnItself(guard, input)) checkTurnHeld(turn, number, now);
  if (isHeld(turn, number, now)) await recordCallHeartbeat(call, turn.agent_id);
  return { ...call, caller: { ...call.caller, agent_id: turn.agent_id }, turn: guard };
}

/** Operations on an agent_turn by its holder name turn and epoch in their input, and lock in their own order. */
function namesTurnItself(guard: TurnGuard, input: unknown): boolean {
  const { agent_turn_id, turn_epoch } = input as Partial<TurnGuard>;
  return agent_turn_id === guard.agent_turn_id && turn_epoch === guard.turn_epoch;
}

/** Refuses a write in an agent_turn that is not held; locks the agent_turn. */
export async function checkTurnGuard({ call, tx, now }: Work, input: unknown): Promise<void> {
  if (call.turn === undefined || namesTurnItself(call.turn, input)) return;
  const { agent_turn_id, turn_epoch } = call.turn;
  const turn = await lockAgentTurn(tx, agent_turn_id);
  if (!turn) throw staleTurn(agent_turn_id, turn_epoch, 'it does not exist');
  checkTurnHeld(turn, turn_epoch, now);
}

/** Refuses a write under a lock that is not held with its token, by the agent of the call. Locks the resource. */
export async function checkLockGuard({ call, tx, now }: Work, _input: unknown): Promise<void> {
  if (call.options.fencing_token === undefined) return;
  const { id: lock_id, number: token } = parseFencing(call.options.fencing_token);
  const [, row] = await Promise.all([lockResourceOf(tx, lock_id), findLock(tx, lock_id)]);
  const isOwn = call.caller.agent_id === null || row?.holder_agent_id === call.caller.agent_id;
  if (row && isOwn && isLive(row, now) && holds(row) && row.token === token) return;
  throw new CairnError(
    'LOCK_EXPIRED',
    `lock ${lock_id} is not held with fencing token ${token}: another may hold the resource; nothing was written`,
    { lock_id, fencing_token: token },
  );
}
