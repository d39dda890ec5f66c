/** What another entity supersedes: hidden from lists unless asked for, and still read by its id. */
import { type Sql, sql } from '../driver/sql.js';

/** Whether an end of an edge, under the name y, has it at a moment; now unless given. */
const heldAt = (as_of: number | undefined): Sql =>
  as_of === undefined
    ? sql`y.deleted_at IS NULL`
    : sql`y.created_at <= ${as_of} AND (y.deleted_at IS NULL OR y.deleted_at > ${as_of})`;

/** A card under the name c that nothing supersedes. */
export const CARD_NOT_SUPERSEDED: Sql = sql`NOT EXISTS (SELECT 1 FROM edge_participants y
  WHERE y.tenant_id = c.tenant_id AND y.entity_id = c.card_id AND y.edge_type = 'Supersedes' AND y.position > 1
    AND y.entity_type IN ('Card', 'Turn') AND y.deleted_at IS NULL)`;

/** A version of an artifact or note, under the name v, whose entity nothing supersedes. */
export const versionNotSuperseded = (as_of?: number): Sql =>
  sql`NOT EXISTS (SELECT 1 FROM edge_participants y
    WHERE y.tenant_id = v.tenant_id AND y.entity_id = v.memory_id AND y.edge_type = 'Supersedes' AND y.position > 1
      AND y.entity_type IN ('Artifact', 'Note') AND ${heldAt(as_of)})`;
