/** boxes, box_grants: one row a box, with what its entries are read by. The entries are in box-entries.ts. */
import {
  inOrder,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  type Table,
  TENANT,
  type Tx,
} from '../../driver/index.js';
import { BOX_ENDED } from '../../engine/sql.js';
import type { ListOrder } from '../../kernel/contract.js';

/** Where a fork starts: what a box held at a revision. All null for a box that stands on its own. */
export interface Base {
  readonly base_box_id: string | null;
  readonly base_revision: number | null;
  /** Between these positions, the second excluded, is all that the base's own entries give to the fork. */
  readonly base_first: number | null;
  readonly base_position: number | null;
  /** How long the base was at that revision. */
  readonly base_length: number | null;
}

/** A box as others may start with it: its base counts for revisions before base_until only, if a save cut it off. */
export interface Link extends Base {
  readonly box_id: string;
  readonly base_until: number | null;
}

/** What a change must know of a box. */
export interface BoxState extends Link {
  readonly agent_id: string | null;
  readonly revision: number;
  readonly length: number;
  readonly next_position: number;
  readonly sealed_at: number | null;
  /** What it belongs to, such as a scope, which alone changes it: see endings. */
  readonly held_by: string | null;
}

export interface BoxRow extends BoxState {
  /** No entry of the box's own before this is in its newest revision. */
  readonly first_position: number;
  /** What was forked; the base may be an older box, where this one had nothing to add to it. */
  readonly forked_box_id: string | null;
  readonly forked_revision: number | null;
  readonly metadata: string;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** When what holds it ended. */
  readonly ended_at: number | null;
}

const boxesTable: Table = {
  name: 'boxes',
  columns: {
    tenant_id: 'text',
    box_id: 'text',
    agent_id: 'text',
    revision: 'bigint',
    length: 'bigint',
    first_position: 'bigint',
    next_position: 'bigint',
    base_box_id: 'text',
    base_revision: 'bigint',
    base_first: 'bigint',
    base_position: 'bigint',
    base_length: 'bigint',
    forked_box_id: 'text',
    forked_revision: 'bigint',
    metadata: 'json',
    sent_hash: 'text',
    sealed_at: 'bigint',
    held_by: 'text',
    created_at: 'bigint',
    updated_at: 'bigint',
  },
};

export async function insertBox(tx: Tx, box: BoxRow): Promise<void> {
  await tx.insert(boxesTable, [
    [
      tx.tenant,
      box.box_id,
      box.agent_id,
      box.revision,
      box.length,
      box.first_position,
      box.next_position,
      box.base_box_id,
      box.base_revision,
      box.base_first,
      box.base_position,
      box.base_length,
      box.forked_box_id,
      box.forked_revision,
      box.metadata,
      box.sent_hash,
      box.sealed_at,
      box.held_by,
      box.created_at,
      box.updated_at,
    ],
  ]);
}

export async function findBox(query: Query, box_id: string): Promise<BoxRow | undefined> {
  return query.get<BoxRow>(
    sql`SELECT b.*, ${BOX_ENDED} AS ended_at FROM boxes b WHERE b.tenant_id = ${TENANT} AND b.box_id = ${box_id}`,
  );
}

/** Finds a box and keeps others from changing it until the commit. */
export async function lockBox(tx: Tx, box_id: string): Promise<BoxRow | undefined> {
  return tx.get<BoxRow>(
    sql`SELECT b.*, ${BOX_ENDED} AS ended_at FROM boxes b WHERE b.tenant_id = ${TENANT} AND b.box_id = ${box_id} FOR UPDATE`,
  );
}

/** The same for an append, which asks for no more than it needs. */
export async function lockBoxState(tx: Tx, box_id: string): Promise<BoxState | undefined> {
  return tx.get<BoxState>(
    sql`SELECT box_id, agent_id, revision, length, next_position, base_box_id, base_revision, base_first,
          base_position, base_length, base_until, sealed_at, held_by FROM boxes
        WHERE tenant_id = ${TENANT} AND box_id = ${box_id} FOR UPDATE`,
  );
}

export async function findBoxes(query: Query, ids: readonly string[]): Promise<Map<string, BoxRow>> {
  const rows = await query.all<BoxRow>(
    sql`SELECT b.*, ${BOX_ENDED} AS ended_at FROM boxes b WHERE b.tenant_id = ${TENANT} AND b.box_id = ANY(${ids})
          AND (b.held_by IS NULL OR ${BOX_ENDED} IS NULL)`,
  );
  return new Map(rows.map((row) => [row.box_id, row]));
}

export interface Growth {
  readonly revision: number;
  readonly length: number;
  readonly next_position: number;
  readonly updated_at: number;
}

/** What an append changes of its box. */
export async function growBox(tx: Tx, box_id: string, change: Growth): Promise<void> {
  await tx.send(
    sql`UPDATE boxes SET revision = ${change.revision}, length = ${change.length},
          next_position = ${change.next_position}, updated_at = ${change.updated_at}
        WHERE tenant_id = ${TENANT} AND box_id = ${box_id}`,
  );
}

