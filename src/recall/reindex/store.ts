/** Repairs search_docs and its stored count, and stores the progress of a reindexing. */
import { acrossTenants, type Query, sql, TENANT, type Tx } from '../../driver/index.js';
import {
  addDocs,
  columnsOf,
  DOCS_BY_CONTENT,
  emptyDocs,
  GENERATION,
  type NewDoc,
  noteDocChange,
} from '../../index/sql.js';
import { contentKey } from '../search/contents.js';
import type { Drift } from './drift.js';
import { presentAmong } from './present-contents.js';

/**
 * Makes rows match their content, if it still exists; returns the number of changes. Rows are updated or emptied, never
 * deleted: a deletion moves other rows within the file and leaves copies of their content behind.
 */
export async function repairDocs(tx: Tx, drifts: readonly Drift[]): Promise<number> {
  const docs = drifts.flatMap((drift) => ('doc' in drift ? [drift.doc] : []));
  const gone = drifts.flatMap((drift) => ('doc' in drift ? [] : [drift.doc_no]));
  const present = await presentAmong(tx, docs, true);
  const ids = docs.map(({ content_id }) => content_id);
  const rows = await tx.all<{ content_id: string; entity_type: string; doc_no: number }>(
    sql`SELECT d.content_id, d.entity_type, d.doc_no FROM ${DOCS_BY_CONTENT}
        WHERE d.tenant_id = ${TENANT} AND d.content_id = ANY(${ids}) AND d.gone IS NULL ORDER BY d.doc_no DESC`,
  );
  // Keeps the lowest doc_no of each content, which comes last.
  const known = new Map(rows.map((row) => [contentKey(row), Number(row.doc_no)]));
  const fresh: NewDoc[] = [];
  let changed = 0;
  for (const doc of docs) {
    const lifetime = present.get(contentKey(doc));
    if (!lifetime) continue;
    const doc_no = known.get(contentKey(doc));
    if (doc_no === undefined) fresh.push({ ...doc, ...lifetime });
    else await updateDoc(tx, doc_no, { ...doc, ...lifetime });
    changed++;
  }
  addDocs(tx, fresh);
  const emptied = gone.length === 0 ? 0 : await emptyDocs(tx, sql`doc_no = ANY(${gone})`);
  await noteDocChange(tx);
  return changed + emptied;
}

async function updateDoc(tx: Tx, doc_no: number, doc: NewDoc): Promise<void> {
  const row = columnsOf(doc);
  await tx.send(
    sql`UPDATE search_docs SET entity_type = ${row.entity_type}, entity_id = ${row.entity_id}, type = ${row.type},
          name = ${row.name}, trajectory_id = ${row.trajectory_id}, scope_id = ${row.scope_id},
          position = ${row.position}, role = ${row.role}, speaker = ${row.speaker}, agent_id = ${row.agent_id},
          abstraction_level = ${row.abstraction_level}, category = ${row.category}, tags = ${row.tags},
          occurred_at = ${row.occurred_at}, created_at = ${row.created_at}, expires_at = ${row.expires_at},
          held_by = ${row.held_by}
        WHERE tenant_id = ${TENANT} AND doc_no = ${doc_no}`,
  );
}

export async function countContents(query: Query): Promise<number> {
  const row = await query.get<{ total: number }>(
    sql`SELECT (SELECT COUNT(*) FROM cards WHERE tenant_id = ${TENANT} AND erased_at IS NULL)
          + (SELECT COUNT(*) FROM packet_store WHERE tenant_id = ${TENANT} AND packet_type NOT LIKE 'cairn.%')
          + (SELECT COUNT(*) FROM thoughts WHERE tenant_id = ${TENANT})
          + (SELECT COUNT(*) FROM search_docs WHERE tenant_id = ${TENANT}) AS total`,
  );
  return Number(row!.total);
}

const VERSION = 'search_version';
const PROGRESS = 'search_reindex';

async function readSetting(query: Query, name: string): Promise<string | undefined> {
  const row = await query.get<{ value: string }>(acrossTenants`SELECT value FROM store_meta WHERE name = ${name}`);
  return row?.value;
}

const putSetting = (tx: Tx, name: string, value: string): Promise<number> =>
  tx.run(
    acrossTenants`INSERT INTO store_meta (name, value) VALUES (${name}, ${value})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  );

/** The analysis version of the whole index; undefined for a store without one. */
export async function indexedVersion(query: Query): Promise<number | undefined> {
  const value = await readSetting(query, VERSION);
  return value === undefined ? undefined : Number(value);
}

export async function setIndexedVersion(tx: Tx, version: number): Promise<void> {
  await putSetting(tx, VERSION, String(version));
}

/** Invalidates in-memory copies of rows. */
export async function raiseGeneration(tx: Tx): Promise<void> {
  await tx.run(
    acrossTenants`INSERT INTO store_meta (name, value) VALUES (${GENERATION}, '1')
      ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(store_meta.value AS BIGINT) + 1 AS TEXT)`,
  );
}

/** The setting with the progress of a reindexing of all tenants, or of one. */
const progressName = (only: string | null): string => (only === null ? PROGRESS : `${PROGRESS}:${only}`);

export const readProgress = (query: Query, only: string | null): Promise<string | undefined> =>
  readSetting(query, progressName(only));

/** Takes over from another process, if there is one. */
export async function startProgress(tx: Tx, only: string | null, place: string): Promise<void> {
  await putSetting(tx, progressName(only), place);
}

/** False if another process has taken over. */
export async function moveProgress(tx: Tx, only: string | null, from: string, to: string): Promise<boolean> {
  const changed = await tx.run(
    acrossTenants`UPDATE store_meta SET value = ${to} WHERE name = ${progressName(only)} AND value = ${from}`,
  );
  return changed > 0;
}

export async function endProgress(tx: Tx, only: string | null, from: string): Promise<boolean> {
  const changed = await tx.run(
    acrossTenants`DELETE FROM store_meta WHERE name = ${progressName(only)} AND value = ${from}`,
  );
  return changed > 0;
}
