/** scopes, one row per context window, and scope_checkpoints; the turns are in the boxes of the scopes. */
import {
  byDialect,
  insertRows,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  startsWith,
  TENANT,
  type TimeRange,
  type Tx,
  tenantTable,
  timeConditions,
} from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import type { ContainerReach } from '../../engine/sql.js';
import type { Retain } from '../../identity/contract.js';
import { scopesReadable } from '../access/reach.js';
import { selectIds } from '../rows.js';

/** The columns that adding a turn needs. */
export interface ScopeState {
  readonly scope_id: string;
  readonly trajectory_id: string;
  readonly box_id: string;
  readonly token_budget: number;
  readonly tokens_used: number;
  /** Percent of the budget. */
  readonly threshold: number;
  readonly threshold_at: number | null;
  readonly enforce: number;
  readonly subject_ids: string | null;
  readonly closed_at: number | null;
  readonly deleted_at: number | null;
}

export interface ScopeRow extends ScopeState {
  readonly parent_scope_id: string | null;
  readonly agent_id: string | null;
  readonly name: string;
  readonly purpose: string | null;
  readonly restored_from: string | null;
  /** What closing leaves; null: as the settings of the tenant say. */
  readonly retain: Retain | null;
  readonly metadata: string | null;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** Turns that were summarized, and that facts were extracted from. */
  readonly summarized_turns: number;
  readonly extracted_turns: number;
  /** Turns that were forgotten: they keep their sequence. */
  readonly forgotten_turns: number;
}

const scopesTable = tenantTable('scopes', {
  text: [
    'scope_id',
    'trajectory_id',
    'parent_scope_id',
    'box_id',
    'agent_id',
    'name',
    'purpose',
    'restored_from',
    'subject_ids',
    'retain',
    'sent_hash',
  ],
  bigint: [
    'token_budget',
    'tokens_used',
    'threshold',
    'threshold_at',
    'enforce',
    'created_at',
    'updated_at',
    'summarized_turns',
    'extracted_turns',
    'forgotten_turns',
  ],
  json: ['metadata'],
});

export const insertScope = (tx: Tx, row: ScopeRow): Promise<void> => insertRows(tx, scopesTable, [row]);

const byId = (scope_id: string): Sql =>
  sql`SELECT * FROM scopes WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id}`;

/** Closed and deleted scopes included. */
export const findScope = (query: Query, scope_id: string): Promise<ScopeRow | undefined> =>
  query.get<ScopeRow>(byId(scope_id));

/** The same, locked: no other transaction adds a turn or closes it. */
export const lockScope = (tx: Tx, scope_id: string): Promise<ScopeRow | undefined> =>
  tx.get<ScopeRow>(sql`${byId(scope_id)} FOR UPDATE`);

const openAmong = (scope_ids: readonly string[]): Sql =>
  sql`SELECT * FROM scopes WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids}) AND closed_at IS NULL
      ORDER BY scope_id`;

/** SQLite would scan all scopes in the order of their ids rather than sort those of a few trajectories. */
const byTrajectory: Sql = byDialect({ sqlite: sql`scopes INDEXED BY scopes_by_trajectory`, postgres: sql`scopes` });

const openInTrajectories = (trajectory_ids: readonly string[]): Sql =>
  sql`SELECT * FROM ${byTrajectory} WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids})
        AND closed_at IS NULL ORDER BY scope_id`;

/** Locks the open scopes among these and those nested in them, in the order of their ids. */
export async function lockOpenScopes(tx: Tx, scope_ids: readonly string[]): Promise<ScopeRow[]> {
  let locked: ScopeRow[] = [];
  for (let known = 0; ; ) {
    const found = await nestedIn(tx, scope_ids);
    // Nesting a scope locks its parent: once all are locked and no new one appeared, none can.
    if (found.length === known) return locked;
    known = found.length;
    locked = await tx.all<ScopeRow>(sql`${openAmong(found)} FOR UPDATE`);
  }
}

const nestedIn = (query: Query, scope_ids: readonly string[]): Promise<string[]> =>
  selectIds(
    query,
    sql`WITH RECURSIVE nested(scope_id) AS (
          SELECT s.scope_id FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.scope_id = ANY(${scope_ids})
          UNION
          SELECT s.scope_id FROM nested n CROSS JOIN scopes s
            WHERE s.tenant_id = ${TENANT} AND s.parent_scope_id = n.scope_id
        )
        SELECT scope_id AS id FROM nested`,
  );

/** Locks the open scopes of these trajectories, in the order of their ids. */
export const lockScopesOf = (tx: Tx, trajectory_ids: readonly string[]): Promise<ScopeRow[]> =>
  tx.all<ScopeRow>(sql`${openInTrajectories(trajectory_ids)} FOR UPDATE`);

export const closeScopes = (tx: Tx, scope_ids: readonly string[], now: number): Promise<void> =>
  tx.send(
    sql`UPDATE scopes SET closed_at = ${now}, updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids}) AND closed_at IS NULL`,
  );

