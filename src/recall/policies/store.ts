/** Table summarization_policies: when to summarise and extract, for a tenant, a trajectory or a scope. */
import {
  byDialect,
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  TENANT,
  type Tx,
} from '../../driver/index.js';
import { type Reach, within } from '../../engine/sql.js';
import type { Retain } from '../../identity/contract.js';
import { SETTINGS_OF_TENANT, settingsOf } from '../../identity/index.js';
import { toIso } from '../../kernel/index.js';
import type { TriggerSource } from '../../memory/sql.js';
import type { PolicyAction, SummarizationPolicy, Trigger, TriggerType } from '../jobs/model.js';
import type { FiringPolicy } from './rules.js';

export interface PolicyRow extends Omit<FiringPolicy, 'actions'> {
  readonly name: string | null;
  readonly agent_id: string | null;
  /** For a policy of a scope: the trajectory of the scope. */
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  /** JSON. */
  readonly actions: string;
  readonly sent_hash: string | null;
  readonly created_at: number;
  readonly deleted_at: number | null;
}

const COLUMNS: Sql = sql`p.policy_id, p.name, p.agent_id, p.attached, p.trajectory_id, p.scope_id, p.trigger_type, p.threshold,
  p.source_level, p.target_level, p.max_sources, p.max_tokens, p.create_edges, p.actions, p.enabled, p.sent_hash,
  p.created_at, p.updated_at, p.deleted_at`;

export const attachedTo = {
  tenant: 'tenant',
  trajectory: (trajectory_id: string): string => `trajectory:${trajectory_id}`,
  scope: (scope_id: string): string => `scope:${scope_id}`,
};

/** Limits the rows of memory_versions `v` to the place that a policy is attached to. */
export function versionsIn(attached: string): Sql {
  const [kind, id] = attached.split(':');
  if (kind === 'tenant') return sql``;
  return kind === 'scope' ? sql` AND v.scope_id = ${id!}` : sql` AND v.trajectory_id = ${id!}`;
}

function triggerOf({ trigger_type: type, threshold }: PolicyRow): Trigger {
  if (type === 'DosageThreshold') return { type, percent: threshold };
  return type === 'TurnCount' || type === 'ArtifactCount' ? { type, count: threshold } : { type };
}

export const toPolicy = (row: PolicyRow): SummarizationPolicy => ({
  policy_id: row.policy_id,
  name: row.name,
  agent_id: row.agent_id,
  trajectory_id: row.trajectory_id,
  scope_id: row.scope_id,
  trigger: triggerOf(row),
  source_level: row.source_level as SummarizationPolicy['source_level'],
  target_level: row.target_level as SummarizationPolicy['target_level'],
  max_sources: row.max_sources,
  max_tokens: row.max_tokens,
  create_edges: row.create_edges === 1,
  actions: JSON.parse(row.actions) as PolicyAction[],
  enabled: row.enabled === 1,
  created_at: toIso(row.created_at),
  updated_at: toIso(row.updated_at),
});

export const insertPolicy = (tx: Tx, row: PolicyRow): Promise<void> =>
  tx.send(
    sql`INSERT INTO summarization_policies (tenant_id, policy_id, name, agent_id, attached, trajectory_id, scope_id,
          trigger_type, threshold, source_level, target_level, max_sources, max_tokens, create_edges, actions, enabled,
          sent_hash, created_at, updated_at)
        VALUES (${TENANT}, ${row.policy_id}, ${row.name}, ${row.agent_id}, ${row.attached}, ${row.trajectory_id},
          ${row.scope_id}, ${row.trigger_type}, ${row.threshold}, ${row.source_level}, ${row.target_level},
          ${row.max_sources}, ${row.max_tokens}, ${row.create_edges}, ${row.actions}, ${row.enabled}, ${row.sent_hash},
          ${row.created_at}, ${row.updated_at})`,
  );

/** Deleted policies included: their ids are never reused. */
export const findPolicy = (query: Query, policy_id: string): Promise<PolicyRow | undefined> =>
  query.get(
    sql`SELECT ${COLUMNS} FROM summarization_policies p WHERE p.tenant_id = ${TENANT} AND p.policy_id = ${policy_id}`,
  );

export const lockPolicy = (tx: Tx, policy_id: string): Promise<PolicyRow | undefined> =>
  tx.get(
    sql`SELECT ${COLUMNS} FROM summarization_policies p WHERE p.tenant_id = ${TENANT} AND p.policy_id = ${policy_id}
        FOR UPDATE`,
  );

export const updatePolicy = (tx: Tx, row: PolicyRow): Promise<void> =>
  tx.send(
    sql`UPDATE summarization_policies SET name = ${row.name}, trigger_type = ${row.trigger_type},
          threshold = ${row.threshold}, source_level = ${row.source_level}, target_level = ${row.target_level},
          max_sources = ${row.max_sources}, max_tokens = ${row.max_tokens}, create_edges = ${row.create_edges},
          actions = ${row.actions}, enabled = ${row.enabled}, updated_at = ${row.updated_at}
        WHERE tenant_id = ${TENANT} AND policy_id = ${row.policy_id}`,
  );

/** The row stays as a tombstone; the name is erased. */
export const deletePolicy = (tx: Tx, policy_id: string, now: number): Promise<void> =>
  tx.send(
    sql`UPDATE summarization_policies SET deleted_at = ${now}, name = NULL, sent_hash = NULL
        WHERE tenant_id = ${TENANT} AND policy_id = ${policy_id}`,
  );

