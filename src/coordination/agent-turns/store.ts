/** agent_turns and their steps: rows in, rows out. */
import { join, type KeysetPage, type Query, type Sql, sql, type Table, TENANT, type Tx } from '../../driver/index.js';
import type { PromptFormat } from '../../facts/contract.js';
import type { AgentRow } from '../../identity/index.js';
import { toIso } from '../../kernel/index.js';
import { countParted, onPage, type Parted } from '../delegations/two-party-pages.js';
import type { AgentTurn, AgentTurnStatus, TurnError } from './model.js';

export interface AgentTurnRow {
  readonly agent_turn_id: string;
  readonly agent_id: string;
  readonly source_agent_id: string | null;
  readonly parent_agent_turn_id: string | null;
  readonly depth: number;
  readonly profile_name: string | null;
  readonly profile_box_id: string | null;
  readonly profile_card_id: string | null;
  readonly trajectory_id: string;
  readonly scope_id: string | null;
  readonly delegation_id: string | null;
  readonly batch_id: string | null;
  readonly task_index: number | null;
  readonly channel_id: string | null;
  readonly status: AgentTurnStatus;
  readonly turn_epoch: number;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly worker_id: string | null;
  readonly context_box_id: string;
  readonly output_box_id: string;
  readonly record_box_id: string | null;
  /** A list in JSON: contexts and outputs that gave way to others. */
  readonly replaced_box_ids: string | null;
  readonly instruction_card_id: string | null;
  readonly deliverable_card_id: string | null;
  readonly result_status: 'success' | 'partial' | null;
  readonly summary: string | null;
  /** JSON. */
  readonly error: string | null;
  readonly forked_from: string | null;
  readonly dispatched_at: number;
  readonly claimed_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly ended_at: number | null;
}

/** With the end of its lease, and when it is overdue: by its own deadline, its batch's or its delegation's. */
export interface AgentTurnView extends AgentTurnRow {
  readonly lease_expires_at: number | null;
  readonly due_at: number | null;
}

const iso = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

export const toAgentTurn = (tenant: string, row: AgentTurnView): AgentTurn => {
  const { profile_card_id: _, replaced_box_ids: __, due_at: ___, error, lease_expires_at, ...rest } = row;
  return {
    ...rest,
    project_id: tenant,
    error: error === null ? null : (JSON.parse(error) as TurnError),
    lease_expires_at: iso(lease_expires_at),
    dispatched_at: toIso(row.dispatched_at),
    claimed_at: iso(row.claimed_at),
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
    ended_at: iso(row.ended_at),
  };
};

const COLUMNS: Sql = sql`t.agent_turn_id, t.agent_id, t.source_agent_id, t.parent_agent_turn_id, t.depth,
  t.profile_name, t.profile_box_id, t.profile_card_id, t.trajectory_id, t.scope_id, t.delegation_id, t.batch_id,
  t.task_index, t.channel_id, t.status, t.turn_epoch, t.attempts, t.max_attempts, t.worker_id, t.context_box_id,
  t.output_box_id, t.record_box_id, t.replaced_box_ids, t.instruction_card_id, t.deliverable_card_id, t.result_status, t.summary,
  t.error, t.forked_from, t.dispatched_at, t.claimed_at, t.created_at, t.updated_at, t.ended_at`;

const LEASE_ENDS: Sql = sql`(SELECT l.expires_at FROM leases l WHERE l.tenant_id = t.tenant_id AND l.kind = 'agent_turn'
    AND l.subject_id = t.agent_turn_id) AS lease_expires_at,
  (SELECT MIN(l.expires_at) FROM leases l WHERE l.tenant_id = t.tenant_id
    AND ((l.kind = 'deadline' AND l.subject_id = t.agent_turn_id) OR (l.kind = 'batch' AND l.subject_id = t.batch_id)
      OR (l.kind = 'delegation' AND l.subject_id = t.delegation_id))) AS due_at`;

