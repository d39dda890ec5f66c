/** vectors, vector_docs and vector_progress: documents with and without vectors, and the lease of their maker. */
import { byDialect, insertRows, type Query, type Sql, sql, type Table, TENANT, type Tx } from '../../driver/index.js';
import type { NewDoc } from '../documents.js';
import type { Described } from '../searchable.js';

/** A document without a vector of a model. */
export interface UnembeddedDoc extends Pick<NewDoc, 'entity_type' | 'content_id' | 'name'>, Pick<Described, 'speaker'> {
  readonly doc_no: number;
  /** Failed attempts. */
  readonly attempts: number;
}

const COLUMNS: Sql = sql`d.doc_no, d.entity_type, d.content_id, d.name, d.speaker`;

/** Documents of a range that were not tried yet, in order. */
export const unembeddedDocs = (
  query: Query,
  model: string,
  after: number,
  to: number,
  limit: number,
): Promise<UnembeddedDoc[]> =>
  query.all(
    sql`SELECT ${COLUMNS}, 0 AS attempts FROM search_docs d
        WHERE d.tenant_id = ${TENANT} AND d.doc_no > ${after} AND d.doc_no <= ${to} AND d.gone IS NULL
          AND NOT EXISTS (SELECT 1 FROM vector_docs v
            WHERE v.tenant_id = ${TENANT} AND v.doc_no = d.doc_no AND v.model = ${model})
        ORDER BY d.doc_no LIMIT ${limit}`,
  );

/** Documents whose retry time has come. */
export const docsToRetry = (query: Query, model: string, now: number, limit: number): Promise<UnembeddedDoc[]> =>
  query.all(
    sql`SELECT ${COLUMNS}, v.attempts FROM vector_docs v CROSS JOIN search_docs d
        WHERE v.tenant_id = ${TENANT} AND v.model = ${model} AND v.retry_at IS NOT NULL AND v.retry_at <= ${now}
          AND d.tenant_id = ${TENANT} AND d.doc_no = v.doc_no AND d.gone IS NULL
        ORDER BY v.retry_at LIMIT ${limit}`,
  );

/** The stored vectors of these texts, by hash. */
export async function knownVectors(
  query: Query,
  model: string,
  hashes: readonly string[],
): Promise<Map<string, string>> {
  const rows = await query.all<{ content_hash: string; vector: string }>(
    sql`SELECT content_hash, vector FROM vectors
        WHERE tenant_id = ${TENANT} AND model = ${model} AND content_hash = ANY(${hashes})`,
  );
  return new Map(rows.map(({ content_hash, vector }) => [content_hash, vector]));
}

/** The outcome of an attempt for one document. */
export interface Outcome {
  readonly doc_no: number;
  readonly attempts: number;
  /** When to retry after a failure; null for never. */
  readonly retry_at: number | null;
  readonly made: MadeVector | null;
}

export interface MadeVector {
  readonly content_hash: string;
  readonly dimensions: number;
  readonly vector: string;
  readonly bits: string;
}

const vectorsTable: Table = {
  name: 'vectors',
  columns: { tenant_id: 'text', model: 'text', content_hash: 'text', vector: 'text' },
};

const docsTable = {
  name: 'vector_docs',
  columns: {
    tenant_id: 'text',
    doc_no: 'bigint',
    model: 'text',
    content_hash: 'text',
    dimensions: 'bigint',
    bits: 'bit varying',
    attempts: 'bigint',
    retry_at: 'bigint',
  },
} as const satisfies Table;

/**
 * Stores outcomes and returns how many, without documents that were erased meanwhile or that another server has stored.
 * If two servers still race for a row, the driver runs one again.
 */
