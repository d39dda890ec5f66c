/** Which packets an agent sees: conditions on a packet named p. */
import { type Sql, sql, TENANT } from '../../driver/index.js';
import { EVERYTHING, type Reach, within } from '../../engine/sql.js';

export interface PacketViewer {
  /** Null for a caller that is restricted to a user alone. */
  readonly agent: string | null;
  /** Absent if it reaches all packets. */
  readonly reach?: Reach | undefined;
}

/** Only agents that may see a box see its events. */
export function visibleTo({ agent, reach }: PacketViewer): Sql {
  const onBoxes =
    agent === null
      ? EVERYTHING
      : sql`(p.entity_type IS NULL OR p.entity_type <> 'box'
    OR EXISTS (SELECT 1 FROM boxes b WHERE b.tenant_id = ${TENANT} AND b.box_id = p.entity_id AND b.agent_id = ${agent})
    OR EXISTS (SELECT 1 FROM box_grants g WHERE g.tenant_id = ${TENANT} AND g.box_id = p.entity_id AND g.agent_id = ${agent}))`;
  return reach ? sql`(${onBoxes} AND ${packetsWithin(reach)})` : onBoxes;
}

/** Events about nobody are of all users: those of Cairn name entities of theirs. */
export function packetsWithin(reach: Reach): Sql {
  const reached = within(reach, { owner: sql`p.agent`, trajectory: sql`p.thread_id`, subjects: sql`p.subject_ids` });
  if (reach.user === undefined) return reached;
  return sql`((p.format IS NULL OR p.subject_ids IS NOT NULL) AND ${reached})`;
}
