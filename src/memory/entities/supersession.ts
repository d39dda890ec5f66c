/** Superseded entities: hidden from lists by default, readable by id. */
import { type Sql, sql, TENANT } from '../../driver/index.js';
import { type Moment, readableEntity } from './store.js';

/** Whether the edge of a participant y exists at a moment; default: now. */
const edgeExistsAt = (as_of: number | undefined): Sql =>
  as_of === undefined
    ? sql`y.deleted_at IS NULL`
    : sql`y.created_at <= ${as_of} AND (y.deleted_at IS NULL OR y.deleted_at > ${as_of})`;

/**
 * Whether no readable entity supersedes the one of participant y. The lookups are scalar subqueries: without statistics
 * PostgreSQL turns EXISTS into a join, and reads all participants of the tenant for each row.
 */
const nothingSupersedes = (participant: Sql, moment: Pick<Moment, 'now' | 'as_of'>): Sql =>
  sql`(SELECT 1 FROM edge_participants y
    WHERE y.tenant_id = ${TENANT} AND ${participant} AND y.edge_type = 'Supersedes' AND y.position > 1
      AND ${edgeExistsAt(moment.as_of)}
      AND (SELECT ${readableEntity({ ...moment, agent: null })} FROM edge_participants f
           WHERE f.tenant_id = ${TENANT} AND f.edge_id = y.edge_id AND f.position = 1) IS NOT NULL
    LIMIT 1) IS NULL`;

/** A card c that nothing supersedes. */
export const cardNotSuperseded = (now: number): Sql =>
  nothingSupersedes(sql`y.entity_id = c.card_id AND y.entity_type IN ('Card', 'Turn')`, { now });

/** A packet p that nothing supersedes. */
export const packetNotSuperseded = (now: number): Sql =>
  nothingSupersedes(sql`y.entity_id = p.packet_id AND y.entity_type = 'Packet'`, { now });

/** A version v of an artifact or note that nothing supersedes. */
export const versionNotSuperseded = (now: number, as_of?: number): Sql =>
  nothingSupersedes(sql`y.entity_id = v.memory_id AND y.entity_type IN ('Artifact', 'Note')`, { now, as_of });
