/** scopes and scope_checkpoints: one row a context window; its turns are in its box. */
import {
  byDialect,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  startsWith,
  type Table,
  TENANT,
  type Times,
  type Tx,
  within,
} from '../../driver/index.js';
import type { ContainerReach } from '../../engine/sql.js';
import { scopesReadable } from '../access/reach.js';

export interface ScopeRow {
  readonly scope_id: string;
  readonly trajectory_id: string;
  readonly parent_scope_id: string | null;
  readonly box_id: string;
  readonly agent_id: string | null;
  readonly name: string;
  readonly purpose: string | null;
  readonly token_budget: number;
  readonly tokens_used: number;
  /** Percent of the budget. */
  readonly threshold: number;
  readonly threshold_at: number | null;
  readonly enforce: number;
  readonly restored_from: string | null;
  readonly metadata: string | null;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly closed_at: number | null;
  readonly deleted_at: number | null;
  /** Up to which turn it was summarised, and facts were got out of it. */
  readonly summarized_turns: number;
  readonly extracted_turns: number;
}

const scopesTable: Table = {
  name: 'scopes',
  columns: {
    tenant_id: 'text',
    scope_id: 'text',
    trajectory_id: 'text',
    parent_scope_id: 'text',
    box_id: 'text',
    agent_id: 'text',
    name: 'text',
    purpose: 'text',
    token_budget: 'bigint',
    tokens_used: 'bigint',
    threshold: 'bigint',
    threshold_at: 'bigint',
    enforce: 'bigint',
    restored_from: 'text',
    metadata: 'json',
    sent_hash: 'text',
    created_at: 'bigint',
    updated_at: 'bigint',
    summarized_turns: 'bigint',
    extracted_turns: 'bigint',
  },
};

export async function insertScope(tx: Tx, row: ScopeRow): Promise<void> {
  await tx.insert(scopesTable, [
    [
      tx.tenant,
      row.scope_id,
      row.trajectory_id,
      row.parent_scope_id,
      row.box_id,
      row.agent_id,
      row.name,
      row.purpose,
      row.token_budget,
      row.tokens_used,
      row.threshold,
      row.threshold_at,
      row.enforce,
      row.restored_from,
      row.metadata,
      row.sent_hash,
      row.created_at,
      row.updated_at,
      row.summarized_turns,
      row.extracted_turns,
    ],
  ]);
}

/** Closed and deleted ones included. */
export function findScope(query: Query, scope_id: string): Promise<ScopeRow | undefined> {
  return query.get<ScopeRow>(sql`SELECT * FROM scopes WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id}`);
}

/** The same, and nobody adds a turn to it or closes it until the commit. */
export function lockScope(tx: Tx, scope_id: string): Promise<ScopeRow | undefined> {
  return tx.get<ScopeRow>(sql`SELECT * FROM scopes WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id} FOR UPDATE`);
}

/** The open scopes among these and all that are nested in them, locked, in the order of their ids. */
export async function lockOpenScopes(tx: Tx, scope_ids: readonly string[]): Promise<ScopeRow[]> {
  let locked: ScopeRow[] = [];
  for (let known = 0; ; ) {
    const found = await nestedIn(tx, scope_ids);
    // Whoever nests a scope locks the one that it is nested in: when all are locked and none came, none can come.
    if (found.length === known) return locked;
    known = found.length;
    locked = await tx.all<ScopeRow>(
      sql`SELECT * FROM scopes WHERE tenant_id = ${TENANT} AND scope_id = ANY(${found})
            AND closed_at IS NULL ORDER BY scope_id FOR UPDATE`,
    );
  }
}

