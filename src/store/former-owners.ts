/** former_owners: agents that gave a trajectory away, and so may no longer write in it. */
import type { Tx } from '../driver/driver.js';
import { sql } from '../driver/sql.js';

export interface FormerOwner {
  readonly trajectory_id: string;
  readonly agent_id: string;
  /** By which it went. */
  readonly handoff_id: string;
}

/** The caller holds the row of the trajectory, as for the next. */
export function addFormerOwner(tx: Tx, tenant: string, owner: FormerOwner): Promise<void> {
  return tx.send(
    sql`INSERT INTO former_owners (tenant_id, trajectory_id, agent_id, handoff_id)
        VALUES (${tenant}, ${owner.trajectory_id}, ${owner.agent_id}, ${owner.handoff_id})
        ON CONFLICT (tenant_id, trajectory_id, agent_id) DO UPDATE SET handoff_id = excluded.handoff_id`,
  );
}

/** One that has it again is no former owner. */
export function removeFormerOwner(
  tx: Tx,
  tenant: string,
  owner: Pick<FormerOwner, 'trajectory_id' | 'agent_id'>,
): Promise<void> {
  return tx.send(
    sql`DELETE FROM former_owners
        WHERE tenant_id = ${tenant} AND trajectory_id = ${owner.trajectory_id} AND agent_id = ${owner.agent_id}`,
  );
}