export async function storeOutcomes(tx: Tx, model: string, outcomes: readonly Outcome[]): Promise<number> {
  const doc_nos = outcomes.map(({ doc_no }) => doc_no);
  // Locked, so that an erasure waits and then finds the vector; SKIP LOCKED, so that no deadlock can arise.
  const rows = await tx.all<{ doc_no: number }>(
    sql`SELECT d.doc_no FROM search_docs d
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = ANY(${doc_nos}) AND d.gone IS NULL
          AND NOT EXISTS (SELECT 1 FROM vector_docs v WHERE v.tenant_id = ${TENANT} AND v.doc_no = d.doc_no
            AND v.model = ${model} AND v.content_hash IS NOT NULL)
        ${byDialect({ sqlite: sql``, postgres: sql`FOR UPDATE OF d SKIP LOCKED` })}`,
  );
  const found = new Set(rows.map(({ doc_no }) => doc_no));
  const kept = outcomes.filter(({ doc_no }) => found.has(doc_no));
  if (kept.length === 0) return 0;
  const made = kept.flatMap((outcome) => outcome.made ?? []);
  await storeVectors(tx, model, made);
  // Deleted and inserted, not updated: caches read new rows by link_no.
  await tx.send(
    sql`DELETE FROM vector_docs WHERE tenant_id = ${TENANT} AND doc_no = ANY(${kept.map(({ doc_no }) => doc_no)})
          AND model = ${model} AND content_hash IS NULL`,
  );
  const none = { content_hash: null, dimensions: 0, bits: null };
  const docs = kept.map((outcome) => ({ model, ...outcome, ...(outcome.made ?? none) }));
  await insertRows(tx, docsTable, docs);
  return kept.length;
}

/** Locks the vectors that exist: an erasure of another document with the same text would delete them. */
async function storeVectors(tx: Tx, model: string, made: readonly MadeVector[]): Promise<void> {
  const vectors = new Map(made.map((one) => [one.content_hash, one.vector]));
  const rows = await tx.all<{ content_hash: string }>(
    sql`SELECT content_hash FROM vectors
        WHERE tenant_id = ${TENANT} AND model = ${model} AND content_hash = ANY(${[...vectors.keys()]})
        ORDER BY content_hash FOR UPDATE`,
  );
  for (const { content_hash } of rows) vectors.delete(content_hash);
  const added = [...vectors].sort(([a], [b]) => (a < b ? -1 : 1));
  const newRows = added.map(([content_hash, vector]) => [tx.tenant, model, content_hash, vector]);
  await tx.insert(vectorsTable, newRows);
}

interface Progress {
  readonly generation: number;
  readonly position: number;
}

export async function readProgress(query: Query, model: string): Promise<Progress | undefined> {
  const row = await query.get<Progress>(
    sql`SELECT generation, position FROM vector_progress WHERE tenant_id = ${TENANT} AND model = ${model}`,
  );
  return row && { generation: Number(row.generation), position: Number(row.position) };
}

/** Advances to a position; a later generation always counts. */
export const noteVectorProgress = (tx: Tx, model: string, { generation, position }: Progress): Promise<void> =>
  tx.send(
    sql`UPDATE vector_progress SET generation = ${generation}, position = ${position}
        WHERE tenant_id = ${TENANT} AND model = ${model}
          AND (generation < ${generation} OR (generation = ${generation} AND position < ${position}))`,
  );

/** Takes or renews the lease on making a tenant's vectors; false while another process holds it. */
export async function claimVectorMaking(
  tx: Tx,
  model: string,
  holder: string,
  now: number,
  until: number,
): Promise<boolean> {
  const taken = await tx.run(
    sql`INSERT INTO vector_progress (tenant_id, model, generation, position, holder, held_until, removed)
        VALUES (${TENANT}, ${model}, 0, 0, ${holder}, ${until}, 0)
        ON CONFLICT (tenant_id, model) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
          WHERE vector_progress.holder = excluded.holder OR vector_progress.held_until <= ${now}`,
  );
  return taken > 0;
}

export const releaseVectorMaking = (tx: Tx, model: string, holder: string): Promise<void> =>
  tx.send(
    sql`UPDATE vector_progress SET held_until = 0
        WHERE tenant_id = ${TENANT} AND model = ${model} AND holder = ${holder}`,
  );

/** The number of searchable documents that were not tried yet. */
export const countUnembedded = (model: string): Sql =>
  sql`SELECT COUNT(*) AS lacking FROM search_docs d
      WHERE d.tenant_id = ${TENANT} AND d.gone IS NULL
        AND NOT EXISTS (SELECT 1 FROM vector_docs v
          WHERE v.tenant_id = ${TENANT} AND v.doc_no = d.doc_no AND v.model = ${model})`;
