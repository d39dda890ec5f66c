/** delegations: rows in, rows out. */
import { byDialect, type KeysetPage, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import { readableAt } from '../../facts/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { toIso } from '../../kernel/index.js';
import { countRows, onPage, type PartyList, sidesOf } from '../party-pages.js';
import { equalTo, type ListFilter, type Stored, withIsoTimes } from '../rows.js';
import type { Delegation, DelegationResult } from './model.js';

/** The answer as it is stored, and the columns that are not shown. */
export interface DelegationRow extends Omit<Stored<Delegation>, 'context' | 'expected_completion' | 'result'> {
  /** The agent_turn that delegated it. */
  readonly parent_agent_turn_id: string | null;
  readonly depth: number;
  readonly expected_completion: number | null;
  /** JSON, as are handover and result. Null, as is task_description, in a delegation that was dispatched at once. */
  readonly context: string | null;
  readonly handover: string | null;
  readonly result: string | null;
  readonly sent_hash: string | null;
}

export interface DelegationView extends DelegationRow {
  /** JSON content of the instruction card, where task_description is null. */
  readonly instruction: string | null;
}

const parsed = <T extends Json>(json: string | null): T | null => (json === null ? null : (JSON.parse(json) as T));

function textOf(json: string | null): string | null {
  const content = parsed(json);
  return content === null || typeof content === 'string' ? content : json;
}

export const toDelegation = (row: DelegationView): Delegation => {
  const { handover: _, sent_hash: __, parent_agent_turn_id: ___, depth: ____, instruction, ...rest } = row;
  return {
    ...withIsoTimes(rest),
    task_description: row.task_description ?? textOf(instruction),
    context: parsed<JsonObject>(row.context),
    result: parsed(row.result) as DelegationResult | null,
    expected_completion: row.expected_completion === null ? null : toIso(row.expected_completion),
  };
};

const COLUMNS: Sql = sql`d.delegation_id, d.from_agent_id, d.to_agent_id, d.trajectory_id, d.scope_id,
  d.child_trajectory_id, d.child_scope_id, d.agent_turn_id, d.parent_agent_turn_id, d.depth, d.status, d.context,
  d.handover, d.expected_completion, d.result, d.reason, d.channel_id, d.sent_hash, d.created_at, d.updated_at,
  d.accepted_at, d.ended_at, d.task_description`;

/** A pending or directly dispatched delegation; optional columns default to null. */
type NewDelegation = Omit<DelegationRow, keyof typeof NEW_DELEGATION> &
  Partial<Omit<DelegationRow, 'child_scope_id' | 'result' | 'reason' | 'ended_at'>>;

const NEW_DELEGATION = {
  scope_id: null,
  child_trajectory_id: null,
  child_scope_id: null,
  agent_turn_id: null,
  task_description: null,
  context: null,
  handover: null,
  expected_completion: null,
  result: null,
  reason: null,
  sent_hash: null,
  accepted_at: null,
  ended_at: null,
};

export async function insertDelegation(tx: Tx, delegation: NewDelegation): Promise<DelegationRow> {
  const row: DelegationRow = { ...NEW_DELEGATION, ...delegation };
  await tx.send(
    sql`INSERT INTO delegations (tenant_id, delegation_id, from_agent_id, to_agent_id, trajectory_id, scope_id,
          child_trajectory_id, agent_turn_id, parent_agent_turn_id, depth, status, task_description, context, handover,
          expected_completion, channel_id, sent_hash, created_at, updated_at, accepted_at)
        VALUES (${TENANT}, ${row.delegation_id}, ${row.from_agent_id}, ${row.to_agent_id}, ${row.trajectory_id},
          ${row.scope_id}, ${row.child_trajectory_id}, ${row.agent_turn_id}, ${row.parent_agent_turn_id}, ${row.depth},
          ${row.status}, ${row.task_description}, ${row.context}, ${row.handover}, ${row.expected_completion},
          ${row.channel_id}, ${row.sent_hash}, ${row.created_at}, ${row.updated_at}, ${row.accepted_at})`,
  );
  return row;
}

/** The instruction card of the agent_turn is readable until its trajectory is deleted. */
const view = (now: number): Sql =>
  sql`SELECT ${COLUMNS}, CASE WHEN d.task_description IS NULL THEN (
        SELECT c.content FROM agent_turns t CROSS JOIN cards c
        WHERE t.tenant_id = d.tenant_id AND t.agent_turn_id = d.agent_turn_id
          AND c.tenant_id = d.tenant_id AND c.card_id = t.instruction_card_id AND ${readableAt(now)}) END AS instruction
      FROM delegations d`;

export const viewDelegation = (query: Query, delegation_id: string, now: number): Promise<DelegationView | undefined> =>
  query.get(sql`${view(now)} WHERE d.tenant_id = ${TENANT} AND d.delegation_id = ${delegation_id}`);

const byId = (delegation_id: string): Sql =>
  sql`SELECT ${COLUMNS} FROM delegations d WHERE d.tenant_id = ${TENANT} AND d.delegation_id = ${delegation_id}`;

export const findDelegation = (query: Query, delegation_id: string): Promise<DelegationRow | undefined> =>
  query.get(byId(delegation_id));

export const lockDelegation = (tx: Tx, delegation_id: string): Promise<DelegationRow | undefined> =>
  tx.get(sql`${byId(delegation_id)} FOR UPDATE`);

type DelegationChange = Partial<
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

/** Updates a locked row; returns the new row. */
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

export type DelegationFilter = ListFilter<'delegations.list'>;

const listOf = ({ party, ...filter }: DelegationFilter): PartyList => ({
  from: sql`delegations d`,
  id: sql`d.delegation_id`,
  sides: sidesOf(party, [sql`d.from_agent_id`, sql`d.to_agent_id`]),
  conditions: equalTo({
    'd.from_agent_id': filter.from_agent_id,
    'd.to_agent_id': filter.to_agent_id,
    'd.trajectory_id': filter.trajectory_id,
    'd.status': filter.status,
  }),
});

export const listDelegations = (
  query: Query,
  filter: DelegationFilter,
  page: KeysetPage,
  now: number,
): Promise<DelegationView[]> =>
  query.all(sql`${view(now)} WHERE d.tenant_id = ${TENANT} AND ${onPage(listOf(filter), page)}`);

export const countDelegations = (filter: DelegationFilter): Sql => countRows(listOf(filter));

/** INDEXED BY: SQLite would otherwise scan all delegations of the tenant. */
const byTrajectory: Sql = byDialect({
  sqlite: sql`delegations d INDEXED BY delegations_by_trajectory`,
  postgres: sql`delegations d`,
});

/** Pending delegations of these trajectories, locked by ascending id. */
export const lockOffersIn = (tx: Tx, trajectory_ids: readonly string[]): Promise<DelegationRow[]> =>
  tx.all<DelegationRow>(
    sql`SELECT ${COLUMNS} FROM ${byTrajectory} WHERE d.tenant_id = ${TENANT} AND d.trajectory_id = ANY(${trajectory_ids})
          AND d.status = 'Pending' ORDER BY d.delegation_id FOR UPDATE`,
  );
