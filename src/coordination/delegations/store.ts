/** delegations: rows in, rows out. */
import { byDialect, join, type KeysetPage, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import { readableAt } from '../../facts/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { toIso } from '../../kernel/index.js';
import type { Delegation, DelegationResult, DelegationStatus } from './model.js';
import { countParted, onPage, type Parted } from './two-party-pages.js';

export interface DelegationRow {
  readonly delegation_id: string;
  readonly from_agent_id: string | null;
  readonly to_agent_id: string;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  readonly child_trajectory_id: string | null;
  readonly child_scope_id: string | null;
  readonly agent_turn_id: string | null;
  /** The agent_turn in which it was delegated, and how deep it is. */
  readonly parent_agent_turn_id: string | null;
  readonly depth: number;
  readonly status: DelegationStatus;
  readonly task_description: string | null;
  /** JSON, as are handover and result. One that was dispatched at once has none of them at first, nor a description. */
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

/** With the content of its instruction card, in JSON, where the description is there alone. */
export interface DelegationView extends DelegationRow {
  readonly instruction: string | null;
}

const iso = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

const asText = (json: string | null): string | null => {
  const content = json === null ? null : (JSON.parse(json) as Json);
  return content === null || typeof content === 'string' ? content : json;
};

export const toDelegation = (row: DelegationView): Delegation => {
  const { handover: _, sent_hash: __, parent_agent_turn_id: ___, depth: ____, instruction, ...rest } = row;
  return {
    ...rest,
    task_description: row.task_description ?? asText(instruction),
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
  d.child_trajectory_id, d.child_scope_id, d.agent_turn_id, d.parent_agent_turn_id, d.depth, d.status, d.context, d.handover, d.expected_completion,
  d.result, d.reason, d.channel_id, d.sent_hash, d.created_at, d.updated_at, d.accepted_at, d.ended_at,
  d.task_description`;

export function insertDelegation(tx: Tx, row: DelegationRow): Promise<void> {
  return tx.send(
    sql`INSERT INTO delegations (tenant_id, delegation_id, from_agent_id, to_agent_id, trajectory_id, scope_id,
          child_trajectory_id, child_scope_id, agent_turn_id, parent_agent_turn_id, depth, status, task_description,
          context, handover, expected_completion, result, reason, channel_id, sent_hash, created_at, updated_at, accepted_at, ended_at)
        VALUES (${TENANT}, ${row.delegation_id}, ${row.from_agent_id}, ${row.to_agent_id}, ${row.trajectory_id},
          ${row.scope_id}, ${row.child_trajectory_id}, ${row.child_scope_id}, ${row.agent_turn_id},
          ${row.parent_agent_turn_id}, ${row.depth}, ${row.status}, ${row.task_description}, ${row.context}, ${row.handover}, ${row.expected_completion}, ${row.result},
          ${row.reason}, ${row.channel_id}, ${row.sent_hash}, ${row.created_at}, ${row.updated_at},
          ${row.accepted_at}, ${row.ended_at})`,
  );
}

/** The card is that of the agent_turn: it can be read until its trajectory is deleted. */
const instruction = (now: number): Sql =>
  sql`CASE WHEN d.task_description IS NULL THEN (
        SELECT c.content FROM agent_turns t CROSS JOIN cards c
        WHERE t.tenant_id = d.tenant_id AND t.agent_turn_id = d.agent_turn_id
          AND c.tenant_id = d.tenant_id AND c.card_id = t.instruction_card_id AND ${readableAt(now)}) END AS instruction`;

/** To be shown. */
export function viewDelegation(query: Query, delegation_id: string, now: number): Promise<DelegationView | undefined> {
  return query.get<DelegationView>(
    sql`SELECT ${COLUMNS}, ${instruction(now)} FROM delegations d
        WHERE d.tenant_id = ${TENANT} AND d.delegation_id = ${delegation_id}`,
  );
}

export function findDelegation(query: Query, delegation_id: string): Promise<DelegationRow | undefined> {
  return query.get<DelegationRow>(
    sql`SELECT ${COLUMNS} FROM delegations d WHERE d.tenant_id = ${TENANT} AND d.delegation_id = ${delegation_id}`,
  );
}

/** The same, and nobody else moves it until the commit. */
export function lockDelegation(tx: Tx, delegation_id: string): Promise<DelegationRow | undefined> {
  return tx.get<DelegationRow>(
    sql`SELECT ${COLUMNS} FROM delegations d
        WHERE d.tenant_id = ${TENANT} AND d.delegation_id = ${delegation_id} FOR UPDATE`,
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
  row: DelegationRow,
  change: DelegationChange,
  now: number,
): Promise<DelegationRow> {
  const next = { ...row, ...change, updated_at: now };
  await tx.send(
    sql`UPDATE delegations SET child_trajectory_id = ${next.child_trajectory_id}, child_scope_id = ${next.child_scope_id},
          agent_turn_id = ${next.agent_turn_id}, status = ${next.status}, result = ${next.result},
          reason = ${next.reason}, accepted_at = ${next.accepted_at}, ended_at = ${next.ended_at}, updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND delegation_id = ${row.delegation_id}`,
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

function listOf({ party, ...equal }: DelegationFilter): Parted {
  const columns: Record<keyof typeof equal, Sql> = {
    from_agent_id: sql`d.from_agent_id`,
    to_agent_id: sql`d.to_agent_id`,
    trajectory_id: sql`d.trajectory_id`,
    status: sql`d.status`,
  };
  const conditions = [sql`d.tenant_id = ${TENANT}`];
  for (const [name, column] of Object.entries(columns)) {
    const value = equal[name as keyof typeof equal];
    if (value !== undefined) conditions.push(sql`${column} = ${value}`);
  }
  return {
    from: sql`delegations d`,
    id: sql`d.delegation_id`,
    parties: [sql`d.from_agent_id`, sql`d.to_agent_id`],
    party,
    where: join(conditions, ' AND '),
  };
}

export function listDelegations(
  query: Query,
  filter: DelegationFilter,
  page: KeysetPage,
  now: number,
): Promise<DelegationView[]> {
  return query.all<DelegationView>(
    sql`SELECT ${COLUMNS}, ${instruction(now)} FROM delegations d
        WHERE d.tenant_id = ${TENANT} AND ${onPage(listOf(filter), page)}`,
  );
}

export const countDelegations = (filter: DelegationFilter): Sql => countParted(listOf(filter));

/** SQLite would rather walk all of the tenant's than look up those of a few trajectories. */
const byTrajectory: Sql = byDialect({
  sqlite: sql`delegations d INDEXED BY delegations_by_trajectory`,
  postgres: sql`delegations d`,
});

/** What is offered in these trajectories and not accepted, locked in the order of ids. */
export function lockOffersIn(tx: Tx, trajectory_ids: readonly string[]): Promise<DelegationRow[]> {
  return tx.all<DelegationRow>(
    sql`SELECT ${COLUMNS} FROM ${byTrajectory} WHERE d.tenant_id = ${TENANT} AND d.trajectory_id = ANY(${trajectory_ids})
          AND d.status = 'Pending' ORDER BY d.delegation_id FOR UPDATE`,
  );
}