export interface BoxChange extends Growth {
  readonly first_position: number;
  readonly base_until: number | null;
}

/** What a save changes of its box. */
export async function updateBox(tx: Tx, box_id: string, change: BoxChange): Promise<void> {
  await tx.send(
    sql`UPDATE boxes SET revision = ${change.revision}, length = ${change.length},
          first_position = ${change.first_position}, next_position = ${change.next_position},
          base_until = ${change.base_until}, updated_at = ${change.updated_at}
        WHERE tenant_id = ${TENANT} AND box_id = ${box_id}`,
  );
}

export async function sealBox(tx: Tx, box_id: string, now: number): Promise<void> {
  await tx.run(
    sql`UPDATE boxes SET sealed_at = ${now}, updated_at = ${now} WHERE tenant_id = ${TENANT} AND box_id = ${box_id}`,
  );
}

/** Whether an agent may see the box under the name b: its own, or granted. */
export const visibleBox = (viewer: string): Sql =>
  sql`(b.agent_id = ${viewer} OR EXISTS (SELECT 1 FROM box_grants g
       WHERE g.tenant_id = ${TENANT} AND g.box_id = b.box_id AND g.agent_id = ${viewer}))`;

/** The boxes an agent may see: its own and those granted to it. Without an agent, all of the tenant's. */
const visibleBoxes = (viewer: string | null, owner: string | undefined): Sql =>
  join(
    [
      sql`b.tenant_id = ${TENANT}`,
      sql`(b.held_by IS NULL OR ${BOX_ENDED} IS NULL)`,
      ...(owner === undefined ? [] : [sql`b.agent_id = ${owner}`]),
      ...(viewer === null ? [] : [visibleBox(viewer)]),
    ],
    ' AND ',
  );

export async function listBoxes(
  query: Query,
  viewer: string | null,
  owner: string | undefined,
  page: KeysetPage,
): Promise<BoxRow[]> {
  return query.all<BoxRow>(
    sql`SELECT b.*, NULL AS ended_at FROM boxes b WHERE ${visibleBoxes(viewer, owner)}${keyset(sql`b.box_id`, page)}`,
  );
}

export const countBoxes = (viewer: string | null, owner: string | undefined): Sql =>
  sql`SELECT COUNT(*) AS total FROM boxes b WHERE ${visibleBoxes(viewer, owner)}`;

export interface GrantRow {
  readonly box_id: string;
  readonly agent_id: string;
  readonly access: 'read' | 'write';
  readonly granted_at: number;
}

export async function findGrant(query: Query, box_id: string, agent_id: string): Promise<GrantRow | undefined> {
  return query.get<GrantRow>(
    sql`SELECT box_id, agent_id, access, granted_at FROM box_grants
        WHERE tenant_id = ${TENANT} AND box_id = ${box_id} AND agent_id = ${agent_id}`,
  );
}

/** Which of these boxes an agent was granted. */
export async function grantedBoxes(query: Query, box_ids: readonly string[], agent_id: string): Promise<Set<string>> {
  const rows = await query.all<{ box_id: string }>(
    sql`SELECT box_id FROM box_grants
        WHERE tenant_id = ${TENANT} AND box_id = ANY(${box_ids}) AND agent_id = ${agent_id}`,
  );
  return new Set(rows.map((row) => row.box_id));
}

export async function listGrants(query: Query, box_id: string, order?: ListOrder): Promise<GrantRow[]> {
  return query.all<GrantRow>(
    sql`SELECT box_id, agent_id, access, granted_at FROM box_grants
        WHERE tenant_id = ${TENANT} AND box_id = ${box_id} ${inOrder(sql`agent_id`, order)}`,
  );
}

export async function putGrant(tx: Tx, grant: GrantRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO box_grants (tenant_id, box_id, agent_id, access, granted_at)
        VALUES (${TENANT}, ${grant.box_id}, ${grant.agent_id}, ${grant.access}, ${grant.granted_at})
        ON CONFLICT (tenant_id, box_id, agent_id)
        DO UPDATE SET access = excluded.access, granted_at = excluded.granted_at`,
  );
}

/** Lets an agent read a box, unless it may do so already or more. */
export function addReader(tx: Tx, box_id: string, agent_id: string, now: number): Promise<void> {
  return tx.send(
    sql`INSERT INTO box_grants (tenant_id, box_id, agent_id, access, granted_at)
        VALUES (${TENANT}, ${box_id}, ${agent_id}, 'read', ${now})
        ON CONFLICT (tenant_id, box_id, agent_id) DO NOTHING`,
  );
}

export async function removeGrant(tx: Tx, box_id: string, agent_id: string): Promise<boolean> {
  const changed = await tx.run(
    sql`DELETE FROM box_grants WHERE tenant_id = ${TENANT} AND box_id = ${box_id} AND agent_id = ${agent_id}`,
  );
  return changed > 0;
}
