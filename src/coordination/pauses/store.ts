/**
 * pauses: rows in, rows out. A pause has no lock of its own: its row changes only while the row of its agent_turn or
 * execution is locked.
 */
import {
  insertRows,
  type KeysetPage,
  type Query,
  type Sql,
  sql,
  TENANT,
  type Tx,
  tenantTable,
} from '../../driver/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { countRows, onPage, type PartyList } from '../party-pages.js';
import { equalTo, type ListFilter, type Stored, withIsoTimes } from '../rows.js';
import type { Pause, PauseAction, PauseAnswer, PauseChoice } from './model.js';
import type { Answerer } from './rules.js';

type Json = 'choices' | 'details' | 'answers' | 'default' | 'answer';

/** The answer as it is stored, and the columns that are not shown. */
export interface PauseRow extends Omit<Stored<Pause>, Json | 'question' | 'outside' | 'answered_by'> {
  /** Null once the pause is erased, as are the other texts. */
  readonly question: string | null;
  /** JSON, as are details, answers, default_answer and answer. */
  readonly choices: string | null;
  readonly details: string | null;
  readonly answers: string;
  readonly default_answer: string | null;
  readonly answer: string | null;
  readonly outside: number;
  readonly answered_by_agent_id: string | null;
  readonly answered_by_key_id: string | null;
  /** 1 if the default counted. */
  readonly by_default: number;
  /** Of the question without its deadline: what the same key must ask again. */
  readonly sent_hash: string | null;
  readonly erased_at: number | null;
}

const TEXT = [
  'pause_id',
  'status',
  'trigger',
  'question',
  'agent_turn_id',
  'execution_id',
  'checkpoint_id',
  'trajectory_id',
  'ask_key',
  'agent_id',
  'source_agent_id',
  'to_agent_id',
  'to_agent_type',
  'answered_by_agent_id',
  'answered_by_key_id',
  'sent_hash',
] as const;
const JSON_COLUMNS = ['choices', 'details', 'answers', 'default_answer', 'answer'] as const;
const BIGINT = [
  'deadline_at',
  'outside',
  'by_default',
  'answered_at',
  'created_at',
  'updated_at',
  'erased_at',
] as const;

const table = tenantTable('pauses', { text: TEXT, json: JSON_COLUMNS, bigint: BIGINT });

const parsed = <T>(json: string | null): T | null => (json === null ? null : (JSON.parse(json) as T));

export const answeredBy = (row: PauseRow): Pause['answered_by'] =>
  row.status !== 'answered' || row.by_default === 1
    ? null
    : { agent_id: row.answered_by_agent_id, key_id: row.answered_by_key_id };

export function toPause(row: PauseRow): Pause {
  const { sent_hash: _, erased_at: __, by_default: ___, answered_by_agent_id, answered_by_key_id, ...rest } = row;
  const { default_answer, ...shown } = rest;
  return {
    ...withIsoTimes(shown),
    question: row.question ?? '',
    choices: parsed<PauseChoice[]>(row.choices) ?? [],
    details: parsed<JsonObject>(row.details),
    answers: parsed<PauseAction[]>(row.answers)!,
    default: parsed<PauseAnswer>(default_answer),
    answer: parsed<PauseAnswer>(row.answer),
    answered_by: answeredBy(row),
    outside: row.outside === 1,
  };
}

/** Approximate size in memory. */
export const pauseBytes = (row: PauseRow): number =>
  [row.question, row.choices, row.details, row.default_answer, row.answer].reduce(
    (sum, text) => sum + (text?.length ?? 0),
    0,
  );

const COLUMNS: Sql = sql`p.pause_id, p.status, p.trigger, p.question, p.choices, p.details, p.answers, p.default_answer,
  p.deadline_at, p.agent_turn_id, p.execution_id, p.checkpoint_id, p.trajectory_id, p.ask_key, p.agent_id,
  p.source_agent_id, p.to_agent_id, p.to_agent_type, p.outside, p.answer, p.answered_by_agent_id,
  p.answered_by_key_id, p.by_default, p.answered_at, p.sent_hash, p.created_at, p.updated_at, p.erased_at`;

export const insertPause = (tx: Tx, row: PauseRow): Promise<void> => insertRows(tx, table, [row]);

/** Includes erased ones, since ids are never reused. */
export const findPause = (query: Query, pause_id: string): Promise<PauseRow | undefined> =>
  query.get(sql`SELECT ${COLUMNS} FROM pauses p WHERE p.tenant_id = ${TENANT} AND p.pause_id = ${pause_id}`);

/** The agent_turn or execution that waits: exactly one of both. */
export type Run = Pick<PauseRow, 'agent_turn_id' | 'execution_id'>;

const ofRun = ({ agent_turn_id, execution_id }: Run): Sql =>
  agent_turn_id === null ? sql`p.execution_id = ${execution_id}` : sql`p.agent_turn_id = ${agent_turn_id}`;

export const findByKey = (query: Query, run: Run, ask_key: string): Promise<PauseRow | undefined> =>
  query.get(
    sql`SELECT ${COLUMNS} FROM pauses p WHERE p.tenant_id = ${TENANT} AND ${ofRun(run)} AND p.ask_key = ${ask_key}`,
  );

