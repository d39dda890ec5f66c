/** Whether an agent_turn is held: by lease and epoch. */
import type { TurnGuard, Work } from '../../engine/index.js';
import { isHeartbeatDue, recordHeartbeat } from '../../identity/index.js';
import { CairnError, toIso } from '../../kernel/index.js';
import { waitsForAnswer } from './rules.js';
import { type AgentTurnView, agentOfTurn, findAgentTurn } from './store.js';

/** Refuses a caller that does not hold the agent_turn in this epoch. */
export function checkTurnHeld(turn: AgentTurnView, turn_epoch: number, now: number): void {
  const why = whyNotHeld(turn, turn_epoch, now);
  if (why !== undefined) throw staleTurn(turn.agent_turn_id, turn_epoch, why, turn);
}

export const isHeld = (turn: AgentTurnView, turn_epoch: number, now: number): boolean =>
  whyNotHeld(turn, turn_epoch, now) === undefined;

function whyNotHeld(turn: AgentTurnView, turn_epoch: number, now: number): string | undefined {
  const { status, lease_expires_at, due_at } = turn;
  if (waitsForAnswer(turn)) return 'it waits for an answer';
  if (turn.turn_epoch !== turn_epoch) return `it is at epoch ${turn.turn_epoch}`;
  if (status !== 'running' && status !== 'suspended') return `it is ${status}`;
  if (lease_expires_at === null || lease_expires_at <= now) return 'its lease has expired';
  return due_at !== null && due_at <= now ? `it was due at ${toIso(due_at)}` : undefined;
}

export const staleTurn = (id: string, epoch: number, why: string, turn?: AgentTurnView): CairnError =>
  new CairnError(
    'STALE_TURN',
    `agent_turn ${id} is no longer held in epoch ${epoch}: ${why}. Nothing was written; stop working on it`,
    turn && { status: turn.status, turn_epoch: turn.turn_epoch },
  );

/** A step by the holder of an agent_turn is a heartbeat of its agent. Lock order: before the turn is locked. */
export async function recordWorkerHeartbeat(work: Work, guard: TurnGuard): Promise<void> {
  const { tx, now } = work;
  const agent = await agentOfTurn(tx, guard.agent_turn_id);
  if (!agent || !isHeartbeatDue(agent, now)) return;
  const turn = await findAgentTurn(tx, guard.agent_turn_id);
  if (turn && isHeld(turn, guard.turn_epoch, now)) await recordHeartbeat(work, agent.agent_id);
}
