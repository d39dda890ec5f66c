/** Agents that handed a trajectory off: they can no longer write in it, whatever their memory_access. */
import { type Query, sql, TENANT, type Tx } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';

interface FormerOwner {
  readonly trajectory_id: string;
  readonly agent_id: string;
  readonly handoff_id: string;
}

/** The caller has locked the trajectory and its open scopes, so that concurrent writes come before or after. */
export const addFormerOwner = (tx: Tx, { trajectory_id, agent_id, handoff_id }: FormerOwner): Promise<void> =>
  tx.send(
    sql`INSERT INTO former_owners (tenant_id, trajectory_id, agent_id, handoff_id)
        VALUES (${TENANT}, ${trajectory_id}, ${agent_id}, ${handoff_id})
        ON CONFLICT (tenant_id, trajectory_id, agent_id) DO UPDATE SET handoff_id = excluded.handoff_id`,
  );

/** Lets an agent that got the trajectory back write in it again. */
export const dropFormerOwner = (
  tx: Tx,
  { trajectory_id, agent_id }: Pick<FormerOwner, 'trajectory_id' | 'agent_id'>,
): Promise<void> =>
  tx.send(
    sql`DELETE FROM former_owners
        WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id} AND agent_id = ${agent_id}`,
  );

/** Whether this agent, or with null any agent, handed the trajectory off and has not got it back. */
export async function wasHandedOff(query: Query, trajectory_id: string, agent_id: string | null): Promise<boolean> {
  const by = agent_id === null ? sql`` : sql`AND agent_id = ${agent_id}`;
  const row = await query.get<{ handoff_id: string }>(
    sql`SELECT handoff_id FROM former_owners
        WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id} ${by} LIMIT 1`,
  );
  return row !== undefined;
}

/** The agent that has the trajectory now, if this agent handed it off; else this agent. */
export async function successorOf(query: Query, trajectory_id: string | null, agent_id: string): Promise<string> {
  if (trajectory_id === null) return agent_id;
  const row = await query.get<{ agent_id: string | null }>(
    sql`SELECT t.agent_id FROM former_owners f
        JOIN trajectories t ON t.tenant_id = f.tenant_id AND t.trajectory_id = f.trajectory_id
        WHERE f.tenant_id = ${TENANT} AND f.trajectory_id = ${trajectory_id} AND f.agent_id = ${agent_id}`,
  );
  return row?.agent_id ?? agent_id;
}

/**
 * The error for a write in these trajectories, if the agent of the call, or the one that a key without an agent names,
 * handed one of them off. Called in the writing transaction, once the trajectory or its content is locked.
 */
export async function formerOwnerRefusal(
  call: Call,
  query: Query,
  trajectory_ids: readonly string[],
  named: string | null = null,
): Promise<CairnError | undefined> {
  const agent_id = call.caller.agent_id ?? named;
  if (agent_id === null || trajectory_ids.length === 0) return undefined;
  const former = await query.get<FormerOwner>(
    sql`SELECT trajectory_id, agent_id, handoff_id FROM former_owners
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids}) AND agent_id = ${agent_id}
        ORDER BY trajectory_id LIMIT 1`,
  );
  if (!former) return undefined;
  const { trajectory_id, handoff_id } = former;
  return new CairnError(
    'FORBIDDEN',
    `agent ${agent_id} gave trajectory ${trajectory_id} away by handoff ${handoff_id}, and may no longer write in it`,
    { rule: 'former_owner', trajectory_id, handoff_id },
  );
}

export async function refuseFormerOwner(
  call: Call,
  query: Query,
  trajectory_id: string | null,
  named?: string | null,
): Promise<void> {
  const refusal = trajectory_id && (await formerOwnerRefusal(call, query, [trajectory_id], named));
  if (refusal) throw refusal;
}
