/** Agents that delegate to each other, for tests of delegations. */
import type { Api } from '#cairn/client/index.js';
import type { AgentTurn, Delegation } from '#cairn/coordination/contract.js';
import type { TestStore } from '../targets.js';
import { tenantOf } from './hierarchy.js';

const DAY_MS = 24 * 60 * 60_000;

/** Agents of these names, which may be silent for long. */
export async function addWorkers(cairn: Api, names: readonly string[]): Promise<void> {
  for (const agent_id of names)
    await cairn.agents.register({ agent_id, agent_type: 'worker', capabilities: ['work'], offline_after_ms: DAY_MS });
}

export interface Delegators {
  readonly tenant: string;
  /** A key without an agent. */
  readonly cairn: Api;
  readonly ann: Api;
  readonly bob: Api;
  readonly cyd: Api;
}

/** A tenant with the agents ann, bob and cyd. */
export async function someDelegators(test: TestStore): Promise<Delegators> {
  const cairn = await test.freshTenant();
  const tenant = await tenantOf(cairn);
  await addWorkers(cairn, ['ann', 'bob', 'cyd']);
  const as = (agent: string) => test.as({ tenant, agent, role: 'write' });
  return { tenant, cairn, ann: await as('ann'), bob: await as('bob'), cyd: await as('cyd') };
}

export type DelegationInput = Parameters<Api['delegations']['create']>[0];

/** An offer of ann's to bob, in a trajectory of ann's own unless one is named. */
export const someOffer = async (cairn: Api, more: Partial<DelegationInput> = {}): Promise<Delegation> =>
  cairn.delegations.create({
    from_agent_id: 'ann',
    to_agent_id: 'bob',
    task_description: 'Review the patch.',
    ...more,
    trajectory_id:
      more.trajectory_id ?? (await cairn.trajectories.create({ name: 'task', agent_id: 'ann' })).trajectory_id,
  });

/** The same, accepted by bob. */
export const someAccepted = async (
  cairn: Api,
  more: Partial<DelegationInput> = {},
): Promise<Delegation & { agent_turn_id: string; child_trajectory_id: string; child_scope_id: string }> => {
  const { delegation_id } = await someOffer(cairn, more);
  const accepted = await cairn.delegations.accept({ delegation_id });
  return accepted as Awaited<ReturnType<typeof someAccepted>>;
};

/** What an agent_turn must be in, by the state of its delegation. */
const TOGETHER: Readonly<Record<Delegation['status'], readonly (AgentTurn['status'] | null)[]>> = {
  Pending: [null],
  Rejected: [null],
  Accepted: ['dispatched'],
  InProgress: ['running', 'suspended', 'dispatched'],
  Completed: ['completed'],
  Failed: [null, 'failed', 'timed_out'],
  Cancelled: [null, 'stopped'],
};

/** A delegation as it stands, with what it made; says if that does not fit together. */
export async function standing(cairn: Api, delegation_id: string) {
  const delegation = await cairn.delegations.get({ delegation_id });
  const { agent_turn_id, child_trajectory_id, status } = delegation;
  const turn = agent_turn_id === null ? null : await cairn.agent_turns.get({ agent_turn_id });
  const child =
    child_trajectory_id === null
      ? null
      : await cairn.trajectories.get({ trajectory_id: child_trajectory_id }).catch(() => null);
  const agree = TOGETHER[status].includes(turn?.status ?? null);
  return { delegation, turn, child, agree };
}

/** What an agent was told of delegations, the oldest first: taken and acknowledged. */
export async function newsOf(cairn: Api, agent_id: string): Promise<[string, string][]> {
  const { messages } = await cairn.messages.receive({ agent_id, limit: 100 });
  for (const { message_id } of messages) await cairn.messages.acknowledge({ message_id, agent_id });
  return messages.map(({ message_type, payload }) => [
    message_type,
    (JSON.parse(payload) as { delegation_id: string }).delegation_id,
  ]);
}