async function nestedIn(tx: Query, scope_ids: readonly string[]): Promise<string[]> {
  const rows = await tx.all<{ scope_id: string }>(
    sql`WITH RECURSIVE nested(scope_id) AS (
          SELECT s.scope_id FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.scope_id = ANY(${scope_ids})
          UNION
          SELECT s.scope_id FROM nested n CROSS JOIN scopes s
            WHERE s.tenant_id = ${TENANT} AND s.parent_scope_id = n.scope_id
        )
        SELECT scope_id FROM nested`,
  );
  return rows.map(({ scope_id }) => scope_id);
}

/** SQLite would rather go through all scopes in their order than sort those of a few trajectories. */
const byTrajectory: Sql = byDialect({ sqlite: sql`scopes INDEXED BY scopes_by_trajectory`, postgres: sql`scopes` });

/** The open scopes of these trajectories, locked, in the order of their ids. */
export function lockScopesOf(tx: Tx, trajectory_ids: readonly string[]): Promise<ScopeRow[]> {
  return tx.all<ScopeRow>(
    sql`SELECT * FROM ${byTrajectory} WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids})
          AND closed_at IS NULL ORDER BY scope_id FOR UPDATE`,
  );
}

export async function closeScopes(tx: Tx, scope_ids: readonly string[], now: number): Promise<void> {
  await tx.send(
    sql`UPDATE scopes SET closed_at = ${now}, updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids}) AND closed_at IS NULL`,
  );
}

/** Notes up to which turn a scope, which is locked, was summarised or looked through for facts. */
export function noteCovered(
  tx: Tx,
  { scope_id, summarized_turns, extracted_turns }: Pick<ScopeRow, 'scope_id' | 'summarized_turns' | 'extracted_turns'>,
): Promise<void> {
  return tx.send(
    sql`UPDATE scopes SET summarized_turns = ${summarized_turns}, extracted_turns = ${extracted_turns}
        WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id}`,
  );
}

/** The open scopes among these and those nested in them, or of these trajectories: only to be looked at. */
export async function openScopesAt(
  query: Query,
  at: { readonly scope_ids?: readonly string[]; readonly trajectory_ids?: readonly string[] },
): Promise<ScopeRow[]> {
  if (at.trajectory_ids)
    return query.all<ScopeRow>(
      sql`SELECT * FROM ${byTrajectory} WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${at.trajectory_ids})
            AND closed_at IS NULL ORDER BY scope_id`,
    );
  const ids = await nestedIn(query, at.scope_ids ?? []);
  return query.all<ScopeRow>(
    sql`SELECT * FROM scopes WHERE tenant_id = ${TENANT} AND scope_id = ANY(${ids}) AND closed_at IS NULL
        ORDER BY scope_id`,
  );
}

/** A scope with what is shown of it besides its row. */
export interface ScopeView extends ScopeRow {
  readonly turns: number;
  readonly checkpoint_box_id: string | null;
  readonly context_state: string | null;
  readonly checkpoint_tokens: number | null;
  readonly checkpoint_turns: number | null;
  readonly checkpoint_at: number | null;
  /** Of the erasure after it was closed; null for an open one. */
  readonly erased: number | null;
  readonly kept: number | null;
  readonly done_at: number | null;
}

const VIEW: Sql = sql`SELECT s.*, b.length AS turns, k.box_id AS checkpoint_box_id, k.context_state,
    k.tokens_used AS checkpoint_tokens, k.turns AS checkpoint_turns, k.created_at AS checkpoint_at,
    x.erased, x.kept, x.done_at
  FROM scopes s JOIN boxes b ON b.tenant_id = s.tenant_id AND b.box_id = s.box_id
  LEFT JOIN scope_checkpoints k ON k.tenant_id = s.tenant_id AND k.scope_id = s.scope_id
  LEFT JOIN endings x ON x.tenant_id = s.tenant_id AND x.holder = 'scope:' || s.scope_id`;

export function viewScope(query: Query, scope_id: string): Promise<ScopeView | undefined> {
  return query.get<ScopeView>(
    sql`${VIEW} WHERE s.tenant_id = ${TENANT} AND s.scope_id = ${scope_id} AND s.deleted_at IS NULL`,
  );
}