/** Records up to which turn a locked scope was summarized and searched for facts. */
export const updateCoverage = (
  tx: Tx,
  { scope_id, summarized_turns, extracted_turns }: Pick<ScopeRow, 'scope_id' | 'summarized_turns' | 'extracted_turns'>,
): Promise<void> =>
  tx.send(
    sql`UPDATE scopes SET summarized_turns = ${summarized_turns}, extracted_turns = ${extracted_turns}
        WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id}`,
  );

/** The open scopes of these trajectories, or among these scopes and those nested in them, without locks. */
export const findOpenScopes = async (
  query: Query,
  at: { readonly scope_ids?: readonly string[]; readonly trajectory_ids?: readonly string[] },
): Promise<ScopeRow[]> =>
  query.all<ScopeRow>(
    at.trajectory_ids ? openInTrajectories(at.trajectory_ids) : openAmong(await nestedIn(query, at.scope_ids ?? [])),
  );

/** A scope with its number of turns, its checkpoint and the progress of its erasure. */
export interface ScopeView extends ScopeRow {
  readonly turns: number;
  readonly checkpoint_box_id: string | null;
  readonly context_state: string | null;
  readonly checkpoint_tokens: number | null;
  readonly checkpoint_turns: number | null;
  readonly checkpoint_at: number | null;
  /** Progress of the erasure of a closed scope; null for an open one. */
  readonly erased: number | null;
  readonly kept: number | null;
  readonly done_at: number | null;
}

const VIEW: Sql = sql`SELECT s.*, b.length - s.forgotten_turns AS turns, k.box_id AS checkpoint_box_id, k.context_state,
    k.tokens_used AS checkpoint_tokens, k.turns - k.forgotten_turns AS checkpoint_turns, k.created_at AS checkpoint_at,
    x.erased, x.kept, x.done_at
  FROM scopes s JOIN boxes b ON b.tenant_id = s.tenant_id AND b.box_id = s.box_id
  LEFT JOIN scope_checkpoints k ON k.tenant_id = s.tenant_id AND k.scope_id = s.scope_id
  LEFT JOIN endings x ON x.tenant_id = s.tenant_id AND x.holder = 'scope:' || s.scope_id`;

export const viewScope = (query: Query, scope_id: string): Promise<ScopeView | undefined> =>
  query.get<ScopeView>(
    sql`${VIEW} WHERE s.tenant_id = ${TENANT} AND s.scope_id = ${scope_id} AND s.deleted_at IS NULL`,
  );

export interface ScopeFilter
  extends Pick<In<'scopes.list'>, 'trajectory_id' | 'parent_scope_id' | 'status' | 'agent_id' | 'name'> {
  readonly times: TimeRange;
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
  conditions.push(...timeConditions(sql`s.created_at`, sql`s.updated_at`, filter.times));
  if (reach !== undefined) conditions.push(scopesReadable(reach));
  return join(conditions, ' AND ');
}

export const listScopes = (query: Query, filter: ScopeFilter, page: KeysetPage): Promise<ScopeView[]> =>
  query.all<ScopeView>(sql`${VIEW} WHERE ${where(filter)}${keyset(sql`s.scope_id`, page)}`);

export const countScopes = (filter: ScopeFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM scopes s WHERE ${where(filter)}`;

export const updateScope = (tx: Tx, row: ScopeRow): Promise<void> =>
  tx.send(
    sql`UPDATE scopes SET name = ${row.name}, purpose = ${row.purpose}, token_budget = ${row.token_budget},
          threshold = ${row.threshold}, threshold_at = ${row.threshold_at}, enforce = ${row.enforce}, retain = ${row.retain},
          metadata = ${row.metadata}, updated_at = ${row.updated_at}
        WHERE tenant_id = ${TENANT} AND scope_id = ${row.scope_id}`,
  );

interface CheckpointRow {
  readonly scope_id: string;
  readonly box_id: string | null;
  readonly context_state: string | null;
  readonly tokens_used: number;
  readonly turns: number;
  readonly created_at: number;
  readonly forgotten_turns: number;
}

export const findCheckpoint = (query: Query, scope_id: string): Promise<CheckpointRow | undefined> =>
  query.get<CheckpointRow>(
    sql`SELECT scope_id, box_id, context_state, tokens_used, turns, created_at, forgotten_turns FROM scope_checkpoints
        WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id}`,
  );

export async function putCheckpoint(tx: Tx, row: CheckpointRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO scope_checkpoints (tenant_id, scope_id, box_id, context_state, tokens_used, turns, created_at,
          forgotten_turns)
        VALUES (${TENANT}, ${row.scope_id}, ${row.box_id}, ${row.context_state}, ${row.tokens_used}, ${row.turns},
          ${row.created_at}, ${row.forgotten_turns})
        ON CONFLICT (tenant_id, scope_id) DO UPDATE SET box_id = excluded.box_id,
          context_state = excluded.context_state, tokens_used = excluded.tokens_used, turns = excluded.turns,
          created_at = excluded.created_at, forgotten_turns = excluded.forgotten_turns`,
  );
}

/** Deletes unrecoverable checkpoints of scopes that close. */
export const dropLooseCheckpoints = (tx: Tx, scope_ids: readonly string[]): Promise<void> =>
  tx.send(
    sql`DELETE FROM scope_checkpoints
        WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids}) AND box_id IS NULL`,
  );
