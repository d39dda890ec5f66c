/**
 * Guards of stale writers: a write may say in which agent_turn, or under which lock, it is made. Both are checked in the
 * writing transaction, before anything else, so that a late one changes nothing anywhere.
 */
import type { Tx } from '../../driver/index.js';
import type { Call, CallOptions, TurnGuard, Work } from '../../engine/index.js';
import { signOfLife } from '../../identity/index.js';
import { uuid } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { checkTurnHeld, isHeld, staleTurn } from '../agent-turns/holding.js';
import { isPartyTo } from '../agent-turns/rules.js';
import { findAgentTurn, lockAgentTurn } from '../agent-turns/store.js';
import { checkFencing } from './fencing.js';

/** An id and a number, as `<id>:<number>`. */
function parseGuard(name: string, text: string): { readonly id: string; readonly number: number } {
  const [, id, number] = /^([^:]+):(\d{1,15})$/.exec(text) ?? [];
  const parsed = uuid.safeParse(id);
  if (parsed.success && number !== undefined) return { id: parsed.data, number: Number(number) };
  throw invalid(`${name} must be one <id>:<number>, such as ${EXAMPLE}, not "${text.slice(0, 100)}"`);
}
const EXAMPLE = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b:3';

const parseTurn = (text: string) => parseGuard('agent_turn (X-Agent-Turn)', text);
const parseFencing = (text: string) => parseGuard('fencing_token (X-Fencing-Token)', text);

/** Whether the options of a call have guards. One that is malformed is refused, whatever the call does. */
export function namesGuards({ agent_turn, fencing_token }: CallOptions): boolean {
  if (agent_turn !== undefined) parseTurn(agent_turn);
  if (fencing_token !== undefined) parseFencing(fencing_token);
  return agent_turn !== undefined || fencing_token !== undefined;
}

/** The call as it is made in its agent_turn: by the agent of that, unless the key is that of another. */
export async function guarding(call: Call, input: unknown, writes: boolean): Promise<Call> {
  const { agent_turn, idempotency_key } = call.options;
  if (agent_turn === undefined) return call;
  const { id, number } = parseTurn(agent_turn);
  const turn = await findAgentTurn(call.driver.at(call.tenant), id);
  const { agent_id } = call.caller;
  // A turn between others is answered as one that does not exist.
  if (!turn || !isPartyTo(turn, agent_id)) throw staleTurn(id, number, 'it does not exist');
  if (agent_id !== null && agent_id !== turn.agent_id) {
    throw new CairnError('FORBIDDEN', `agent_turn ${id} is of another agent: this key acts as ${agent_id}`, {
      rule: 'key_agent',
    });
  }
  const guard: TurnGuard = { agent_turn_id: id, turn_epoch: number };
  // So that also a write that would change nothing is refused. One with a key may have been done before the turn ended.
  if (writes && idempotency_key === undefined && !namesTurnItself(guard, input)) {
    checkTurnHeld(turn, number, call.driver.now());
  }
  if (isHeld(turn, number, call.driver.now())) await signOfLife(call, turn.agent_id);
  return { ...call, caller: { ...call.caller, agent_id: turn.agent_id }, turn: guard };
}

/** What the holder of an agent_turn does with it names turn and epoch, and locks it in an order of its own. */
function namesTurnItself(guard: TurnGuard, input: unknown): boolean {
  const { agent_turn_id, turn_epoch } = input as Partial<TurnGuard>;
  return agent_turn_id === guard.agent_turn_id && turn_epoch === guard.turn_epoch;
}

/** The holder of an agent_turn may write only while it holds it. */
export async function checkTurnGuard({ call, tx, now }: Work, input: unknown): Promise<void> {
  if (call.turn !== undefined && !namesTurnItself(call.turn, input)) await checkTurn(tx, call.turn, now);
}

/** A write under a lock counts only while that lock is held. */
export async function checkLockGuard(work: Work, _input: unknown): Promise<void> {
  const { call } = work;
  const { fencing_token } = call.options;
  if (fencing_token === undefined) return;
  const { id, number } = parseFencing(fencing_token);
  await checkFencing(work, id, number);
}

async function checkTurn(tx: Tx, guard: TurnGuard, now: number): Promise<void> {
  const turn = await lockAgentTurn(tx, guard.agent_turn_id);
  if (!turn) throw staleTurn(guard.agent_turn_id, guard.turn_epoch, 'it does not exist');
  checkTurnHeld(turn, guard.turn_epoch, now);
}