const turnsTable: Table = {
  name: 'agent_turns',
  columns: {
    tenant_id: 'text',
    agent_turn_id: 'text',
    agent_id: 'text',
    source_agent_id: 'text',
    parent_agent_turn_id: 'text',
    depth: 'bigint',
    profile_name: 'text',
    profile_box_id: 'text',
    profile_card_id: 'text',
    trajectory_id: 'text',
    scope_id: 'text',
    delegation_id: 'text',
    batch_id: 'text',
    task_index: 'bigint',
    channel_id: 'text',
    status: 'text',
    turn_epoch: 'bigint',
    attempts: 'bigint',
    max_attempts: 'bigint',
    context_box_id: 'text',
    output_box_id: 'text',
    instruction_card_id: 'text',
    forked_from: 'text',
    dispatched_at: 'bigint',
    created_at: 'bigint',
    updated_at: 'bigint',
  },
};

export function insertAgentTurns(tx: Tx, rows: readonly AgentTurnRow[]): Promise<void> {
  const [, ...columns] = Object.keys(turnsTable.columns) as [string, ...(keyof AgentTurnRow)[]];
  return tx.insert(
    turnsTable,
    rows.map((row) => [tx.tenant, ...columns.map((column) => row[column])]),
  );
}

export function findAgentTurn(query: Query, agent_turn_id: string): Promise<AgentTurnView | undefined> {
  return query.get<AgentTurnView>(
    sql`SELECT ${COLUMNS}, ${LEASE_ENDS} FROM agent_turns t
        WHERE t.tenant_id = ${TENANT} AND t.agent_turn_id = ${agent_turn_id}`,
  );
}

/** The same, and nobody else moves it until the commit. */
export function lockAgentTurn(tx: Tx, agent_turn_id: string): Promise<AgentTurnView | undefined> {
  return tx.get<AgentTurnView>(
    sql`SELECT ${COLUMNS}, ${LEASE_ENDS} FROM agent_turns t
        WHERE t.tenant_id = ${TENANT} AND t.agent_turn_id = ${agent_turn_id} FOR UPDATE`,
  );
}

/** The agent_turn that an agent has under way, or had last. */
export function lastTurnOf(query: Query, agent_id: string): Promise<AgentTurnRow | undefined> {
  return query.get<AgentTurnRow>(
    sql`SELECT ${COLUMNS} FROM agent_turns t WHERE t.tenant_id = ${TENANT} AND t.agent_id = ${agent_id}
        ORDER BY t.agent_turn_id DESC LIMIT 1`,
  );
}

/** The agent_turn that a trajectory was made for, if it was. */
export function turnOfTrajectory(query: Query, trajectory_id: string): Promise<AgentTurnView | undefined> {
  return query.get<AgentTurnView>(
    sql`SELECT ${COLUMNS}, ${LEASE_ENDS} FROM agent_turns t
        WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ${trajectory_id} ORDER BY t.agent_turn_id DESC LIMIT 1`,
  );
}

export function activeTurnOf(query: Query, agent_id: string): Promise<AgentTurnRow | undefined> {
  return query.get<AgentTurnRow>(
    sql`SELECT ${COLUMNS} FROM agent_turns t
        WHERE t.tenant_id = ${TENANT} AND t.agent_id = ${agent_id} AND t.ended_at IS NULL`,
  );
}

export interface Claimable {
  readonly profile_name?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly agent_turn_id?: string | undefined;
}

const claimable = ({ profile_name, agent_id, agent_turn_id }: Claimable): Sql =>
  join(
    [
      sql`t.status = 'dispatched'`,
      ...(profile_name === undefined ? [] : [sql`t.profile_name = ${profile_name}`]),
      ...(agent_id === undefined ? [] : [sql`t.agent_id = ${agent_id}`]),
      ...(agent_turn_id === undefined ? [] : [sql`t.agent_turn_id = ${agent_turn_id}`]),
    ],
    ' AND ',
  );

/** Whether there is anything to claim: asked before a transaction is begun for it. */
export async function anyClaimable(query: Query, filter: Claimable): Promise<boolean> {
  const row = await query.get(
    sql`SELECT 1 AS there FROM agent_turns t WHERE t.tenant_id = ${TENANT} AND ${claimable(filter)} LIMIT 1`,
  );
  return row !== undefined;
}

