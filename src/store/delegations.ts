/** delegations: rows in, rows out. */
import type { Query, Tx } from '../driver/driver.js';
import { join, type Sql, sql } from '../driver/sql.js';
import { toIso } from '../model/common.js';
import type { Delegation, DelegationResult, DelegationStatus } from '../model/delegation.js';
import type { JsonObject } from '../model/json.js';

export interface DelegationRow {
  readonly delegation_id: string;
  readonly from_agent_id: string | null;
  readonly to_agent_id: string;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  readonly child_trajectory_id: string | null;
  readonly child_scope_id: string | null;
  readonly agent_turn_id: string | null;
  readonly status: DelegationStatus;
  readonly task_description: string | null;
  /** JSON, as are handover and result. */
  readonly context: string | null;
  readonly handover: string | null;
  readonly expected_completion: number | null;
  readonly result: string | null;
  readonly reason: string | null;
  readonly channel_id: string | null;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly accepted_at: number | null;
  readonly ended_at: number | null;
}

const iso = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

export const toDelegation = (row: DelegationRow): Delegation => {
  const { handover: _, sent_hash: __, ...rest } = row;
  return {
    ...rest,
    context: row.context === null ? null : (JSON.parse(row.context) as JsonObject),
    result: row.result === null ? null : (JSON.parse(row.result) as DelegationResult),
    expected_completion: iso(row.expected_completion),
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
    accepted_at: iso(row.accepted_at),
    ended_at: iso(row.ended_at),
  };
};

const COLUMNS: Sql = sql`d.delegation_id, d.from_agent_id, d.to_agent_id, d.trajectory_id, d.scope_id,
  d.child_trajectory_id, d.child_scope_id, d.agent_turn_id, d.status, d.context, d.handover, d.expected_completion,
  d.result, d.reason, d.channel_id, d.sent_hash, d.created_at, d.updated_at, d.accepted_at, d.ended_at,
  d.task_description`;

export function insertDelegation(tx: Tx, tenant: string, row: DelegationRow): Promise<void> {
  return tx.send(
    sql`INSERT INTO delegations (tenant_id, delegation_id, from_agent_id, to_agent_id, trajectory_id, scope_id,
          child_trajectory_id, child_scope_id, agent_turn_id, status, task_description, context, handover,
          expected_completion, result, reason, channel_id, sent_hash, created_at, updated_at, accepted_at, ended_at)
        VALUES (${tenant}, ${row.delegation_id}, ${row.from_agent_id}, ${row.to_agent_id}, ${row.trajectory_id},
          ${row.scope_id}, ${row.child_trajectory_id}, ${row.child_scope_id}, ${row.agent_turn_id}, ${row.status},
          ${row.task_description}, ${row.context}, ${row.handover}, ${row.expected_completion}, ${row.result},
          ${row.reason}, ${row.channel_id}, ${row.sent_hash}, ${row.created_at}, ${row.updated_at},
          ${row.accepted_at}, ${row.ended_at})`,
  );
}

export function findDelegation(
  query: Query,
  tenant: string,
  delegation_id: string,
): Promise<DelegationRow | undefined> {
  return query.get<DelegationRow>(
    sql`SELECT ${COLUMNS} FROM delegations d WHERE d.tenant_id = ${tenant} AND d.delegation_id = ${delegation_id}`,
  );
}

/** The same, and nobody else moves it until the commit. */
export function lockDelegation(
  tx: Tx,
  tenant: string,
  delegation_id: string,
): Promise<DelegationRow | undefined> {
  return tx.get<DelegationRow>(
    sql`SELECT ${COLUMNS} FROM delegations d
        WHERE d.tenant_id = ${tenant} AND d.delegation_id = ${delegation_id} FOR UPDATE`,
  );
}

export type DelegationChange = Partial<
  Pick<
    DelegationRow,
    | 'child_trajectory_id'
    | 'child_scope_id'
    | 'agent_turn_id'
    | 'status'
    | 'result'
    | 'reason'
    | 'accepted_at'
    | 'ended_at'
  >
>;

/** Writes a row that is locked, with what changes of it; gives it as it is now. */
export async function changeDelegation(
  tx: Tx,
  tenant: string,
  row: DelegationRow,
  change: DelegationChange,
  now: number,
): Promise<DelegationRow> {
  const next = { ...row, ...change, updated_at: now };
  await tx.send(
    sql`UPDATE delegations SET child_trajectory_id = ${next.child_trajectory_id}, child_scope_id = ${next.child_scope_id},
          agent_turn_id = ${next.agent_turn_id}, status = ${next.status}, result = ${next.result},
          reason = ${next.reason}, accepted_at = ${next.accepted_at}, ended_at = ${next.ended_at}, updated_at = ${now}
        WHERE tenant_id = ${tenant} AND delegation_id = ${row.delegation_id}`,
  );
  return next;
}

export interface DelegationFilter {
  readonly from_agent_id?: string | undefined;
  readonly to_agent_id?: string | undefined;
  readonly trajectory_id?: string | undefined;
  readonly status?: DelegationStatus | undefined;
  /** Only those that this agent has given or got. */
  readonly party?: string | undefined;
}

function where(tenant: string, { party, ...equal }: DelegationFilter): Sql {
  const columns: Record<keyof typeof equal, Sql> = {
    from_agent_id: sql`d.from_agent_id`,
    to_agent_id: sql`d.to_agent_id`,
    trajectory_id: sql`d.trajectory_id`,
    status: sql`d.status`,
  };
  const conditions = [sql`d.tenant_id = ${tenant}`];
  for (const [name, column] of Object.entries(columns)) {
    const value = equal[name as keyof typeof equal];
    if (value !== undefined) conditions.push(sql`${column} = ${value}`);
  }
  if (party !== undefined) conditions.push(sql`(d.from_agent_id = ${party} OR d.to_agent_id = ${party})`);
  return join(conditions, ' AND ');
}

export function listDelegations(
  query: Query,
  tenant: string,
  filter: DelegationFilter,
  page: { after?: string | undefined; limit: number; offset?: number | undefined },
): Promise<DelegationRow[]> {
  return query.all<DelegationRow>(
    sql`SELECT ${COLUMNS} FROM delegations d WHERE ${where(tenant, filter)} AND d.delegation_id > ${page.after ?? ''}
        ORDER BY d.delegation_id LIMIT ${page.limit} OFFSET ${page.offset ?? 0}`,
  );
}

export const countDelegations = (tenant: string, filter: DelegationFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM delegations d WHERE ${where(tenant, filter)}`;
