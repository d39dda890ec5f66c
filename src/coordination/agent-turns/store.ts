/** agent_turns, their steps and their batches: rows in, rows out. */
import { join, type KeysetPage, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import type { PromptFormat } from '../../facts/contract.js';
import type { AgentRow } from '../../identity/index.js';
import { countRows, onPage, type PartyList, sidesOf } from '../party-pages.js';
import { equalTo, type ListFilter, type Stored, withIsoTimes } from '../rows.js';
import type { AgentTurn, Batch, BatchStatus, TurnError } from './model.js';

/** The answer as it is stored, and the columns that are not shown. */
export interface AgentTurnRow extends Omit<Stored<AgentTurn>, 'project_id' | 'error' | 'lease_expires_at'> {
  readonly profile_card_id: string | null;
  /** JSON list: former context and output boxes. */
  readonly replaced_box_ids: string | null;
  /** JSON. */
  readonly error: string | null;
}

export interface AgentTurnView extends AgentTurnRow {
  readonly lease_expires_at: number | null;
  /** The earliest of its own deadline, its batch's and its delegation's. */
  readonly due_at: number | null;
}

export const toAgentTurn = (project_id: string, row: AgentTurnView): AgentTurn => {
  const { profile_card_id: _, replaced_box_ids: __, due_at: ___, error, ...rest } = row;
  return { ...withIsoTimes(rest), project_id, error: error === null ? null : (JSON.parse(error) as TurnError) };
};

const COLUMNS: Sql = sql`t.agent_turn_id, t.agent_id, t.source_agent_id, t.parent_agent_turn_id, t.depth,
  t.profile_name, t.profile_box_id, t.profile_card_id, t.trajectory_id, t.scope_id, t.delegation_id, t.batch_id,
  t.task_index, t.channel_id, t.status, t.turn_epoch, t.attempts, t.max_attempts, t.worker_id, t.context_box_id,
  t.output_box_id, t.record_box_id, t.replaced_box_ids, t.instruction_card_id, t.deliverable_card_id, t.result_status,
  t.summary, t.error, t.forked_from, t.dispatched_at, t.claimed_at, t.created_at, t.updated_at, t.ended_at`;

const VIEW: Sql = sql`SELECT ${COLUMNS},
  (SELECT l.expires_at FROM leases l WHERE l.tenant_id = t.tenant_id AND l.kind = 'agent_turn'
    AND l.subject_id = t.agent_turn_id) AS lease_expires_at,
  (SELECT MIN(l.expires_at) FROM leases l WHERE l.tenant_id = t.tenant_id
    AND ((l.kind = 'deadline' AND l.subject_id = t.agent_turn_id) OR (l.kind = 'batch' AND l.subject_id = t.batch_id)
      OR (l.kind = 'delegation' AND l.subject_id = t.delegation_id))) AS due_at
  FROM agent_turns t`;

/** A dispatched agent_turn; the columns of its worker and its result are null. */
export type NewAgentTurn = Omit<
  AgentTurnRow,
  'worker_id' | 'claimed_at' | 'ended_at' | 'record_box_id' | 'replaced_box_ids' | keyof TurnResult
>;

type TurnResult = Pick<AgentTurnRow, 'deliverable_card_id' | 'result_status' | 'summary' | 'error'>;

export const insertAgentTurn = (tx: Tx, row: NewAgentTurn): Promise<void> =>
  tx.send(
    sql`INSERT INTO agent_turns (tenant_id, agent_turn_id, agent_id, source_agent_id, parent_agent_turn_id, depth,
          profile_name, profile_box_id, profile_card_id, trajectory_id, scope_id, delegation_id, batch_id, task_index,
          channel_id, status, turn_epoch, attempts, max_attempts, context_box_id, output_box_id, instruction_card_id,
          forked_from, dispatched_at, created_at, updated_at)
        VALUES (${TENANT}, ${row.agent_turn_id}, ${row.agent_id}, ${row.source_agent_id}, ${row.parent_agent_turn_id},
          ${row.depth}, ${row.profile_name}, ${row.profile_box_id}, ${row.profile_card_id}, ${row.trajectory_id},
          ${row.scope_id}, ${row.delegation_id}, ${row.batch_id}, ${row.task_index}, ${row.channel_id}, ${row.status},
          ${row.turn_epoch}, ${row.attempts}, ${row.max_attempts}, ${row.context_box_id}, ${row.output_box_id},
          ${row.instruction_card_id}, ${row.forked_from}, ${row.dispatched_at}, ${row.created_at}, ${row.updated_at})`,
  );

const viewById = (agent_turn_id: string): Sql =>
  sql`${VIEW} WHERE t.tenant_id = ${TENANT} AND t.agent_turn_id = ${agent_turn_id}`;

export const findAgentTurn = (query: Query, agent_turn_id: string): Promise<AgentTurnView | undefined> =>
  query.get(viewById(agent_turn_id));

export const lockAgentTurn = (tx: Tx, agent_turn_id: string): Promise<AgentTurnView | undefined> =>
  tx.get(sql`${viewById(agent_turn_id)} FOR UPDATE`);

/** The active agent_turn of an agent, or its last one. */
export const lastTurnOf = (query: Query, agent_id: string): Promise<AgentTurnRow | undefined> =>
  query.get(
    sql`SELECT ${COLUMNS} FROM agent_turns t WHERE t.tenant_id = ${TENANT} AND t.agent_id = ${agent_id}
        ORDER BY t.agent_turn_id DESC LIMIT 1`,
  );

/** The agent_turn that a trajectory was created for, if any. */
export const turnOfTrajectory = (query: Query, trajectory_id: string): Promise<AgentTurnView | undefined> =>
  query.get(
    sql`${VIEW} WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ${trajectory_id}
        ORDER BY t.agent_turn_id DESC LIMIT 1`,
  );

/** The unfinished agent_turn of an agent: there is at most one. */
export const activeTurnOf = (query: Query, agent_id: string): Promise<AgentTurnRow | undefined> =>
  query.get(
    sql`SELECT ${COLUMNS} FROM agent_turns t
        WHERE t.tenant_id = ${TENANT} AND t.agent_id = ${agent_id} AND t.ended_at IS NULL`,
  );

export interface Claimable {
  readonly profile_name?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly agent_turn_id?: string | undefined;
}

const claimable = ({ profile_name, agent_id, agent_turn_id }: Claimable): Sql => {
  const wanted = { 't.profile_name': profile_name, 't.agent_id': agent_id, 't.agent_turn_id': agent_turn_id };
  return join([sql`t.status = 'dispatched'`, ...equalTo(wanted)], ' AND ');
};

export async function anyClaimable(query: Query, filter: Claimable): Promise<boolean> {
  const row = await query.get(
    sql`SELECT 1 AS there FROM agent_turns t WHERE t.tenant_id = ${TENANT} AND ${claimable(filter)} LIMIT 1`,
  );
  return row !== undefined;
}

/** The earliest dispatched one. */
export const findClaimable = (query: Query, filter: Claimable): Promise<AgentTurnRow | undefined> =>
  query.get(
    sql`SELECT ${COLUMNS} FROM agent_turns t WHERE t.tenant_id = ${TENANT} AND ${claimable(filter)}
        ORDER BY t.dispatched_at, t.agent_turn_id LIMIT 1`,
  );

type TurnChange = Partial<
  Pick<
    AgentTurnRow,
    | Exclude<keyof AgentTurnRow, keyof NewAgentTurn>
    | 'status'
    | 'turn_epoch'
    | 'attempts'
    | 'context_box_id'
    | 'output_box_id'
    | 'dispatched_at'
  >
>;

/** Updates a locked row; returns the new row. */
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

export type AgentTurnFilter = ListFilter<'agent_turns.list'>;

const listOf = ({ party, ...filter }: AgentTurnFilter): PartyList => ({
  from: sql`agent_turns t`,
  id: sql`t.agent_turn_id`,
  sides: sidesOf(party, [sql`t.agent_id`, sql`t.source_agent_id`]),
  conditions: equalTo({
    't.agent_id': filter.agent_id,
    't.status': filter.status,
    't.profile_name': filter.profile_name,
    't.trajectory_id': filter.trajectory_id,
    't.parent_agent_turn_id': filter.parent_agent_turn_id,
    't.batch_id': filter.batch_id,
    't.channel_id': filter.channel_id,
  }),
});

export const listAgentTurns = (query: Query, filter: AgentTurnFilter, page: KeysetPage): Promise<AgentTurnView[]> =>
  query.all(sql`${VIEW} WHERE t.tenant_id = ${TENANT} AND ${onPage(listOf(filter), page)}`);

export const countAgentTurns = (filter: AgentTurnFilter): Sql => countRows(listOf(filter));

/** The agent_turns of a batch, by task index. */
export const turnsOfBatch = (query: Query, batch_id: string): Promise<AgentTurnView[]> =>
  query.all(sql`${VIEW} WHERE t.tenant_id = ${TENANT} AND t.batch_id = ${batch_id} ORDER BY t.task_index`);

const viewsByIds = (ids: readonly string[]): Sql =>
  sql`${VIEW} WHERE t.tenant_id = ${TENANT} AND t.agent_turn_id = ANY(${ids}) ORDER BY t.agent_turn_id`;

export const findAgentTurns = (query: Query, ids: readonly string[]): Promise<AgentTurnView[]> =>
  query.all(viewsByIds(ids));

/** Locks by ascending id: the lock order of agent_turns. */
export const lockAgentTurns = (tx: Tx, ids: readonly string[]): Promise<AgentTurnView[]> =>
  tx.all(sql`${viewsByIds(ids)} FOR UPDATE`);

/**
 * Ids of the unfinished agent_turns delegated by these, at any depth. Descends through ended ones too: those below them
 * may still be unfinished.
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

/** The given step; default: the last. */
export function findStep(query: Query, agent_turn_id: string, step: number | undefined): Promise<StepRow | undefined> {
  const which = step === undefined ? sql`` : sql` AND step = ${step}`;
  return query.get<StepRow>(
    sql`SELECT step, turn_epoch, format, context_box_id, context_revision, output_box_id, output_revision,
          prompt_card_id, tools_card_id, content_hash, created_at FROM agent_turn_steps
        WHERE tenant_id = ${TENANT} AND agent_turn_id = ${agent_turn_id}${which} ORDER BY step DESC LIMIT 1`,
  );
}

export const insertStep = (tx: Tx, agent_turn_id: string, row: StepRow): Promise<void> =>
  tx.send(
    sql`INSERT INTO agent_turn_steps (tenant_id, agent_turn_id, step, turn_epoch, format, context_box_id,
          context_revision, output_box_id, output_revision, prompt_card_id, tools_card_id, content_hash, created_at)
        VALUES (${TENANT}, ${agent_turn_id}, ${row.step}, ${row.turn_epoch}, ${row.format}, ${row.context_box_id},
          ${row.context_revision}, ${row.output_box_id}, ${row.output_revision}, ${row.prompt_card_id},
          ${row.tools_card_id}, ${row.content_hash}, ${row.created_at})`,
  );

export const agentOfTurn = (query: Query, agent_turn_id: string): Promise<AgentRow | undefined> =>
  query.get<AgentRow>(
    sql`SELECT a.* FROM agent_turns t CROSS JOIN agents a
        WHERE t.tenant_id = ${TENANT} AND t.agent_turn_id = ${agent_turn_id}
          AND a.tenant_id = ${TENANT} AND a.agent_id = t.agent_id`,
  );

interface BatchRow extends Omit<Stored<Batch>, 'results' | 'fail_fast'> {
  readonly source_agent_id: string | null;
  readonly parent_agent_turn_id: string | null;
  readonly fail_fast: number;
}

export const insertBatch = (tx: Tx, row: BatchRow): Promise<void> =>
  tx.send(
    sql`INSERT INTO turn_batches (tenant_id, batch_id, source_agent_id, parent_agent_turn_id, channel_id, fail_fast,
          task_count, status, deadline_at, created_at)
        VALUES (${TENANT}, ${row.batch_id}, ${row.source_agent_id}, ${row.parent_agent_turn_id}, ${row.channel_id},
          ${row.fail_fast}, ${row.task_count}, ${row.status}, ${row.deadline_at}, ${row.created_at})`,
  );

const batchById = (batch_id: string): Sql =>
  sql`SELECT batch_id, source_agent_id, parent_agent_turn_id, channel_id, fail_fast, task_count, status, deadline_at,
        created_at, ended_at FROM turn_batches WHERE tenant_id = ${TENANT} AND batch_id = ${batch_id}`;

export const findBatch = (query: Query, batch_id: string): Promise<BatchRow | undefined> =>
  query.get(batchById(batch_id));

/** Locked whenever one of its agent_turns ends, so that the last one ends the batch. */
export const lockBatch = (tx: Tx, batch_id: string): Promise<BatchRow | undefined> =>
  tx.get(sql`${batchById(batch_id)} FOR UPDATE`);

export const endBatch = (tx: Tx, batch_id: string, status: BatchStatus, now: number): Promise<void> =>
  tx.send(
    sql`UPDATE turn_batches SET status = ${status}, ended_at = ${now}
        WHERE tenant_id = ${TENANT} AND batch_id = ${batch_id}`,
  );
