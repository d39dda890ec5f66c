/** fact_keys: by what a fact is about, where it is kept. The keys are keyed hashes, from which nothing can be guessed. */
import { createHmac } from 'node:crypto';
import { type Query, type Sql, sql, type Table, TENANT, type Tx } from '../../driver/index.js';
import { livesAt, VERSION_COLUMNS, VERSIONS, type VersionRow } from '../../memory/sql.js';
import type { ExtractedFact } from './facts.js';

/** Facts with the same key are about the same: they say the same, or contradict each other, or only may. */
export function factKey(erasure_key: string, tenant: string, fact: ExtractedFact): string {
  const about = fact.slot === '' ? ['said', fact.content.toLowerCase()] : [fact.subject, fact.slot];
  return createHmac('sha256', erasure_key)
    .update(JSON.stringify([tenant, fact.kind, ...about]))
    .digest('hex');
}

const keysTable: Table = { name: 'fact_keys', columns: { tenant_id: 'text', fact_key: 'text', memory_id: 'text' } };

/** Of no memory: whoever looks for a fact locks it, so that of two that find the same at once one sees the other's. */
const GUARD = '';

export async function lockFacts(tx: Tx, keys: readonly string[]): Promise<void> {
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

export function noteFact(tx: Tx, key: string, memory_id: string): Promise<void> {
  return tx.insert(keysTable, [[tx.tenant, key, memory_id]]);
}

/** How many are looked at of one key: what was said of it last counts. */
const FEW = 20;

/** Where a fact may be kept already; without its content, which may be long. */
export interface FactPlace
  extends Pick<
    VersionRow,
    'memory_id' | 'card_id' | 'kind' | 'agent_id' | 'trajectory_id' | 'abstraction_level' | 'created_at'
  > {}

const PLACE_COLUMNS: Sql = sql`v.memory_id, v.card_id, v.kind, v.agent_id, v.trajectory_id, v.abstraction_level,
  v.created_at`;

/** What is kept under a key and can be read, the newest first. */
export function placesByFact(query: Query, key: string, now: number): Promise<FactPlace[]> {
  return query.all<FactPlace>(
    sql`SELECT ${PLACE_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.superseded_at IS NULL AND ${livesAt(now)} AND v.memory_id IN (
          SELECT k.memory_id FROM fact_keys k WHERE k.tenant_id = ${TENANT} AND k.fact_key = ${key}
            ORDER BY k.memory_id DESC LIMIT ${FEW})
        ORDER BY v.memory_id DESC`,
  );
}

/** The same of some artifacts and notes, if they can be read. */
export function currentPlaces(query: Query, memory_ids: readonly string[], now: number): Promise<FactPlace[]> {
  return query.all<FactPlace>(
    sql`SELECT ${PLACE_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${memory_ids}) AND v.superseded_at IS NULL
          AND ${livesAt(now)} ORDER BY v.memory_id`,
  );
}

/** Some artifacts and notes as they are, if they can be read. */
export function currentMemories(query: Query, memory_ids: readonly string[], now: number): Promise<VersionRow[]> {
  return query.all<VersionRow>(
    sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${memory_ids}) AND v.superseded_at IS NULL
          AND ${livesAt(now)} ORDER BY v.memory_id`,
  );
}
