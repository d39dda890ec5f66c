/** agents: rows and statements. */
import { join, type KeysetPage, keyset, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import { accessTo, type In, type MemoryAccess } from '../../engine/contract.js';
import type { JsonObject } from '../../kernel/contract.js';
import { toIso } from '../../kernel/index.js';
import type { Agent, AgentStatus } from './model.js';

/** How an agent was created. */
export const AGENT_ORIGINS = {
  registered: 0,
  /** By a dispatch, for its task. */
  for_task: 1,
  /** With its key, or by opening a store as it; not registered by itself yet. */
  with_key: 2,
} as const;

export interface AgentRow {
  readonly agent_id: string;
  readonly agent_type: string;
  /** 0 if a restricted agent chose its type itself: the type then grants nothing. */
  readonly typed: 0 | 1;
  /** JSON, as are the next two and metadata. */
  readonly capabilities: string;
  readonly memory_access: string | null;
  readonly can_delegate_to: string | null;
  readonly status: AgentStatus;
  readonly current_trajectory_id: string | null;
  readonly profile_name: string | null;
  readonly parent_agent_id: string | null;
  readonly made: (typeof AGENT_ORIGINS)[keyof typeof AGENT_ORIGINS];
  readonly offline_after_ms: number;
  readonly last_seen_at: number;
  readonly metadata: string | null;
  readonly sent_hash: string | null;
  readonly registered_at: number;
  readonly updated_at: number;
  readonly unregistered_at: number | null;
}

const parse = <T>(text: string | null): T | null => (text === null ? null : (JSON.parse(text) as T));

/** A silent agent is offline at once, noticed or not. */
export const isOffline = (row: AgentRow, now: number): boolean =>
  row.status === 'offline' || row.last_seen_at + row.offline_after_ms <= now;

/** What agents see of each other. */
export const toDirectoryEntry = (row: AgentRow, now: number): Agent => ({
  agent_id: row.agent_id,
  agent_type: row.agent_type,
  capabilities: parse<string[]>(row.capabilities)!,
  status: isOffline(row, now) ? 'offline' : row.status,
  offline_after_ms: row.offline_after_ms,
  last_seen_at: toIso(row.last_seen_at),
  registered_at: toIso(row.registered_at),
  updated_at: toIso(row.updated_at),
});

/** The type that counts for mailboxes and can_delegate_to. */
export const effectiveType = ({ agent_type, typed }: AgentRow): string | null => (typed === 1 ? agent_type : null);

export const toAgent = (row: AgentRow, now: number): Agent => ({
  ...toDirectoryEntry(row, now),
  memory_access: parse<MemoryAccess>(row.memory_access) ?? accessTo('all'),
  can_delegate_to: parse<string[]>(row.can_delegate_to) ?? ['*'],
  current_trajectory_id: row.current_trajectory_id,
  profile_name: row.profile_name,
  parent_agent_id: row.parent_agent_id,
  metadata: parse<JsonObject>(row.metadata) ?? {},
});

/** Includes unregistered agents, since ids are never reused. */
export const findAgent = (query: Query, agent_id: string): Promise<AgentRow | undefined> =>
  query.get(sql`SELECT * FROM agents WHERE tenant_id = ${TENANT} AND agent_id = ${agent_id}`);

export const lockAgent = (tx: Tx, agent_id: string): Promise<AgentRow | undefined> =>
  tx.get(sql`SELECT * FROM agents WHERE tenant_id = ${TENANT} AND agent_id = ${agent_id} FOR UPDATE`);

/** Several agents, unregistered ones included, locked in the order of their ids if `locks`. */
export const agentsNamed = (query: Query, agent_ids: readonly string[], locks: boolean): Promise<AgentRow[]> =>
  query.all(
    sql`SELECT * FROM agents WHERE tenant_id = ${TENANT} AND agent_id = ANY(${agent_ids})
        ORDER BY agent_id${locks ? sql` FOR UPDATE` : sql``}`,
  );

/** Without those that a dispatch made for its task. */
export const declarableAgents = (query: Query, page: KeysetPage): Promise<AgentRow[]> =>
  query.all(
    sql`SELECT a.* FROM agents a WHERE a.tenant_id = ${TENANT} AND a.made <> ${AGENT_ORIGINS.for_task}
          AND a.unregistered_at IS NULL${keyset(sql`a.agent_id`, page)}`,
  );

export function insertAgent(tx: Tx, row: AgentRow): Promise<void> {
  return tx.send(
    sql`INSERT INTO agents (tenant_id, agent_id, agent_type, typed, capabilities, memory_access, can_delegate_to, status,
          current_trajectory_id, profile_name, parent_agent_id, made, offline_after_ms, last_seen_at, metadata, sent_hash,
          registered_at, updated_at)
        VALUES (${TENANT}, ${row.agent_id}, ${row.agent_type}, ${row.typed}, ${row.capabilities}, ${row.memory_access},
          ${row.can_delegate_to}, ${row.status}, ${row.current_trajectory_id}, ${row.profile_name},
          ${row.parent_agent_id}, ${row.made}, ${row.offline_after_ms}, ${row.last_seen_at}, ${row.metadata}, ${row.sent_hash},
          ${row.registered_at}, ${row.updated_at})`,
  );
}

/** Registers an agent that was created with its key. */
export async function completeAgent(tx: Tx, row: AgentRow): Promise<void> {
  await updateAgent(tx, row);
  await tx.send(
    sql`UPDATE agents SET profile_name = ${row.profile_name}, made = ${row.made}, sent_hash = ${row.sent_hash}
        WHERE tenant_id = ${TENANT} AND agent_id = ${row.agent_id}`,
  );
}

export async function updateAgent(tx: Tx, row: AgentRow): Promise<void> {
  await tx.send(
    sql`UPDATE agents SET agent_type = ${row.agent_type}, typed = ${row.typed}, capabilities = ${row.capabilities},
          memory_access = ${row.memory_access}, can_delegate_to = ${row.can_delegate_to}, status = ${row.status},
          current_trajectory_id = ${row.current_trajectory_id}, offline_after_ms = ${row.offline_after_ms},
          last_seen_at = ${row.last_seen_at}, metadata = ${row.metadata}, updated_at = ${row.updated_at},
          unregistered_at = ${row.unregistered_at}
        WHERE tenant_id = ${TENANT} AND agent_id = ${row.agent_id}`,
  );
}

type AgentFilter = Pick<In<'agents.list'>, 'agent_type' | 'status'>;

function where({ agent_type, status }: AgentFilter, now: number): Sql {
  const conditions: Sql[] = [sql`a.tenant_id = ${TENANT}`, sql`a.unregistered_at IS NULL`];
  if (agent_type !== undefined) conditions.push(sql`a.agent_type = ${agent_type}`);
  if (status === 'offline')
    conditions.push(sql`(a.status = 'offline' OR a.last_seen_at + a.offline_after_ms <= ${now})`);
  else if (status !== undefined)
    conditions.push(sql`a.status = ${status}`, sql`a.last_seen_at + a.offline_after_ms > ${now}`);
  return join(conditions, ' AND ');
}

export function listAgents(query: Query, filter: AgentFilter, page: KeysetPage, now: number): Promise<AgentRow[]> {
  return query.all<AgentRow>(sql`SELECT a.* FROM agents a WHERE ${where(filter, now)}${keyset(sql`a.agent_id`, page)}`);
}

export const countAgents = (filter: AgentFilter, now: number): Sql =>
  sql`SELECT COUNT(*) AS total FROM agents a WHERE ${where(filter, now)}`;