/** Their ids only: a question may be large. */
export async function openPausesOf(query: Query, run: Run, limit: number): Promise<string[]> {
  const rows = await query.all<{ pause_id: string }>(
    sql`SELECT p.pause_id FROM pauses p WHERE p.tenant_id = ${TENANT} AND ${ofRun(run)} AND p.status = 'open'
        ORDER BY p.pause_id LIMIT ${limit}`,
  );
  return rows.map(({ pause_id }) => pause_id);
}

export const hasOpenPause = async (query: Query, run: Run): Promise<boolean> =>
  (await openPausesOf(query, run, 1)).length > 0;

export type PauseEnd = Pick<PauseRow, 'status'> &
  Partial<Pick<PauseRow, 'answer' | 'answered_by_agent_id' | 'answered_by_key_id' | 'by_default' | 'answered_at'>>;

/** Updates a row whose run is locked; returns the new row. */
export async function changePause(tx: Tx, row: PauseRow, change: PauseEnd, now: number): Promise<PauseRow> {
  const next: PauseRow = { ...row, ...change, updated_at: now };
  await tx.send(
    sql`UPDATE pauses SET status = ${next.status}, answer = ${next.answer},
          answered_by_agent_id = ${next.answered_by_agent_id}, answered_by_key_id = ${next.answered_by_key_id},
          by_default = ${next.by_default}, answered_at = ${next.answered_at}, updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND pause_id = ${row.pause_id}`,
  );
  return next;
}

const OWNER: Sql = sql`COALESCE(p.source_agent_id, p.agent_id)`;

/** Executions of a trajectory in which this agent owns open questions, by id. */
export async function executionsAskedBy(query: Query, trajectory_id: string, owner: string): Promise<string[]> {
  const rows = await query.all<{ execution_id: string }>(
    sql`SELECT DISTINCT p.execution_id FROM pauses p WHERE p.tenant_id = ${TENANT}
          AND p.trajectory_id = ${trajectory_id} AND p.execution_id IS NOT NULL AND p.status = 'open'
          AND ${OWNER} = ${owner} ORDER BY p.execution_id`,
  );
  return rows.map(({ execution_id }) => execution_id);
}

/** Gives the open questions of an execution to another owner. */
export const passPauses = (tx: Tx, execution_id: string, from: string, to: string): Promise<void> =>
  tx.send(
    sql`UPDATE pauses AS p SET source_agent_id = CASE WHEN p.agent_id = ${to} THEN NULL ELSE ${to} END
        WHERE p.tenant_id = ${TENANT} AND p.execution_id = ${execution_id} AND p.status = 'open' AND ${OWNER} = ${from}`,
  );

const BLANK: Sql = sql`question = NULL, choices = NULL, details = NULL, default_answer = NULL, answer = NULL,
  ask_key = NULL, sent_hash = NULL`;

/** Erases the texts of pauses of deleted trajectories or executions; ids, states and times stay. */
export const erasePauses = (
  tx: Tx,
  of: 'trajectory_id' | 'execution_id',
  ids: readonly string[],
  now: number,
): Promise<void> => {
  const column = of === 'trajectory_id' ? sql`trajectory_id` : sql`execution_id`;
  return tx.send(
    sql`UPDATE pauses SET ${BLANK}, erased_at = ${now}, updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND ${column} = ANY(${ids}) AND erased_at IS NULL`,
  );
};

export interface PauseFilter extends Omit<ListFilter<'pauses.list'>, 'party'> {
  /** Restricts the list to pauses of which this agent is a party. */
  readonly viewer?: Answerer | undefined;
}

function sidesOf({ agent_id, agent_type }: Answerer): Sql[] {
  const columns = [sql`p.agent_id`, sql`p.source_agent_id`, sql`p.to_agent_id`];
  const sides = columns.map((column) => sql`${column} = ${agent_id}`);
  return agent_type === null ? sides : [...sides, sql`p.to_agent_type = ${agent_type}`];
}

const listOf = ({ viewer, ...filter }: PauseFilter): PartyList => ({
  from: sql`pauses p`,
  id: sql`p.pause_id`,
  sides: viewer && sidesOf(viewer),
  conditions: [
    sql`p.erased_at IS NULL`,
    ...equalTo({
      'p.status': filter.status,
      'p.trigger': filter.trigger,
      'p.agent_turn_id': filter.agent_turn_id,
      'p.execution_id': filter.execution_id,
      'p.trajectory_id': filter.trajectory_id,
      'p.ask_key': filter.ask_key,
      'p.agent_id': filter.agent_id,
      'p.to_agent_id': filter.to_agent_id,
      'p.to_agent_type': filter.to_agent_type,
    }),
  ],
});

export const listPauses = (query: Query, filter: PauseFilter, page: KeysetPage): Promise<PauseRow[]> =>
  query.all(sql`SELECT ${COLUMNS} FROM pauses p WHERE p.tenant_id = ${TENANT} AND ${onPage(listOf(filter), page)}`);

export const countPauses = (filter: PauseFilter): Sql => countRows(listOf(filter));