/** The one that was dispatched first. */
export function findClaimable(query: Query, filter: Claimable): Promise<AgentTurnRow | undefined> {
  return query.get<AgentTurnRow>(
    sql`SELECT ${COLUMNS} FROM agent_turns t WHERE t.tenant_id = ${TENANT} AND ${claimable(filter)}
        ORDER BY t.dispatched_at, t.agent_turn_id LIMIT 1`,
  );
}

export type TurnChange = Partial<
  Pick<
    AgentTurnRow,
    | 'status'
    | 'turn_epoch'
    | 'attempts'
    | 'worker_id'
    | 'context_box_id'
    | 'output_box_id'
    | 'record_box_id'
    | 'replaced_box_ids'
    | 'deliverable_card_id'
    | 'result_status'
    | 'summary'
    | 'error'
    | 'dispatched_at'
    | 'claimed_at'
    | 'ended_at'
  >
>;

/** Writes a row that is locked, with what changes of it; gives it as it is now. */
export async function changeAgentTurn<R extends AgentTurnRow>(
  tx: Tx,
  row: R,
  change: TurnChange,
  now: number,
): Promise<R> {
  const next: R = { ...row, ...change, updated_at: now };
  await tx.send(
    sql`UPDATE agent_turns SET status = ${next.status}, turn_epoch = ${next.turn_epoch}, attempts = ${next.attempts},
          worker_id = ${next.worker_id}, context_box_id = ${next.context_box_id}, output_box_id = ${next.output_box_id},
          record_box_id = ${next.record_box_id}, replaced_box_ids = ${next.replaced_box_ids},
          deliverable_card_id = ${next.deliverable_card_id},
          result_status = ${next.result_status}, summary = ${next.summary}, error = ${next.error},
          dispatched_at = ${next.dispatched_at}, claimed_at = ${next.claimed_at}, updated_at = ${now},
          ended_at = ${next.ended_at}
        WHERE tenant_id = ${TENANT} AND agent_turn_id = ${row.agent_turn_id}`,
  );
  return next;
}

export interface AgentTurnFilter {
  readonly agent_id?: string | undefined;
  readonly status?: AgentTurnStatus | undefined;
  readonly profile_name?: string | undefined;
  readonly trajectory_id?: string | undefined;
  readonly parent_agent_turn_id?: string | undefined;
  readonly batch_id?: string | undefined;
  readonly channel_id?: string | undefined;
  /** Only those that this agent does or has delegated. */
  readonly party?: string | undefined;
}

function listOf({ party, ...equal }: AgentTurnFilter): Parted {
  const columns: Record<keyof typeof equal, Sql> = {
    agent_id: sql`t.agent_id`,
    status: sql`t.status`,
    profile_name: sql`t.profile_name`,
    trajectory_id: sql`t.trajectory_id`,
    parent_agent_turn_id: sql`t.parent_agent_turn_id`,
    batch_id: sql`t.batch_id`,
    channel_id: sql`t.channel_id`,
  };
  const conditions = [sql`t.tenant_id = ${TENANT}`];
  for (const [name, column] of Object.entries(columns)) {
    const value = equal[name as keyof typeof equal];
    if (value !== undefined) conditions.push(sql`${column} = ${value}`);
  }
  return {
    from: sql`agent_turns t`,
    id: sql`t.agent_turn_id`,
    parties: [sql`t.agent_id`, sql`t.source_agent_id`],
    party,
    where: join(conditions, ' AND '),
  };
}

export function listAgentTurns(query: Query, filter: AgentTurnFilter, page: KeysetPage): Promise<AgentTurnView[]> {
  return query.all<AgentTurnView>(
    sql`SELECT ${COLUMNS}, ${LEASE_ENDS} FROM agent_turns t
        WHERE t.tenant_id = ${TENANT} AND ${onPage(listOf(filter), page)}`,
  );
}

export const countAgentTurns = (filter: AgentTurnFilter): Sql => countParted(listOf(filter));

/** Those of a batch, in the order of its tasks. */
export function turnsOfBatch(query: Query, batch_id: string): Promise<AgentTurnView[]> {
  return query.all<AgentTurnView>(
    sql`SELECT ${COLUMNS}, ${LEASE_ENDS} FROM agent_turns t WHERE t.tenant_id = ${TENANT} AND t.batch_id = ${batch_id}
        ORDER BY t.task_index`,
  );
}

