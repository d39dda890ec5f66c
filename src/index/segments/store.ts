/** search_segments, search_blocks and search_dead, and the columns of the head row that say how far documents are folded. */
import { byDialect, type Query, sql, type Table, TENANT, type Tx } from '../../driver/index.js';
import { decodeHeader, encodeHeader, type Header, liveDocs } from './header.js';
import type { Purged, Segment } from './making.js';

/** The state of the index of a tenant. Equal states have equal segments and, but for newer documents, an equal tail. */
export interface IndexState {
  /** The newest document. */
  readonly last: number;
  /** Documents up to here are in segments; later ones are the tail. */
  readonly folded: number;
  /** Rises when a document is hidden, gets another lifetime, or moves. */
  readonly changes: number;
  /** Rises with every change of the segments. */
  readonly revision: number;
}

const EMPTY: IndexState = { last: 0, folded: 0, changes: 0, revision: 0 };

export async function indexState(query: Query): Promise<IndexState> {
  const row = await query.get<IndexState>(
    sql`SELECT doc_no AS last, folded_doc AS folded, doc_changes AS changes, index_revision AS revision FROM tenants
        WHERE tenant_id = ${TENANT}`,
  );
  return row ?? EMPTY;
}

/** A range of document numbers, both ends included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface SegmentRow {
  readonly segment: number;
  readonly first_doc: number;
  readonly last_doc: number;
  /** Documents that were not purged. */
  readonly docs: number;
  readonly blocks: number;
  /** The revision that changed it last. */
  readonly revision: number;
}

/** In the order of their documents, which do not overlap. */
export const listSegments = (query: Query): Promise<SegmentRow[]> =>
  query.all<SegmentRow>(
    sql`SELECT segment, first_doc, last_doc, docs, blocks, revision FROM search_segments
        WHERE tenant_id = ${TENANT} ORDER BY first_doc`,
  );

export async function readHeaders(query: Query, segments: readonly number[]): Promise<Map<number, Uint8Array>> {
  const rows = await query.all<{ segment: number; header: Uint8Array }>(
    sql`SELECT segment, header FROM search_segments WHERE tenant_id = ${TENANT} AND segment = ANY(${segments})`,
  );
  return new Map(rows.map(({ segment, header }) => [Number(segment), header]));
}

interface BlockPlace {
  readonly segment: number;
  readonly block: number;
}

interface BlockRow extends BlockPlace {
  readonly data: Uint8Array;
}

export function readBlocks(query: Query, places: readonly BlockPlace[]): Promise<BlockRow[]> {
  const segments = places.map(({ segment }) => segment);
  const blocks = places.map(({ block }) => block);
  return query.all<BlockRow>(
    byDialect({
      sqlite: sql`SELECT b.segment, b.block, b.data
        FROM json_each(${JSON.stringify(places.map(({ segment, block }) => [segment, block]))}) p
        CROSS JOIN search_blocks b
        WHERE b.tenant_id = ${TENANT} AND b.segment = p.value ->> 0 AND b.block = p.value ->> 1`,
      postgres: sql`SELECT b.segment, b.block, b.data
        FROM unnest(${segments}::bigint[], ${blocks}::bigint[]) p(segment, block)
        CROSS JOIN LATERAL (SELECT * FROM search_blocks x
          WHERE x.tenant_id = ${TENANT} AND x.segment = p.segment AND x.block = p.block LIMIT 1) b`,
    }),
  );
}

/** A segment with all its blocks. */
export async function readSegment(query: Query, segment: number): Promise<Segment> {
  const header = (await readHeaders(query, [segment])).get(segment)!;
  const rows = await query.all<{ data: Uint8Array }>(
    sql`SELECT data FROM search_blocks WHERE tenant_id = ${TENANT} AND segment = ${segment} ORDER BY block`,
  );
  return { header: decodeHeader(header), blocks: rows.map(({ data }) => data) };
}

/** Hidden documents whose postings are still in segments, in order. */
export async function deadDocs(
  query: Query,
  after = 0,
  limit = Number.MAX_SAFE_INTEGER,
  to = Number.MAX_SAFE_INTEGER,
): Promise<number[]> {
  const rows = await query.all<{ doc_no: number }>(
    sql`SELECT d.doc_no FROM tenants t CROSS JOIN search_dead d
        WHERE t.tenant_id = ${TENANT} AND d.tenant_id = ${TENANT} AND d.doc_no > ${after} AND d.doc_no <= ${to}
          AND d.doc_no <= t.folded_doc ORDER BY d.doc_no LIMIT ${limit}`,
  );
  return rows.map(({ doc_no }) => Number(doc_no));
}

const blocksTable = {
  name: 'search_blocks',
  columns: { tenant_id: 'text', segment: 'bigint', block: 'bigint', data: 'bytea' },
} as const satisfies Table;

export const insertBlocks = (tx: Tx, segment: number, blocks: readonly Uint8Array[], from = 0): Promise<void> =>
  tx.insert(
    blocksTable,
    blocks.map((data, i) => [tx.tenant, segment, from + i, data]),
  );

const segmentsTable = {
  name: 'search_segments',
  columns: {
    tenant_id: 'text',
    segment: 'bigint',
    first_doc: 'bigint',
    last_doc: 'bigint',
    docs: 'bigint',
    blocks: 'bigint',
    revision: 'bigint',
    header: 'bytea',
  },
} as const satisfies Table;

