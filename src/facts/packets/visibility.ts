/** Which packets an agent sees: conditions on a packet named p. */
import { type Sql, sql, TENANT } from '../../driver/index.js';
import { type Reach, within } from '../../engine/sql.js';

export interface PacketViewer {
  readonly agent: string;
  /** Absent if it reaches all packets. */
  readonly reach?: Reach | undefined;
}

/** Only agents that may see a box see its events. */
export function visibleTo({ agent, reach }: PacketViewer): Sql {
  const onBoxes = sql`(p.entity_type IS NULL OR p.entity_type <> 'box'
    OR EXISTS (SELECT 1 FROM boxes b WHERE b.tenant_id = ${TENANT} AND b.box_id = p.entity_id AND b.agent_id = ${agent})
    OR EXISTS (SELECT 1 FROM box_grants g WHERE g.tenant_id = ${TENANT} AND g.box_id = p.entity_id AND g.agent_id = ${agent}))`;
  return reach ? sql`(${onBoxes} AND ${packetsWithin(reach)})` : onBoxes;
}

export const packetsWithin = (reach: Reach): Sql => within(reach, sql`p.agent`, sql`p.thread_id`);
