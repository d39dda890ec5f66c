/** boxes and box_grants: reads and writes rows. Entries are in entries.ts. */
import {
  inOrder,
  insertRows,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  TENANT,
  type Tx,
  tenantTable,
} from '../../driver/index.js';
import { BOX_ENDED, subjectsWithin, type UserReach } from '../../engine/sql.js';
import type { ListOrder } from '../../kernel/contract.js';
import type { Grant } from './model.js';

/** The base of a fork: another box at a revision. All null for a box without a base. */
export interface Base {
  readonly base_box_id: string | null;
  readonly base_revision: number | null;
  /** The base's own entries that the fork starts with are at positions base_first ≤ p < base_position. */
  readonly base_first: number | null;
  readonly base_position: number | null;
  /** The length of the base at that revision. */
  readonly base_length: number | null;
}

/** A link in a chain of forks. From revision base_until on the base no longer counts: a save cut it off. */
export interface Link extends Base {
  readonly box_id: string;
  readonly base_until: number | null;
}

/** The columns that an append needs. */
export interface BoxState extends Link {
  readonly agent_id: string | null;
  readonly revision: number;
  readonly length: number;
  readonly next_position: number;
  readonly sealed_at: number | null;
  /** Its holder, such as a scope: only the holder changes it, and it ends with the holder. */
  readonly held_by: string | null;
  readonly subject_ids: string | null;
}

export interface BoxRow extends BoxState {
  /** The newest revision has no own entry before this position. */
  readonly first_position: number;
  /** The box that was forked. The base may be an older box, if this one had no entry of its own. */
  readonly forked_box_id: string | null;
  readonly forked_revision: number | null;
  readonly metadata: string;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** When its holder ended. */
  readonly ended_at: number | null;
}

const boxesTable = tenantTable('boxes', {
  text: ['box_id', 'agent_id', 'subject_ids', 'base_box_id', 'forked_box_id', 'sent_hash', 'held_by'],
  bigint: [
    'revision',
    'length',
    'first_position',
    'next_position',
    'base_revision',
    'base_first',
    'base_position',
    'base_length',
    'forked_revision',
    'sealed_at',
    'created_at',
    'updated_at',
  ],
  json: ['metadata'],
});

export const insertBox = (tx: Tx, box: BoxRow): Promise<void> => insertRows(tx, boxesTable, [box]);

const BOX: Sql = sql`SELECT b.*, ${BOX_ENDED} AS ended_at FROM boxes b WHERE b.tenant_id = ${TENANT}`;

export const findBox = (query: Query, box_id: string): Promise<BoxRow | undefined> =>
  query.get(sql`${BOX} AND b.box_id = ${box_id}`);

export const lockBox = (tx: Tx, box_id: string): Promise<BoxRow | undefined> =>
  tx.get(sql`${BOX} AND b.box_id = ${box_id} FOR UPDATE`);

/** lockBox for an append, with only the columns that it needs. */
export const lockBoxState = (tx: Tx, box_id: string): Promise<BoxState | undefined> =>
  tx.get(
    sql`SELECT box_id, agent_id, revision, length, next_position, base_box_id, base_revision, base_first,
          base_position, base_length, base_until, sealed_at, subject_ids, held_by FROM boxes
        WHERE tenant_id = ${TENANT} AND box_id = ${box_id} FOR UPDATE`,
  );

export async function findBoxes(query: Query, ids: readonly string[]): Promise<Map<string, BoxRow>> {
  const rows = await query.all<BoxRow>(
    sql`${BOX} AND b.box_id = ANY(${ids})
          AND (b.held_by IS NULL OR ${BOX_ENDED} IS NULL)`,
  );
  return new Map(rows.map((row) => [row.box_id, row]));
}

type Growth = Pick<BoxRow, 'revision' | 'length' | 'next_position' | 'updated_at'>;
type BoxChange = Growth & Pick<BoxRow, 'first_position' | 'base_until'>;

/** The columns that an append changes. */
export const growBox = (tx: Tx, box_id: string, change: Growth): Promise<void> =>
  tx.send(
    sql`UPDATE boxes SET revision = ${change.revision}, length = ${change.length},
          next_position = ${change.next_position}, updated_at = ${change.updated_at}
        WHERE tenant_id = ${TENANT} AND box_id = ${box_id}`,
  );

/** The columns that a save changes. */
export const updateBox = (tx: Tx, box_id: string, change: BoxChange): Promise<void> =>
  tx.send(
    sql`UPDATE boxes SET revision = ${change.revision}, length = ${change.length},
          first_position = ${change.first_position}, next_position = ${change.next_position},
          base_until = ${change.base_until}, updated_at = ${change.updated_at}
        WHERE tenant_id = ${TENANT} AND box_id = ${box_id}`,
  );

