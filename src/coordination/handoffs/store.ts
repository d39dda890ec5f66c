/** handoffs: rows in, rows out. */
import { type KeysetPage, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import { handoffHolder } from '../../engine/sql.js';
import { toIso } from '../../kernel/index.js';
import { countRows, onPage, type PartyList, sidesOf } from '../party-pages.js';
import { equalTo, type ListFilter, type Stored, withIsoTimes } from '../rows.js';
import type { Handoff, HandoffStatus } from './model.js';
import { isOverdue } from './rules.js';

type Hints = Pick<Handoff, 'next_steps' | 'blockers' | 'open_questions'>;

/** The answer as it is stored, and the columns that are not shown. */
export interface HandoffRow extends Omit<Stored<Handoff>, keyof Hints | 'expires_at'> {
  /** JSON of the hints; null when there are none. */
  readonly body: string | null;
  readonly sent_hash: string | null;
  readonly expires_at: number;
}

const NO_HINTS: Hints = { next_steps: [], blockers: [], open_questions: [] };

/** The handoff at a moment: an overdue offer is Expired even before its expiry is recorded. */
export function toHandoff(row: HandoffRow, now: number): Handoff {
  const { body, sent_hash: _, expires_at, ...shown } = isOverdue(row, now) ? { ...row, ...expired(row) } : row;
  return {
    ...withIsoTimes(shown),
    ...(body === null ? NO_HINTS : (JSON.parse(body) as Hints)),
    expires_at: shown.status === 'Initiated' ? toIso(expires_at) : null,
  };
}

/** The change of an overdue offer: it ended when its time was over, not when that was noticed. */
export const expired = ({ expires_at }: Pick<HandoffRow, 'expires_at'>) =>
  ({ status: 'Expired', updated_at: expires_at, ended_at: expires_at }) as const;

const COLUMNS: Sql = sql`h.handoff_id, h.from_agent_id, h.to_agent_id, h.trajectory_id, h.scope_id, h.new_scope_id,
  h.context_box_id, h.status, h.reason, h.rejection, h.body, h.context_snapshot, h.sent_hash, h.expires_at,
  h.created_at, h.updated_at, h.accepted_at, h.ended_at`;

export const insertHandoff = (tx: Tx, row: HandoffRow): Promise<void> =>
  tx.send(
    sql`INSERT INTO handoffs (tenant_id, handoff_id, from_agent_id, to_agent_id, trajectory_id, scope_id, status, reason,
          body, context_snapshot, sent_hash, expires_at, created_at, updated_at)
        VALUES (${TENANT}, ${row.handoff_id}, ${row.from_agent_id}, ${row.to_agent_id}, ${row.trajectory_id},
          ${row.scope_id}, ${row.status}, ${row.reason}, ${row.body}, ${row.context_snapshot}, ${row.sent_hash},
          ${row.expires_at}, ${row.created_at}, ${row.updated_at})`,
  );

const byId = (handoff_id: string): Sql =>
  sql`SELECT ${COLUMNS} FROM handoffs h WHERE h.tenant_id = ${TENANT} AND h.handoff_id = ${handoff_id}`;

export const findHandoff = (query: Query, handoff_id: string): Promise<HandoffRow | undefined> =>
  query.get(byId(handoff_id));

export const lockHandoff = (tx: Tx, handoff_id: string): Promise<HandoffRow | undefined> =>
  tx.get(sql`${byId(handoff_id)} FOR UPDATE`);

/** The open offer of a trajectory: there is at most one. */
export async function openHandoffOf(query: Query, trajectory_id: string, now: number): Promise<string | undefined> {
  const row = await query.get<{ handoff_id: string }>(
    sql`SELECT handoff_id FROM handoffs
        WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id} AND status = 'Initiated' AND expires_at > ${now}`,
  );
  return row?.handoff_id;
}

export type HandoffChange = Pick<HandoffRow, 'status' | 'updated_at'> &
  Partial<Pick<HandoffRow, 'new_scope_id' | 'context_box_id' | 'rejection' | 'accepted_at' | 'ended_at'>>;

/** Updates a locked row; returns the new row. */
export async function updateHandoff(tx: Tx, before: HandoffRow, change: HandoffChange): Promise<HandoffRow> {
  const row = { ...before, ...change };
  await tx.send(
    sql`UPDATE handoffs SET status = ${row.status}, new_scope_id = ${row.new_scope_id},
          context_box_id = ${row.context_box_id}, rejection = ${row.rejection}, updated_at = ${row.updated_at},
          accepted_at = ${row.accepted_at}, ended_at = ${row.ended_at}
        WHERE tenant_id = ${TENANT} AND handoff_id = ${row.handoff_id}`,
  );
  return row;
}

type HandoffFilter = ListFilter<'handoffs.list'>;

/** An overdue offer counts as Expired. */
function inStatus(status: HandoffStatus | undefined, now: number): Sql[] {
  if (status === 'Initiated') return [sql`h.status = 'Initiated' AND h.expires_at > ${now}`];
  if (status === 'Expired') return [sql`(h.status = 'Expired' OR (h.status = 'Initiated' AND h.expires_at <= ${now}))`];
  return equalTo({ 'h.status': status });
}

const listOf = ({ party, status, ...filter }: HandoffFilter, now: number): PartyList => ({
  from: sql`handoffs h`,
  id: sql`h.handoff_id`,
  sides: sidesOf(party, [sql`h.from_agent_id`, sql`h.to_agent_id`]),
  conditions: [
    ...equalTo({
      'h.from_agent_id': filter.from_agent_id,
      'h.to_agent_id': filter.to_agent_id,
      'h.trajectory_id': filter.trajectory_id,
    }),
    ...inStatus(status, now),
  ],
});

export const listHandoffs = (
  query: Query,
  filter: HandoffFilter,
  page: KeysetPage,
  now: number,
): Promise<HandoffRow[]> =>
  query.all(
    sql`SELECT ${COLUMNS} FROM handoffs h WHERE h.tenant_id = ${TENANT} AND ${onPage(listOf(filter, now), page)}`,
  );

export const countHandoffs = (filter: HandoffFilter, now: number): Sql => countRows(listOf(filter, now));

/** Locks the handoffs of these trajectories. Lock order: handoffs before trajectories, as in `accept`. */
export async function lockHandoffsOf(tx: Tx, trajectory_ids: readonly string[]): Promise<void> {
  await tx.all(
    sql`SELECT handoff_id FROM handoffs
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids}) ORDER BY handoff_id FOR UPDATE`,
  );
}

/** Adds the endings of the contexts packed for the receivers of these trajectories. */
export const endHandoffBoxes = (tx: Tx, trajectory_ids: readonly string[], ended_at: number): Promise<void> =>
  tx.send(
    sql`INSERT INTO endings (tenant_id, holder, ended_at, thread_id, box_id, position, erased, kept, versions)
        SELECT h.tenant_id, ${handoffHolder('')} || h.context_box_id, CAST(${ended_at} AS BIGINT), h.trajectory_id,
          h.context_box_id, 0, 0, 0, 0
        FROM handoffs h
        WHERE h.tenant_id = ${TENANT} AND h.trajectory_id = ANY(${trajectory_ids}) AND h.context_box_id IS NOT NULL
        ON CONFLICT (tenant_id, holder) DO NOTHING`,
  );

/** Clears the texts of handoffs; ids, states and times stay. */
export const clearHandoffs = (tx: Tx, trajectory_ids: readonly string[]): Promise<void> =>
  tx.send(
    sql`UPDATE handoffs SET reason = NULL, rejection = NULL, body = NULL, context_snapshot = NULL, sent_hash = NULL
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids})`,
  );