export interface ScopeFilter {
  readonly trajectory_id?: string | undefined;
  readonly parent_scope_id?: string | undefined;
  readonly status?: 'active' | 'closed' | undefined;
  readonly agent_id?: string | undefined;
  readonly name?: string | undefined;
  readonly times: Times;
  readonly reach?: ContainerReach | undefined;
}

function where(filter: ScopeFilter): Sql {
  const { trajectory_id, parent_scope_id, status, agent_id, name, reach } = filter;
  const conditions: Sql[] = [sql`s.tenant_id = ${TENANT}`, sql`s.deleted_at IS NULL`];
  if (trajectory_id !== undefined) conditions.push(sql`s.trajectory_id = ${trajectory_id}`);
  if (parent_scope_id !== undefined) conditions.push(sql`s.parent_scope_id = ${parent_scope_id}`);
  if (status === 'active') conditions.push(sql`s.closed_at IS NULL`);
  if (status === 'closed') conditions.push(sql`s.closed_at IS NOT NULL`);
  if (agent_id !== undefined) conditions.push(sql`s.agent_id = ${agent_id}`);
  if (name !== undefined) conditions.push(startsWith(sql`s.name`, name));
  conditions.push(...within(sql`s.created_at`, sql`s.updated_at`, filter.times));
  if (reach !== undefined) conditions.push(scopesReadable(reach));
  return join(conditions, ' AND ');
}

export function listScopes(query: Query, filter: ScopeFilter, page: KeysetPage): Promise<ScopeView[]> {
  return query.all<ScopeView>(sql`${VIEW} WHERE ${where(filter)}${keyset(sql`s.scope_id`, page)}`);
}

export const countScopes = (filter: ScopeFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM scopes s WHERE ${where(filter)}`;

export type ScopeChange = Pick<
  ScopeRow,
  'name' | 'purpose' | 'token_budget' | 'threshold' | 'threshold_at' | 'enforce' | 'metadata' | 'updated_at'
>;

export async function updateScope(tx: Tx, scope_id: string, change: ScopeChange): Promise<void> {
  await tx.send(
    sql`UPDATE scopes SET name = ${change.name}, purpose = ${change.purpose}, token_budget = ${change.token_budget},
          threshold = ${change.threshold}, threshold_at = ${change.threshold_at}, enforce = ${change.enforce},
          metadata = ${change.metadata}, updated_at = ${change.updated_at}
        WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id}`,
  );
}

export interface CheckpointRow {
  readonly scope_id: string;
  readonly box_id: string | null;
  readonly context_state: string | null;
  readonly tokens_used: number;
  readonly turns: number;
  readonly created_at: number;
}

export function findCheckpoint(query: Query, scope_id: string): Promise<CheckpointRow | undefined> {
  return query.get<CheckpointRow>(
    sql`SELECT scope_id, box_id, context_state, tokens_used, turns, created_at FROM scope_checkpoints
        WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id}`,
  );
}

export async function putCheckpoint(tx: Tx, row: CheckpointRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO scope_checkpoints (tenant_id, scope_id, box_id, context_state, tokens_used, turns, created_at)
        VALUES (${TENANT}, ${row.scope_id}, ${row.box_id}, ${row.context_state}, ${row.tokens_used}, ${row.turns},
          ${row.created_at})
        ON CONFLICT (tenant_id, scope_id) DO UPDATE SET box_id = excluded.box_id,
          context_state = excluded.context_state, tokens_used = excluded.tokens_used, turns = excluded.turns,
          created_at = excluded.created_at`,
  );
}

/** Removes checkpoints that nothing can be restored from, when their scopes are closed. */
export async function dropLooseCheckpoints(tx: Tx, scope_ids: readonly string[]): Promise<void> {
  await tx.send(
    sql`DELETE FROM scope_checkpoints
        WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids}) AND box_id IS NULL`,
  );
}
