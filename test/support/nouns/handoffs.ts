/** Agents and a trajectory that goes from one to another, for tests of handoffs. */
import type { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import type { Handoff } from '#cairn/coordination/contract.js';
import { sql } from '#cairn/driver/index.js';
import type { TestStore } from '../targets.js';
import { tenantOf } from './hierarchy.js';

/** Agents of these names, which may be silent for long. */
export async function addAgents(cairn: Api, names: readonly string[]): Promise<void> {
  for (const agent_id of names)
    await cairn.agents.register({
      agent_id,
      agent_type: 'worker',
      capabilities: ['work'],
      offline_after_ms: 24 * 60 * 60_000,
    });
}

export interface Team {
  readonly tenant: string;
  /** A key without an agent. */
  readonly cairn: Api;
  readonly ann: Api;
  readonly bob: Api;
}

/** A tenant with the agents ann, bob and cyd. */
export async function someTeam(test: TestStore): Promise<Team> {
  const cairn = await test.freshTenant();
  const tenant = await tenantOf(cairn);
  await addAgents(cairn, ['ann', 'bob', 'cyd']);
  const as = (agent: string) => test.as({ tenant, agent, role: 'write' });
  return { tenant, cairn, ann: await as('ann'), bob: await as('bob') };
}

type HandoffInput = Parameters<Api['handoffs']['create']>[0];

/** An offer of ann's to bob, of a trajectory of its own unless one is named. */
export const someHandoff = async ({ cairn }: Pick<Team, 'cairn'>, more: Partial<HandoffInput> = {}): Promise<Handoff> =>
  cairn.handoffs.create({
    from_agent_id: 'ann',
    to_agent_id: 'bob',
    ...more,
    trajectory_id:
      more.trajectory_id ?? (await cairn.trajectories.create({ name: 'task', agent_id: 'ann' })).trajectory_id,
  });

/** The former owners of a trajectory. */
export async function formerOwners(store: Store, tenant: string, trajectory_id: string): Promise<string[]> {
  const rows = await store.driver.long<{ agent_id: string }>(
    tenant,
    sql`SELECT agent_id FROM former_owners
        WHERE tenant_id = ${tenant} AND trajectory_id = ${trajectory_id} ORDER BY agent_id`,
  );
  return rows.map(({ agent_id }) => agent_id);
}