/** Deletes the policies of trajectories and of their scopes. */
export const deletePoliciesOf = (tx: Tx, trajectory_ids: readonly string[], now: number): Promise<void> =>
  tx.send(
    sql`UPDATE summarization_policies SET deleted_at = ${now}, name = NULL, sent_hash = NULL
        WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${trajectory_ids}) AND deleted_at IS NULL`,
  );

interface PolicyFilter {
  readonly trajectory_id?: string | undefined;
  readonly scope_id?: string | undefined;
  readonly reach?: Reach | undefined;
}

function where({ trajectory_id, scope_id, reach }: PolicyFilter): Sql {
  const conditions: Sql[] = [sql`p.tenant_id = ${TENANT}`, sql`p.deleted_at IS NULL`];
  if (trajectory_id !== undefined) conditions.push(sql`p.trajectory_id = ${trajectory_id}`);
  if (scope_id !== undefined) conditions.push(sql`p.attached = ${attachedTo.scope(scope_id)}`);
  if (reach !== undefined) conditions.push(policiesWithin(reach));
  return join(conditions, ' AND ');
}

/** Number of policies attached to a place. */
export async function policiesAt(query: Query, attached: string): Promise<number> {
  const row = await query.get<{ policies: number }>(
    sql`SELECT COUNT(*) AS policies FROM summarization_policies p
        WHERE p.tenant_id = ${TENANT} AND p.attached = ${attached} AND p.deleted_at IS NULL`,
  );
  return row!.policies;
}

export const listPolicies = (query: Query, filter: PolicyFilter, page: KeysetPage): Promise<PolicyRow[]> =>
  query.all(
    sql`SELECT ${COLUMNS} FROM summarization_policies p WHERE ${where(filter)}${keyset(sql`p.policy_id`, page)}`,
  );

export const countPolicies = (filter: PolicyFilter): Sql =>
  sql`SELECT COUNT(*) AS total FROM summarization_policies p WHERE ${where(filter)}`;

/** The policies of the whole tenant, of which there are few. */
/** Policies of a tenant are added and planned one transaction after another: their number is limited. */
export const lockTenantPolicies = (tx: Tx): Promise<void> =>
  tx.send(
    sql`INSERT INTO policy_guards (tenant_id) VALUES (${TENANT})
        ON CONFLICT (tenant_id) DO UPDATE SET tenant_id = excluded.tenant_id`,
  );

export const tenantPolicies = (query: Query): Promise<PolicyRow[]> =>
  query.all(
    sql`SELECT ${COLUMNS} FROM summarization_policies p
        WHERE p.tenant_id = ${TENANT} AND p.attached = ${attachedTo.tenant} AND p.deleted_at IS NULL
        ORDER BY p.policy_id`,
  );

/** 1 if the tenant of the scope `s` has any policy, else 0: one lookup in an index that is mostly empty. */
export const WATCHED: Sql = sql`CASE WHEN EXISTS (SELECT 1 FROM summarization_policies p
  WHERE p.tenant_id = s.tenant_id AND p.deleted_at IS NULL) THEN 1 ELSE 0 END`;

/** Whether the tenant has any policy, and what its settings say about closing scopes: one statement for both. */
export async function closingRules(query: Query): Promise<{ readonly policies: boolean; readonly retain: Retain }> {
  const row = await query.get<{ policies: number; settings: string | null }>(
    sql`SELECT CASE WHEN EXISTS (SELECT 1 FROM summarization_policies p
          WHERE p.tenant_id = ${TENANT} AND p.deleted_at IS NULL) THEN 1 ELSE 0 END AS policies,
          ${SETTINGS_OF_TENANT} AS settings`,
  );
  return { policies: row!.policies === 1, retain: settingsOf(row!.settings).retain };
}

/** Without statistics SQLite would scan all policies of the tenant. */
const byPlace: Sql = byDialect({
  sqlite: sql`summarization_policies p INDEXED BY policies_attached`,
  postgres: sql`summarization_policies p`,
});

/** Policies with these triggers for a place, disabled ones included, ordered by id. */
export async function policiesFor(
  query: Query,
  place: TriggerSource,
  triggers: readonly TriggerType[],
): Promise<FiringPolicy[]> {
  const places = [attachedTo.tenant, attachedTo.trajectory(place.trajectory_id)];
  if (place.scope_id !== null) places.push(attachedTo.scope(place.scope_id));
  const rows = await query.all<PolicyRow>(
    sql`SELECT ${COLUMNS} FROM ${byPlace}
        WHERE p.tenant_id = ${TENANT} AND p.attached = ANY(${places}) AND p.trigger_type = ANY(${triggers})
          AND p.deleted_at IS NULL`,
  );
  return rows
    .map((row) => ({ ...row, actions: JSON.parse(row.actions) as PolicyAction[] }))
    .sort((a, b) => (a.policy_id < b.policy_id ? -1 : 1));
}

/** An agent reaches its own policies, those of scopes and trajectories within its reach, and the tenant-wide ones. */
export const policiesWithin = (reach: Reach): Sql =>
  sql`(p.attached = 'tenant' OR ${within(reach, { owner: sql`p.agent_id`, ...policyColumns })} OR ${within(reach, {
    owner: sql`(SELECT s.agent_id FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.scope_id = p.scope_id)`,
    ...policyColumns,
  })})`;

/** A policy is about those that its scope or trajectory is about. */
const policyColumns = {
  trajectory: sql`p.trajectory_id`,
  subjects: sql`COALESCE((SELECT s.subject_ids FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.scope_id = p.scope_id),
    (SELECT t.subject_ids FROM trajectories t WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = p.trajectory_id))`,
};
