/** handoffs: rows in, rows out. */
import { join, type KeysetPage, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import { handoffHolder } from '../../engine/sql.js';
import { toIso } from '../../kernel/index.js';
import { countParted, onPage, type Parted } from '../delegations/two-party-pages.js';
import type { Handoff, HandoffStatus } from './model.js';
import { handoffStatusAt } from './rules.js';

export interface HandoffRow {
  readonly handoff_id: string;
  readonly from_agent_id: string;
  readonly to_agent_id: string;
  readonly trajectory_id: string;
  readonly scope_id: string | null;
  readonly new_scope_id: string | null;
  readonly context_box_id: string | null;
  readonly status: HandoffStatus;
  readonly reason: string | null;
  readonly rejection: string | null;
  /** JSON of the hints, or null when there are none. */
  readonly body: string | null;
  readonly context_snapshot: string | null;
  readonly sent_hash: string | null;
  readonly expires_at: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly accepted_at: number | null;
  readonly ended_at: number | null;
}

export type Hints = Pick<Handoff, 'next_steps' | 'blockers' | 'open_questions'>;

const NO_HINTS: Hints = { next_steps: [], blockers: [], open_questions: [] };

const timeOf = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

/** As it is at a moment. What nobody has noted yet, that its time is over, shows as it will once it is noted. */
export function toHandoff(row: HandoffRow, now: number): Handoff {
  const status = handoffStatusAt(row, now);
  const over = status === row.status ? {} : expired(row);
  const shown = { ...row, ...over };
  return {
    handoff_id: row.handoff_id,
    from_agent_id: row.from_agent_id,
    to_agent_id: row.to_agent_id,
    trajectory_id: row.trajectory_id,
    scope_id: row.scope_id,
    new_scope_id: row.new_scope_id,
    context_box_id: row.context_box_id,
    status,
    reason: row.reason,
    rejection: row.rejection,
    ...(row.body === null ? NO_HINTS : (JSON.parse(row.body) as Hints)),
    context_snapshot: row.context_snapshot,
    expires_at: status === 'Initiated' ? toIso(row.expires_at) : null,
    created_at: toIso(row.created_at),
    updated_at: toIso(shown.updated_at),
    accepted_at: timeOf(row.accepted_at),
    ended_at: timeOf(shown.ended_at),
  };
}

/** What an offer becomes that nobody took: it ended when its time was over, not when somebody looked. */
export const expired = ({ expires_at }: Pick<HandoffRow, 'expires_at'>) =>
  ({ status: 'Expired', updated_at: expires_at, ended_at: expires_at }) as const;

export function insertHandoff(tx: Tx, row: HandoffRow): Promise<void> {
  return tx.send(
    sql`INSERT INTO handoffs (tenant_id, handoff_id, from_agent_id, to_agent_id, trajectory_id, scope_id, status, reason,
          body, context_snapshot, sent_hash, expires_at, created_at, updated_at)
        VALUES (${TENANT}, ${row.handoff_id}, ${row.from_agent_id}, ${row.to_agent_id}, ${row.trajectory_id},
          ${row.scope_id}, ${row.status}, ${row.reason}, ${row.body}, ${row.context_snapshot}, ${row.sent_hash},
          ${row.expires_at}, ${row.created_at}, ${row.updated_at})`,
  );
}

export function findHandoff(query: Query, handoff_id: string): Promise<HandoffRow | undefined> {
  return query.get<HandoffRow>(sql`SELECT * FROM handoffs WHERE tenant_id = ${TENANT} AND handoff_id = ${handoff_id}`);
}

/** The same, and nobody answers it until the commit. */
export function lockHandoff(tx: Tx, handoff_id: string): Promise<HandoffRow | undefined> {
  return tx.get<HandoffRow>(
    sql`SELECT * FROM handoffs WHERE tenant_id = ${TENANT} AND handoff_id = ${handoff_id} FOR UPDATE`,
  );
}

/** The offer of a trajectory that can still be taken: there is one at most. */
export async function openHandoffOf(query: Query, trajectory_id: string, now: number): Promise<string | undefined> {
  const row = await query.get<{ handoff_id: string }>(
    sql`SELECT handoff_id FROM handoffs
        WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id} AND status = 'Initiated' AND expires_at > ${now}`,
  );
  return row?.handoff_id;
}

export type HandoffChange = Pick<HandoffRow, 'status' | 'updated_at'> &
  Partial<Pick<HandoffRow, 'new_scope_id' | 'context_box_id' | 'rejection' | 'accepted_at' | 'ended_at'>>;

/** Moves a handoff, which is locked, to another state; gives it as it is now. */
export async function moveHandoff(tx: Tx, before: HandoffRow, change: HandoffChange): Promise<HandoffRow> {
  const row = { ...before, ...change };
  await tx.send(
    sql`UPDATE handoffs SET status = ${row.status}, new_scope_id = ${row.new_scope_id},
          context_box_id = ${row.context_box_id}, rejection = ${row.rejection}, updated_at = ${row.updated_at},
          accepted_at = ${row.accepted_at}, ended_at = ${row.ended_at}
        WHERE tenant_id = ${TENANT} AND handoff_id = ${row.handoff_id}`,
  );
  return row;
}

export interface HandoffFilter {
  readonly from_agent_id?: string | undefined;
  readonly to_agent_id?: string | undefined;
  readonly trajectory_id?: string | undefined;
  readonly status?: HandoffStatus | undefined;
  /** Only those that this agent gives or is given. */
  readonly party?: string | undefined;
}

function listOf(filter: HandoffFilter, now: number): Parted {
  const { from_agent_id, to_agent_id, trajectory_id, status, party } = filter;
  const conditions: Sql[] = [sql`h.tenant_id = ${TENANT}`];
  if (from_agent_id !== undefined) conditions.push(sql`h.from_agent_id = ${from_agent_id}`);
  if (to_agent_id !== undefined) conditions.push(sql`h.to_agent_id = ${to_agent_id}`);
  if (trajectory_id !== undefined) conditions.push(sql`h.trajectory_id = ${trajectory_id}`);
  if (status === 'Initiated') conditions.push(sql`h.status = 'Initiated' AND h.expires_at > ${now}`);
  else if (status === 'Expired')
    conditions.push(sql`(h.status = 'Expired' OR (h.status = 'Initiated' AND h.expires_at <= ${now}))`);
  else if (status !== undefined) conditions.push(sql`h.status = ${status}`);
  return {
    from: sql`handoffs h`,
    id: sql`h.handoff_id`,
    parties: [sql`h.from_agent_id`, sql`h.to_agent_id`],
    party,
    where: join(conditions, ' AND '),
  };
}

export function listHandoffs(
  query: Query,
  filter: HandoffFilter,
  page: KeysetPage,
  now: number,
): Promise<HandoffRow[]> {
  return query.all<HandoffRow>(
    sql`SELECT h.* FROM handoffs h
        WHERE h.tenant_id = ${TENANT} AND ${onPage(listOf(filter, now), page)}`,
  );
}

export const countHandoffs = (filter: HandoffFilter, now: number): Sql => countParted(listOf(filter, now));

/** Locks the handoffs of these trajectories, before those are locked: accepting one locks it first, then its trajectory. */
export async function lockHandoffsOf(tx: Tx, trajectory_ids: readonly string[]): Promise<void> {
  await tx.all(
    sql`SELECT handoff_id FROM handoffs
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids}) ORDER BY handoff_id FOR UPDATE`,
  );
}

/** Ends the boxes that were packed for receivers of these trajectories. */
export function endHandoffBoxes(tx: Tx, trajectory_ids: readonly string[], ended_at: number): Promise<void> {
  return tx.send(
    sql`INSERT INTO endings (tenant_id, holder, ended_at, thread_id, box_id, position, erased, kept, versions)
        SELECT h.tenant_id, ${handoffHolder('')} || h.context_box_id, CAST(${ended_at} AS BIGINT), h.trajectory_id,
          h.context_box_id, 0, 0, 0, 0
        FROM handoffs h
        WHERE h.tenant_id = ${TENANT} AND h.trajectory_id = ANY(${trajectory_ids}) AND h.context_box_id IS NOT NULL
        ON CONFLICT (tenant_id, holder) DO NOTHING`,
  );
}

/** Clears what the handoffs of these trajectories say; ids, states and times stay. */
export function clearHandoffs(tx: Tx, trajectory_ids: readonly string[]): Promise<void> {
  return tx.send(
    sql`UPDATE handoffs SET reason = NULL, rejection = NULL, body = NULL, context_snapshot = NULL, sent_hash = NULL
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids})`,
  );
}