/** In the order of their ids, which is that in which all who lock several do so. */
export function lockAgentTurns(tx: Query, ids: readonly string[], lock: boolean): Promise<AgentTurnView[]> {
  const held = lock ? sql` FOR UPDATE` : sql``;
  return tx.all<AgentTurnView>(
    sql`SELECT ${COLUMNS}, ${LEASE_ENDS} FROM agent_turns t WHERE t.tenant_id = ${TENANT}
          AND t.agent_turn_id = ANY(${ids}) ORDER BY t.agent_turn_id${held}`,
  );
}

/**
 * The ids of all that agent_turns have delegated, at any depth, and that have not ended. Goes through what has ended as
 * well: it may have left something under way below it.
 */
export async function activeBelow(query: Query, ids: readonly string[]): Promise<string[]> {
  const rows = await query.all<{ agent_turn_id: string }>(
    sql`WITH RECURSIVE below(agent_turn_id, ended_at) AS (
          SELECT t.agent_turn_id, t.ended_at FROM agent_turns t
            WHERE t.tenant_id = ${TENANT} AND t.parent_agent_turn_id = ANY(${ids})
          UNION
          SELECT t.agent_turn_id, t.ended_at FROM below b CROSS JOIN agent_turns t
            WHERE t.tenant_id = ${TENANT} AND t.parent_agent_turn_id = b.agent_turn_id
        )
        SELECT agent_turn_id FROM below WHERE ended_at IS NULL ORDER BY agent_turn_id`,
  );
  return rows.map((row) => row.agent_turn_id);
}

export interface StepRow {
  readonly step: number;
  readonly turn_epoch: number;
  readonly format: PromptFormat;
  readonly context_box_id: string;
  readonly context_revision: number;
  readonly output_box_id: string;
  readonly output_revision: number;
  readonly prompt_card_id: string;
  readonly tools_card_id: string;
  readonly content_hash: string;
  readonly created_at: number;
}

/** The step asked for, or the last. */
export function findStep(query: Query, agent_turn_id: string, step: number | undefined): Promise<StepRow | undefined> {
  const which = step === undefined ? sql`` : sql` AND step = ${step}`;
  return query.get<StepRow>(
    sql`SELECT step, turn_epoch, format, context_box_id, context_revision, output_box_id, output_revision,
          prompt_card_id, tools_card_id, content_hash, created_at FROM agent_turn_steps
        WHERE tenant_id = ${TENANT} AND agent_turn_id = ${agent_turn_id}${which} ORDER BY step DESC LIMIT 1`,
  );
}

export function insertStep(tx: Tx, agent_turn_id: string, row: StepRow): Promise<void> {
  return tx.send(
    sql`INSERT INTO agent_turn_steps (tenant_id, agent_turn_id, step, turn_epoch, format, context_box_id,
          context_revision, output_box_id, output_revision, prompt_card_id, tools_card_id, content_hash, created_at)
        VALUES (${TENANT}, ${agent_turn_id}, ${row.step}, ${row.turn_epoch}, ${row.format}, ${row.context_box_id},
          ${row.context_revision}, ${row.output_box_id}, ${row.output_revision}, ${row.prompt_card_id},
          ${row.tools_card_id}, ${row.content_hash}, ${row.created_at})`,
  );
}

/** The agent that does an agent_turn. */
export function agentOfTurn(query: Query, agent_turn_id: string): Promise<AgentRow | undefined> {
  return query.get<AgentRow>(
    sql`SELECT a.* FROM agent_turns t CROSS JOIN agents a
        WHERE t.tenant_id = ${TENANT} AND t.agent_turn_id = ${agent_turn_id}
          AND a.tenant_id = ${TENANT} AND a.agent_id = t.agent_id`,
  );
}

/** The agent_turn of an agent that has not ended: there is one at most. */
export async function unfinishedTurn(query: Query, agent_id: string): Promise<string | undefined> {
  const row = await query.get<{ agent_turn_id: string }>(
    sql`SELECT agent_turn_id FROM agent_turns
        WHERE tenant_id = ${TENANT} AND agent_id = ${agent_id} AND ended_at IS NULL`,
  );
  return row?.agent_turn_id;
}
