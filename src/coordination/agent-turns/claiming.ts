/** Claiming: leases the oldest dispatched agent_turn to one of the workers that ask. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, change, isGuarded, putLease, storedReplay, type Work } from '../../engine/index.js';
import { type AgentRow, lockAgent, recordLockedHeartbeat, waitForExpiry } from '../../identity/index.js';
import { agentOf } from '../acting-agent.js';
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

const wakeKeys = ({ profile_name, agent_id, agent_turn_id }: Claimable): string[] => {
  if (agent_id !== undefined) return [`agent:${agent_id}`];
  return [profile_name === undefined || agent_turn_id !== undefined ? 'agent_turns' : `profile:${profile_name}`];
};

/** Rolls back an empty claim, so that it is not stored under the idempotency key. */
class NothingToClaim extends Error {}

export async function claim(call: Call, input: In<'agent_turns.claim'>): Promise<Out<'agent_turns.claim'>> {
  const agent_id = agentOf(call, input.agent_id, 'agent_id');
  const wanted: Claimable = { profile_name: input.profile_name, agent_id, agent_turn_id: input.agent_turn_id };
  const attempt = async (): Promise<AgentTurn | undefined> => {
    // Most polls find nothing and need no transaction, unless a guard must be checked in one.
    const needed = isGuarded(call) || (await anyClaimable(call.driver.at(call.tenant), wanted));
    if (!needed && (await storedReplay(call, input)) === undefined) return undefined;
    return change<AgentTurn | undefined>(call, {
      input,
      work: (work) => claimOne(work, wanted, input),
      remember: (turn) => [turn!.agent_turn_id, turn!.turn_epoch],
      again: (query, kept) => claimedBefore(call, query, kept as [string, number]),
    }).catch((error) => {
      if (error instanceof NothingToClaim) return undefined;
      throw error;
    });
  };
  // Records expired leases first, so that their agent_turns can be claimed.
  const found = await waitForExpiry(call, wakeKeys(wanted), input.wait_ms ?? 0, attempt);
  return { agent_turn: found ?? null };
}

/** Replays a claim while it is held: a worker that lost it must not get the epoch of the next holder. */
async function claimedBefore(call: Call, query: Query, [id, epoch]: [string, number]): Promise<AgentTurn> {
  const turn = await openTurn(call, query, id);
  if (turn.turn_epoch !== epoch) checkTurnHeld(turn, epoch, call.driver.now());
  return toAgentTurn(call.tenant, turn);
}

async function claimOne(work: Work, wanted: Claimable, input: In<'agent_turns.claim'>): Promise<AgentTurn> {
  const { call, tx, now } = work;
  // Another worker may lock it first: retry as long as any is left.
  for (;;) {
    const found = await findClaimable(tx, wanted);
    if (!found) throw new NothingToClaim();
    const agent = await lockAgent(tx, found.agent_id);
    const turn = await lockAgentTurn(tx, found.agent_turn_id);
    if (turn?.status !== 'dispatched') continue;
    const expires_at = now + (input.lease_ms ?? DEFAULT_TURN_LEASE_MS);
    return toAgentTurn(call.tenant, await takeTurn(work, agent, turn, input.worker_id, expires_at));
  }
}

/** Leases a dispatched agent_turn to a worker. The agent_turn and its agent are locked. */
export async function takeTurn(
  work: Work,
  agent: AgentRow | undefined,
  turn: AgentTurnView,
  worker_id: string,
  expires_at: number,
): Promise<AgentTurnView> {
  const { tx, now } = work;
  const { trajectory_id, agent_turn_id: subject_id, turn_epoch: token, delegation_id } = turn;
  const busy = { status: 'busy', current_trajectory_id: trajectory_id, updated_at: now } as const;
  if (agent) await recordLockedHeartbeat(work, agent, busy);
  const attempts = turn.attempts + 1;
  const claimed = { status: 'running', attempts, worker_id, claimed_at: now } as const;
  const running = await changeAgentTurn(tx, turn, claimed, now);
  await putLease(tx, { kind: 'agent_turn', subject_id, holder: worker_id, token, expires_at });
  if (delegation_id !== null) await startDelegation(work, delegation_id);
  journalTurn(work, running, 'claimed', { worker_id, attempts });
  return { ...running, lease_expires_at: expires_at };
}
