/** Claiming agent_turns: the oldest that waits for a worker, by one of those who ask. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { actsAs, type Call, change, isGuarded, keptAnswer, putLease, type Work } from '../../engine/index.js';
import { type AgentRow, lockAgent, noteSeen, waitForEnd } from '../../identity/index.js';
import { startDelegation } from '../delegations/moves.js';
import { checkTurnHeld } from './holding.js';
import { type AgentTurn, DEFAULT_TURN_LEASE_MS } from './model.js';
import { journalTurn, openTurn } from './service.js';
import {
  type AgentTurnView,
  anyClaimable,
  type Claimable,
  changeAgentTurn,
  findClaimable,
  lockAgentTurn,
  toAgentTurn,
} from './store.js';

const keys = ({ profile_name, agent_id, agent_turn_id }: Claimable): string[] => {
  if (agent_id !== undefined) return [`agent:${agent_id}`];
  return [profile_name === undefined || agent_turn_id !== undefined ? 'agent_turns' : `profile:${profile_name}`];
};

/** Thrown so that the look in vain is not remembered as the answer to an idempotency key. */
class NothingThere extends Error {}

export async function claim(call: Call, input: In<'agent_turns.claim'>): Promise<Out<'agent_turns.claim'>> {
  const { driver, tenant } = call;
  const agent_id = actsAs(call, input.agent_id, 'agent_id') ?? input.agent_id;
  const wanted: Claimable = { profile_name: input.profile_name, agent_id, agent_turn_id: input.agent_turn_id };
  // A worker that fell silent has given up its turn, whether or not somebody has noticed: so it is noticed first.
  const attempt = async (): Promise<AgentTurn | undefined> => {
    // Most looks find nothing, and need no transaction to see it; but a guard is checked in one.
    const needed = isGuarded(call) || (await anyClaimable(driver.at(tenant), wanted));
    if (!needed && (await keptAnswer(call, input)) === undefined) return undefined;
    return change<AgentTurn | undefined>(call, {
      input,
      work: (work) => claimOne(work, wanted, input),
      remember: (turn) => [turn!.agent_turn_id, turn!.turn_epoch],
      again: (query, kept) => claimedBefore(call, query, kept as [string, number]),
    }).catch((error) => {
      if (error instanceof NothingThere) return undefined;
      throw error;
    });
  };
  const found = await waitForEnd(call, keys(wanted), input.wait_ms ?? 0, attempt);
  return { agent_turn: found ?? null };
}

/** What was claimed, as long as it is held: who lost it must not take the epoch of the next one for its own. */
async function claimedBefore(call: Call, query: Query, [id, epoch]: [string, number]): Promise<AgentTurn> {
  const turn = await openTurn(call, query, id);
  if (turn.turn_epoch !== epoch) checkTurnHeld(turn, epoch, call.driver.now());
  return toAgentTurn(call.tenant, turn);
}

async function claimOne(work: Work, wanted: Claimable, input: In<'agent_turns.claim'>): Promise<AgentTurn> {
  const { call, tx, now } = work;
  const { tenant } = call;
  // Others may be faster: as long as something is left, it is worth another look.
  for (;;) {
    const found = await findClaimable(tx, wanted);
    if (!found) throw new NothingThere();
    const agent = await lockAgent(tx, found.agent_id);
    const turn = await lockAgentTurn(tx, found.agent_turn_id);
    if (turn?.status !== 'dispatched') continue;
    const expires_at = now + (input.lease_ms ?? DEFAULT_TURN_LEASE_MS);
    return toAgentTurn(tenant, await takeTurn(work, agent, turn, input.worker_id, expires_at));
  }
}

/** Gives a turn that waits to a worker; it and its agent are locked. */
export async function takeTurn(
  work: Work,
  agent: AgentRow | undefined,
  turn: AgentTurnView,
  worker_id: string,
  expires_at: number,
): Promise<AgentTurnView> {
  const { tx, now } = work;
  const { trajectory_id, agent_turn_id, turn_epoch, delegation_id } = turn;
  if (agent) {
    const doing = { status: 'busy', current_trajectory_id: trajectory_id, updated_at: now } as const;
    await noteSeen(work, agent, doing);
  }
  const attempts = turn.attempts + 1;
  const claimed = { status: 'running', attempts, worker_id, claimed_at: now } as const;
  const running = await changeAgentTurn(tx, turn, claimed, now);
  const lease = { kind: 'agent_turn', subject_id: agent_turn_id, holder: worker_id } as const;
  await putLease(tx, { ...lease, token: turn_epoch, expires_at });
  if (delegation_id !== null) await startDelegation(work, delegation_id);
  journalTurn(work, running, 'claimed', { worker_id, attempts });
  return { ...running, lease_expires_at: expires_at };
}
