/** Claiming agent_turns: the oldest that waits for a worker, by one of those who ask. */
import type { z } from 'zod';
import type { agent_turns as operations } from '../contract/agent-turns.js';
import type { Tx } from '../driver/driver.js';
import { type AgentTurn, DEFAULT_TURN_LEASE_MS } from '../model/agent-turn.js';
import {
  anyClaimable,
  type Claimable,
  changeAgentTurn,
  findClaimable,
  lockAgentTurn,
  toAgentTurn,
} from '../store/agent-turns.js';
import { lockAgent } from '../store/agents.js';
import { findDelegation } from '../store/delegations.js';
import { putLease } from '../store/leases.js';
import { actsAs } from './actor.js';
import { noteSeen } from './agent-presence.js';
import { journalTurn, readTurn } from './agent-turns.js';
import { startDelegation } from './delegation-moves.js';
import { isGuarded } from './guards.js';
import type { Call } from './runtime.js';
import { noticeDue } from './timekeeper.js';
import { waitFor } from './waiting-for.js';
import { change, keptAnswer } from './write.js';

type In<V extends keyof typeof operations> = z.output<(typeof operations)[V]['input']>;
type Out<V extends keyof typeof operations> = z.output<(typeof operations)[V]['output']>;

/** How many that others were faster to claim are passed over before it is left to the next look. */
const CLAIM_ATTEMPTS = 8;

const keys = ({ profile_name, agent_id, agent_turn_id }: Claimable): string[] => {
  if (agent_id !== undefined) return [`agent:${agent_id}`];
  return [
    profile_name === undefined || agent_turn_id !== undefined ? 'agent_turns' : `profile:${profile_name}`,
  ];
};

/** Thrown so that the look in vain is not remembered as the answer to an idempotency key. */
class NothingThere extends Error {}

export async function claim(call: Call, input: In<'claim'>): Promise<Out<'claim'>> {
  const { driver, tenant } = call;
  const agent_id = actsAs(call, input.agent_id, 'agent_id') ?? input.agent_id;
  const wanted: Claimable = {
    profile_name: input.profile_name,
    agent_id,
    agent_turn_id: input.agent_turn_id,
  };
  let nextEnd = Number.POSITIVE_INFINITY;
  const attempt = async (): Promise<AgentTurn | undefined> => {
    // A worker that fell silent has given up its turn, whether or not somebody has noticed.
    nextEnd = (await noticeDue(call)) ?? Number.POSITIVE_INFINITY;
    // Most looks find nothing, and need no transaction to see it; but a guard is checked in one.
    const needed = isGuarded(call) || (await anyClaimable(driver.at(tenant), tenant, wanted));
    if (!needed && (await keptAnswer(call, input)) === undefined) return undefined;
    return change<AgentTurn | undefined>(call, {
      input,
      work: (tx, now) => claimOne(call, tx, wanted, input, now),
      remember: (turn) => turn!.agent_turn_id,
      again: (query, kept) => readTurn(call, query, kept as string),
    }).catch((error) => {
      if (error instanceof NothingThere) return undefined;
      throw error;
    });
  };
  const found = await waitFor(
    call,
    keys(wanted),
    input.wait_ms ?? 0,
    attempt,
    () => performance.now() + nextEnd,
  );
  return { agent_turn: found ?? null };
}

async function claimOne(
  call: Call,
  tx: Tx,
  wanted: Claimable,
  input: In<'claim'>,
  now: number,
): Promise<AgentTurn> {
  const { tenant } = call;
  for (let passed = 0; passed < CLAIM_ATTEMPTS; passed++) {
    const found = await findClaimable(tx, tenant, wanted);
    if (!found) break;
    const agent = await lockAgent(tx, tenant, found.agent_id);
    const turn = await lockAgentTurn(tx, tenant, found.agent_turn_id);
    if (turn?.status !== 'dispatched') continue;
    const { trajectory_id, agent_turn_id, turn_epoch } = turn;
    if (agent) {
      const doing = { status: 'busy', current_trajectory_id: trajectory_id, updated_at: now } as const;
      await noteSeen(call, tx, agent, now, doing);
    }
    const attempts = turn.attempts + 1;
    const claimed = { status: 'running', attempts, worker_id: input.worker_id, claimed_at: now } as const;
    const running = await changeAgentTurn(tx, tenant, turn, claimed, now);
    const expires_at = now + (input.lease_ms ?? DEFAULT_TURN_LEASE_MS);
    const lease = { kind: 'agent_turn', subject_id: agent_turn_id, holder: input.worker_id } as const;
    await putLease(tx, tenant, { ...lease, token: turn_epoch, expires_at });
    const delegation = turn.delegation_id && (await findDelegation(tx, tenant, turn.delegation_id));
    if (delegation) await startDelegation(call, tx, delegation, now);
    journalTurn(call, tx, running, 'claimed', now, { worker_id: input.worker_id, attempts });
    return toAgentTurn(tenant, { ...running, lease_expires_at: expires_at });
  }
  throw new NothingThere();
}