export const sealBox = (tx: Tx, box_id: string, now: number): Promise<number> =>
  tx.run(
    sql`UPDATE boxes SET sealed_at = ${now}, updated_at = ${now} WHERE tenant_id = ${TENANT} AND box_id = ${box_id}`,
  );

/** Whether an agent may see the box named b: its own, or granted. */
export const visibleBox = (viewer: string): Sql =>
  sql`(b.agent_id = ${viewer} OR EXISTS (SELECT 1 FROM box_grants g
       WHERE g.tenant_id = ${TENANT} AND g.box_id = b.box_id AND g.agent_id = ${viewer}))`;

/** The boxes that an agent may see; without a viewer all of the tenant. */
interface BoxFilter {
  readonly viewer: string | null;
  readonly owner: string | undefined;
  readonly user: UserReach | undefined;
}

const listed = ({ viewer, owner, user }: BoxFilter): Sql =>
  join(
    [
      sql`b.tenant_id = ${TENANT}`,
      sql`(b.held_by IS NULL OR ${BOX_ENDED} IS NULL)`,
      ...(owner === undefined ? [] : [sql`b.agent_id = ${owner}`]),
      ...(viewer === null ? [] : [visibleBox(viewer)]),
      ...(user === undefined ? [] : [subjectsWithin(user, sql`b.subject_ids`)]),
    ],
    ' AND ',
  );

export const listBoxes = (query: Query, filter: BoxFilter, page: KeysetPage): Promise<BoxRow[]> =>
  query.all(sql`SELECT b.*, NULL AS ended_at FROM boxes b WHERE ${listed(filter)}${keyset(sql`b.box_id`, page)}`);

export const countBoxes = (filter: BoxFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM boxes b WHERE ${listed(filter)}`;

export type GrantRow = Omit<Grant, 'granted_at'> & { readonly granted_at: number };

const GRANT: Sql = sql`SELECT box_id, agent_id, access, granted_at FROM box_grants WHERE tenant_id = ${TENANT}`;

export const findGrant = (query: Query, box_id: string, agent_id: string): Promise<GrantRow | undefined> =>
  query.get(sql`${GRANT} AND box_id = ${box_id} AND agent_id = ${agent_id}`);

export async function grantedBoxes(query: Query, box_ids: readonly string[], agent_id: string): Promise<Set<string>> {
  const rows = await query.all<{ box_id: string }>(
    sql`SELECT box_id FROM box_grants
        WHERE tenant_id = ${TENANT} AND box_id = ANY(${box_ids}) AND agent_id = ${agent_id}`,
  );
  return new Set(rows.map(({ box_id }) => box_id));
}

export const listGrants = (query: Query, box_id: string, order?: ListOrder): Promise<GrantRow[]> =>
  query.all(sql`${GRANT} AND box_id = ${box_id} ${inOrder(sql`agent_id`, order)}`);

export const putGrant = (tx: Tx, grant: GrantRow): Promise<number> =>
  tx.run(
    sql`INSERT INTO box_grants (tenant_id, box_id, agent_id, access, granted_at)
        VALUES (${TENANT}, ${grant.box_id}, ${grant.agent_id}, ${grant.access}, ${grant.granted_at})
        ON CONFLICT (tenant_id, box_id, agent_id)
        DO UPDATE SET access = excluded.access, granted_at = excluded.granted_at`,
  );

/** Grants an agent read access; an existing grant stays. */
export const addReader = (tx: Tx, box_id: string, agent_id: string, now: number): Promise<void> =>
  tx.send(
    sql`INSERT INTO box_grants (tenant_id, box_id, agent_id, access, granted_at)
        VALUES (${TENANT}, ${box_id}, ${agent_id}, 'read', ${now})
        ON CONFLICT (tenant_id, box_id, agent_id) DO NOTHING`,
  );

export const removeGrant = (tx: Tx, box_id: string, agent_id: string): Promise<number> =>
  tx.run(sql`DELETE FROM box_grants WHERE tenant_id = ${TENANT} AND box_id = ${box_id} AND agent_id = ${agent_id}`);

/** The cards among these that a caller that acts for a user may not know of. */
export async function cardsOfOthers(
  query: Query,
  card_ids: readonly string[],
  user: UserReach | undefined,
): Promise<Set<string>> {
  if (user === undefined || card_ids.length === 0) return new Set();
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT c.card_id FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${card_ids}) AND NOT (${subjectsWithin(user, sql`c.subject_ids`)})`,
  );
  return new Set(rows.map(({ card_id }) => card_id));
}
