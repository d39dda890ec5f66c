/** Table fact_keys: which memories state a fact. The keys are keyed hashes, so facts cannot be guessed from them. */
import { createHmac } from 'node:crypto';
import { type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import { liveAt, VERSION_COLUMNS, VERSIONS, type VersionRow } from '../../memory/sql.js';
import type { ExtractedFact } from './extractor.js';

/** Facts with the same key are about the same slot: they may be equal, contradict each other, or neither. */
export function factKey(erasure_key: string, tenant: string, fact: ExtractedFact): string {
  const about = fact.slot === '' ? ['said', fact.content.toLowerCase()] : [fact.subject, fact.slot];
  return createHmac('sha256', erasure_key)
    .update(JSON.stringify([tenant, fact.kind, ...about]))
    .digest('hex');
}

/** The memory_id of the row that is locked per key: of two concurrent extractions, the later sees the facts of the other. */
const GUARD = '';

export async function lockFactKeys(tx: Tx, keys: readonly string[]): Promise<void> {
  for (const key of [...new Set(keys)].sort()) {
    await tx.run(
      sql`INSERT INTO fact_keys (tenant_id, fact_key, memory_id) VALUES (${TENANT}, ${key}, ${GUARD})
          ON CONFLICT (tenant_id, fact_key, memory_id) DO NOTHING`,
    );
    await tx.get(
      sql`SELECT fact_key FROM fact_keys WHERE tenant_id = ${TENANT} AND fact_key = ${key} AND memory_id = ${GUARD} FOR UPDATE`,
    );
  }
}

export const insertFactKey = (tx: Tx, key: string, memory_id: string): Promise<void> =>
  tx.send(sql`INSERT INTO fact_keys (tenant_id, fact_key, memory_id) VALUES (${TENANT}, ${key}, ${memory_id})`);

/** Newest memories that are read per key. */
const MAX_PER_KEY = 20;

/** A memory that may state a fact, without its content, which may be long. */
export type FactMemory = Pick<
  VersionRow,
  'memory_id' | 'card_id' | 'kind' | 'agent_id' | 'trajectory_id' | 'created_at'
>;

const FACT_COLUMNS: Sql = sql`v.memory_id, v.card_id, v.kind, v.agent_id, v.trajectory_id, v.created_at`;

/** The readable memories under a key, newest first. */
export const memoriesByKey = (query: Query, key: string, now: number): Promise<FactMemory[]> =>
  query.all(
    sql`SELECT ${FACT_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.superseded_at IS NULL AND ${liveAt(now)} AND v.memory_id IN (
          SELECT k.memory_id FROM fact_keys k WHERE k.tenant_id = ${TENANT} AND k.fact_key = ${key}
            ORDER BY k.memory_id DESC LIMIT ${MAX_PER_KEY})
        ORDER BY v.memory_id DESC`,
  );

const current = <R>(query: Query, columns: Sql, memory_ids: readonly string[], now: number): Promise<R[]> =>
  query.all(
    sql`SELECT ${columns} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${memory_ids}) AND v.superseded_at IS NULL
          AND ${liveAt(now)} ORDER BY v.memory_id`,
  );

/** The readable artifacts and notes among these, without content. */
export const factMemories = (query: Query, memory_ids: readonly string[], now: number): Promise<FactMemory[]> =>
  current(query, FACT_COLUMNS, memory_ids, now);

/** The current versions of the readable artifacts and notes among these. */
export const currentMemories = (query: Query, memory_ids: readonly string[], now: number): Promise<VersionRow[]> =>
  current(query, VERSION_COLUMNS, memory_ids, now);
