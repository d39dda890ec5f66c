/** scopes and scope_checkpoints: one row a context window; its turns are in its box. */
import type { Query, Table, Tx } from '../driver/driver.js';
import { sql } from '../driver/sql.js';

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
  },
};

export async function insertScope(tx: Tx, tenant: string, row: ScopeRow): Promise<void> {
  await tx.insert(scopesTable, [
    [
      tenant,
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
    ],
  ]);
}

/** Closed and deleted ones included. */
export function findScope(query: Query, tenant: string, scope_id: string): Promise<ScopeRow | undefined> {
  return query.get<ScopeRow>(
    sql`SELECT * FROM scopes WHERE tenant_id = ${tenant} AND scope_id = ${scope_id}`,
  );
}

/** The same, and nobody adds a turn to it or closes it until the commit. */
export function lockScope(tx: Tx, tenant: string, scope_id: string): Promise<ScopeRow | undefined> {
  return tx.get<ScopeRow>(
    sql`SELECT * FROM scopes WHERE tenant_id = ${tenant} AND scope_id = ${scope_id} FOR UPDATE`,
  );
}

/** The open scopes among these and all that are nested in them, locked, in the order of their ids. */
export async function lockOpenScopes(
  tx: Tx,
  tenant: string,
  scope_ids: readonly string[],
): Promise<ScopeRow[]> {
  const found = await tx.all<{ scope_id: string }>(
    sql`WITH RECURSIVE nested(scope_id) AS (
          SELECT s.scope_id FROM scopes s WHERE s.tenant_id = ${tenant} AND s.scope_id = ANY(${scope_ids})
          UNION
          SELECT s.scope_id FROM nested n CROSS JOIN scopes s
            WHERE s.tenant_id = ${tenant} AND s.parent_scope_id = n.scope_id
        )
        SELECT scope_id FROM nested`,
  );
  return tx.all<ScopeRow>(
    sql`SELECT * FROM scopes WHERE tenant_id = ${tenant} AND scope_id = ANY(${found.map(({ scope_id }) => scope_id)})
          AND closed_at IS NULL ORDER BY scope_id FOR UPDATE`,
  );
}

/** The open scopes of these trajectories, locked, in the order of their ids. */
export function lockScopesOf(tx: Tx, tenant: string, trajectory_ids: readonly string[]): Promise<ScopeRow[]> {
  return tx.all<ScopeRow>(
    sql`SELECT * FROM scopes WHERE tenant_id = ${tenant} AND trajectory_id = ANY(${trajectory_ids})
          AND closed_at IS NULL ORDER BY scope_id FOR UPDATE`,
  );
}

export async function closeScopes(
  tx: Tx,
  tenant: string,
  scope_ids: readonly string[],
  now: number,
): Promise<void> {
  await tx.send(
    sql`UPDATE scopes SET closed_at = ${now}, updated_at = ${now}
        WHERE tenant_id = ${tenant} AND scope_id = ANY(${scope_ids}) AND closed_at IS NULL`,
  );
}
