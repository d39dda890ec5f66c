/** What another entity supersedes: hidden from lists unless asked for, and still read by its id. */
import { type Sql, sql, TENANT } from '../../driver/index.js';
import { type Moment, readableEntity } from './store.js';

/** Whether an end of an edge, under the name y, has it at a moment; now unless given. */
const heldAt = (as_of: number | undefined): Sql =>
  as_of === undefined
    ? sql`y.deleted_at IS NULL`
    : sql`y.created_at <= ${as_of} AND (y.deleted_at IS NULL OR y.deleted_at > ${as_of})`;

/**
 * Whether no end y that something has makes it superseded: what supersedes it counts as long as it can be read. Each
 * lookup is a subquery of one value, since PostgreSQL without statistics would turn one that asks whether there are
 * rows into a join, and read all ends of the tenant for each row.
 */
const nothingSupersedes = (end: Sql, moment: Pick<Moment, 'now' | 'as_of'>): Sql =>
  sql`(SELECT 1 FROM edge_participants y
    WHERE y.tenant_id = ${TENANT} AND ${end} AND y.edge_type = 'Supersedes' AND y.position > 1
      AND ${heldAt(moment.as_of)}
      AND (SELECT ${readableEntity({ ...moment, agent: null })} FROM edge_participants f
           WHERE f.tenant_id = ${TENANT} AND f.edge_id = y.edge_id AND f.position = 1) IS NOT NULL
    LIMIT 1) IS NULL`;

/** A card under the name c that nothing supersedes. */
export const cardNotSuperseded = (now: number): Sql =>
  nothingSupersedes(sql`y.entity_id = c.card_id AND y.entity_type IN ('Card', 'Turn')`, { now });

/** A packet under the name p that nothing supersedes. */
export const packetNotSuperseded = (now: number): Sql =>
  nothingSupersedes(sql`y.entity_id = p.packet_id AND y.entity_type = 'Packet'`, { now });

/** A version of an artifact or note, under the name v, whose entity nothing supersedes. */
export const versionNotSuperseded = (now: number, as_of?: number): Sql =>
  nothingSupersedes(sql`y.entity_id = v.memory_id AND y.entity_type IN ('Artifact', 'Note')`, { now, as_of });
