/** former_owners: which agents gave a trajectory away, and may no longer write in it. */
import { type Query, sql, TENANT, type Tx } from '../../driver/index.js';

export interface FormerOwner {
  readonly trajectory_id: string;
  readonly agent_id: string;
  /** By which it went over to another. */
  readonly handoff_id: string;
}

/** The caller holds the trajectory's row, and has locked its open scopes: whoever writes there comes before or after. */
export function addFormerOwner(tx: Tx, owner: FormerOwner): Promise<void> {
  return tx.send(
    sql`INSERT INTO former_owners (tenant_id, trajectory_id, agent_id, handoff_id)
        VALUES (${TENANT}, ${owner.trajectory_id}, ${owner.agent_id}, ${owner.handoff_id})
        ON CONFLICT (tenant_id, trajectory_id, agent_id) DO UPDATE SET handoff_id = excluded.handoff_id`,
  );
}

/** One that was given the trajectory back writes in it again. */
export function dropFormerOwner(
  tx: Tx,
  { trajectory_id, agent_id }: Pick<FormerOwner, 'trajectory_id' | 'agent_id'>,
): Promise<void> {
  return tx.send(
    sql`DELETE FROM former_owners
        WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id} AND agent_id = ${agent_id}`,
  );
}

/** The first of these trajectories that the agent gave away. */
export function findFormerOwner(
  query: Query,
  trajectory_ids: readonly string[],
  agent_id: string,
): Promise<FormerOwner | undefined> {
  return query.get<FormerOwner>(
    sql`SELECT trajectory_id, agent_id, handoff_id FROM former_owners
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids}) AND agent_id = ${agent_id}
        ORDER BY trajectory_id LIMIT 1`,
  );
}

/** Whether a trajectory went over to another agent: given away by this one, which has not got it back, or by any. */
export async function wasHandedOver(query: Query, trajectory_id: string, giver: string | null): Promise<boolean> {
  const by = giver === null ? sql`` : sql`AND agent_id = ${giver}`;
  const row = await query.get<{ handoff_id: string }>(
    sql`SELECT handoff_id FROM former_owners
        WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id} ${by} LIMIT 1`,
  );
  return row !== undefined;
}