/** Adds a segment; its blocks are inserted apart. `last_doc`: documents up to there are in it, or hidden. */
export function insertSegment(
  tx: Tx,
  { segment, first_doc, last_doc, revision }: Pick<SegmentRow, 'segment' | 'first_doc' | 'last_doc' | 'revision'>,
  header: Header,
): Promise<void> {
  const { length } = header.codes;
  return tx.insert(segmentsTable, [
    [tx.tenant, segment, first_doc, last_doc, liveDocs(header), length, revision, encodeHeader(header)],
  ]);
}

/** Raises the revision of the index. A new segment has the new revision as its number: none is ever used twice. */
export async function raiseRevision(tx: Tx): Promise<number> {
  const [row] = await tx.returning<{ index_revision: number }>(
    sql`UPDATE tenants SET index_revision = index_revision + 1 WHERE tenant_id = ${TENANT} RETURNING index_revision`,
  );
  return Number(row!.index_revision);
}

/** Locks the state of the index against commits of others. */
export async function lockIndex(tx: Tx): Promise<IndexState> {
  const row = await tx.get<IndexState>(
    sql`SELECT doc_no AS last, folded_doc AS folded, doc_changes AS changes, index_revision AS revision FROM tenants
        WHERE tenant_id = ${TENANT} FOR UPDATE`,
  );
  return row ?? EMPTY;
}

export const setFolded = (tx: Tx, folded: number): Promise<void> =>
  tx.send(sql`UPDATE tenants SET folded_doc = ${folded} WHERE tenant_id = ${TENANT}`);

/** Whether these segments still exist as they were read. */
export async function areUnchanged(
  query: Query,
  segments: readonly Pick<SegmentRow, 'segment' | 'revision'>[],
): Promise<boolean> {
  const rows = await query.all<{ segment: number; revision: number }>(
    sql`SELECT segment, revision FROM search_segments
        WHERE tenant_id = ${TENANT} AND segment = ANY(${segments.map(({ segment }) => segment)})`,
  );
  const known = new Map(rows.map((row) => [Number(row.segment), Number(row.revision)]));
  return segments.every(({ segment, revision }) => known.get(segment) === revision);
}

export async function replaceBlocks(tx: Tx, segment: number, blocks: Purged['blocks']): Promise<void> {
  for (const { block, data } of blocks)
    await tx.send(
      sql`UPDATE search_blocks SET data = ${data}
          WHERE tenant_id = ${TENANT} AND segment = ${segment} AND block = ${block}`,
    );
}

export const replaceHeader = (tx: Tx, segment: number, revision: number, { header, docs }: Purged): Promise<void> =>
  tx.send(
    sql`UPDATE search_segments SET header = ${encodeHeader(header)}, docs = ${docs}, revision = ${revision}
        WHERE tenant_id = ${TENANT} AND segment = ${segment}`,
  );

export const setSegmentRevision = (tx: Tx, segment: number, revision: number): Promise<void> =>
  tx.send(sql`UPDATE search_segments SET revision = ${revision} WHERE tenant_id = ${TENANT} AND segment = ${segment}`);

export async function countBlocks(query: Query, segment: number): Promise<number> {
  const row = await query.get<{ blocks: number }>(
    sql`SELECT COUNT(*) AS blocks FROM search_blocks WHERE tenant_id = ${TENANT} AND segment = ${segment}`,
  );
  return Number(row!.blocks);
}

/** Overwritten before it is deleted: SQLite may copy what is left of a deleted row to another page. */
export async function deleteSegmentRow(tx: Tx, segment: number): Promise<void> {
  if (tx.dialect === 'sqlite')
    await tx.send(
      sql`UPDATE search_segments SET header = zeroblob(length(header))
          WHERE tenant_id = ${TENANT} AND segment = ${segment}`,
    );
  await tx.send(sql`DELETE FROM search_segments WHERE tenant_id = ${TENANT} AND segment = ${segment}`);
}

/**
 * Deletes some blocks without a segment, from the last; returns how many. Checks again that no segment has them: a merge
 * may have finished since they were found.
 */
export async function deleteOrphanBlocks(tx: Tx, segment: number, limit: number): Promise<number> {
  await lockIndex(tx);
  const last = sql`segment = ${segment} AND block IN (
    SELECT block FROM search_blocks WHERE tenant_id = ${TENANT} AND segment = ${segment}
      AND NOT EXISTS (SELECT 1 FROM search_segments s WHERE s.tenant_id = ${TENANT} AND s.segment = ${segment})
    ORDER BY block DESC LIMIT ${limit})`;
  if (tx.dialect === 'sqlite')
    await tx.send(sql`UPDATE search_blocks SET data = zeroblob(length(data)) WHERE tenant_id = ${TENANT} AND ${last}`);
  return tx.run(sql`DELETE FROM search_blocks WHERE tenant_id = ${TENANT} AND ${last}`);
}

/** A segment number of blocks whose segment was never finished, or was deleted; undefined if there are none. */
export async function orphanBlocks(query: Query): Promise<number | undefined> {
  const row = await query.get<{ segment: number }>(
    sql`SELECT b.segment FROM search_blocks b WHERE b.tenant_id = ${TENANT} AND b.block = 0
          AND NOT EXISTS (SELECT 1 FROM search_segments s WHERE s.tenant_id = ${TENANT} AND s.segment = b.segment)
        LIMIT 1`,
  );
  return row && Number(row.segment);
}

export const forgetDead = (tx: Tx, doc_nos: readonly number[]): Promise<void> =>
  tx.send(sql`DELETE FROM search_dead WHERE tenant_id = ${TENANT} AND doc_no = ANY(${doc_nos})`);
