/** SQL of counts: every table that holds content, with the size of what it holds. */
import { byDialect, type Query, type Sql, sql, TENANT } from '../../driver/index.js';

export interface KindRow {
  readonly kind: string;
  readonly total: number;
  readonly bytes: number | null;
}

const counted = (kind: string, table: Sql): Sql =>
  sql`SELECT ${kind} AS kind, COUNT(*) AS total, NULL AS bytes FROM ${table} WHERE tenant_id = ${TENANT}`;

/** LENGTH counts characters of a text; both of these count bytes. */
const bytesOf = (column: Sql): Sql =>
  byDialect({ sqlite: sql`LENGTH(CAST(${column} AS BLOB))`, postgres: sql`OCTET_LENGTH(CAST(${column} AS TEXT))` });

const measured = (kind: string, table: Sql, column: Sql): Sql =>
  sql`SELECT ${kind} AS kind, COUNT(*) AS total, COALESCE(SUM(${bytesOf(column)}), 0) AS bytes FROM ${table}
      WHERE tenant_id = ${TENANT}`;

const current = (kind: string): Sql =>
  sql`SELECT ${kind} AS kind, COUNT(*) AS total, NULL AS bytes FROM memory_versions
      WHERE tenant_id = ${TENANT} AND kind = ${kind} AND superseded_at IS NULL`;

/** One statement per kind: each is answered before the next, so that none holds the database for long. */
export const KINDS: readonly Sql[] = [
  counted('trajectory', sql`trajectories`),
  counted('scope', sql`scopes`),
  measured('card', sql`cards`, sql`content`),
  counted('box', sql`boxes`),
  current('artifact'),
  current('note'),
  counted('edge', sql`edges`),
  counted('execution', sql`executions`),
  counted('checkpoint', sql`checkpoints`),
  measured('checkpoint_item', sql`checkpoint_items`, sql`value`),
  measured('packet', sql`packet_store`, sql`envelope`),
  counted('manifest', sql`manifests`),
  counted('agent', sql`agents`),
  counted('agent_turn', sql`agent_turns`),
  counted('delegation', sql`delegations`),
  counted('handoff', sql`handoffs`),
  counted('pause', sql`pauses`),
  measured('message', sql`messages`, sql`payload`),
  counted('lock', sql`locks`),
  counted('job', sql`jobs`),
  counted('erasure', sql`erasures`),
];

export const INDEX_BYTES = sql`SELECT COALESCE(SUM(LENGTH(data)), 0) AS bytes FROM search_blocks WHERE tenant_id = ${TENANT}`;
export const HIDDEN_DOCS = sql`SELECT COUNT(*) AS hidden FROM search_dead WHERE tenant_id = ${TENANT}`;

/** The newest number of an event; undefined before the first. */
export const headOf = (query: Query): Promise<{ seq: number } | undefined> =>
  query.get<{ seq: number }>(sql`SELECT seq FROM tenants WHERE tenant_id = ${TENANT}`);

/** When the events with these numbers were recorded. */
export const recordedAt = (query: Query, numbers: readonly number[]): Promise<{ seq: number; recorded_at: number }[]> =>
  query.all(
    sql`SELECT seq, recorded_at FROM packet_store WHERE tenant_id = ${TENANT} AND seq = ANY(${numbers}) ORDER BY seq`,
  );
