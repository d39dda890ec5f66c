/**
 * Where search_docs is not what the content says: for the doctor, and for indexing anew. A module that runs beside the
 * event loop, a page at a time.
 */
import { type Query, sql, TENANT } from '../../driver/index.js';
import { columnsOf, DOC_COLUMNS, type DocColumns, type NewDoc } from '../../index/sql.js';
import { contentKey, sourceOf } from '../search/contents.js';
import { contentsAfter, SOURCES, type Source } from './expected-docs.js';
import { presentAmong } from './present-contents.js';

/** The contents, in three lists, then the rows: what they are of may be gone. */
export const STAGES = [...SOURCES, 'rows'] as const;
export type Stage = (typeof STAGES)[number];

export type Drift =
  | { readonly kind: 'missing' | 'different'; readonly doc: NewDoc; readonly columns: readonly string[] }
  | {
      readonly kind: 'gone' | 'double';
      readonly doc_no: number;
      readonly entity_type: string;
      readonly content_id: string;
    };

export interface DriftRequest {
  readonly tenant: string;
  readonly stage: Stage;
  readonly after: string;
  readonly limit: number;
  readonly now: number;
}

export interface DriftPage {
  readonly drifts: readonly Drift[];
  readonly looked_at: number;
  readonly next: string | null;
}

interface StoredDoc extends Omit<DocColumns, 'entity_type' | 'content_id'> {
  readonly doc_no: number;
  readonly entity_type: string;
  readonly content_id: string;
}

export async function run(query: Query, input: unknown): Promise<DriftPage> {
  const { stage, after, limit, now } = input as DriftRequest;
  return stage === 'rows' ? rowsAfter(query, after, limit) : driftAmong(query, stage, after, limit, now);
}

async function driftAmong(query: Query, source: Source, after: string, limit: number, now: number): Promise<DriftPage> {
  const { contents, next } = await contentsAfter(query, source, after, limit, now);
  const ids = contents.map(({ content_id }) => content_id);
  const rows =
    ids.length === 0
      ? []
      : await query.all<StoredDoc>(
          sql`SELECT d.doc_no, ${DOC_COLUMNS} FROM search_docs d
              WHERE d.tenant_id = ${TENANT} AND d.content_id = ANY(${ids}) ORDER BY d.doc_no`,
        );
  const drifts = contents.flatMap(({ content_id, doc }): Drift[] => {
    const [first, ...others] = rows.filter(
      (row) => row.content_id === content_id && `${sourceOf(row.entity_type)}s` === source,
    );
    const found = others.filter(({ terms }) => terms !== null).map((row) => asDrift('double', row));
    if (!doc) return first && first.terms !== null ? [asDrift('gone', first), ...found] : found;
    if (!first || first.terms === null) return [{ kind: 'missing', doc, columns: [] }, ...found];
    const columns = differing(first, doc);
    return columns.length === 0 ? found : [{ kind: 'different', doc, columns }, ...found];
  });
  return { drifts, looked_at: contents.length, next };
}

const asDrift = (
  kind: 'gone' | 'double',
  { doc_no, entity_type, content_id }: Pick<StoredDoc, 'doc_no' | 'entity_type' | 'content_id'>,
): Drift => ({ kind, doc_no: Number(doc_no), entity_type, content_id });

/** Terms in any order are the same terms. */
const inOrder = (terms: string): string => (terms.match(/.{8}/gs) ?? []).sort().join('');

/** Where a note was learned counts when it is written: what it is linked to may change after that. */
const isLoose = ({ entity_type }: NewDoc, name: keyof DocColumns): boolean =>
  entity_type === 'note' && name === 'trajectory_id';

function differing(row: StoredDoc, doc: NewDoc): string[] {
  const wanted = columnsOf(doc);
  return (Object.keys(wanted) as (keyof DocColumns)[]).filter((name) => {
    const [is, should] = [row[name as keyof StoredDoc], wanted[name]];
    if (is === should || isLoose(doc, name)) return false;
    return name !== 'terms' || inOrder(String(is)) !== inOrder(String(should));
  });
}

/** Rows that are found, and whose content is gone. By what they are of, which the index of the table leads to. */
async function rowsAfter(query: Query, after: string, limit: number): Promise<DriftPage> {
  const at = after.indexOf(' ');
  const [doc_no, content_id] = [Number(after.slice(0, Math.max(at, 0))), after.slice(at + 1)];
  const rows = await query.all<Pick<StoredDoc, 'doc_no' | 'entity_type' | 'content_id' | 'terms'>>(
    sql`SELECT d.doc_no, d.entity_type, d.content_id, CASE WHEN d.terms IS NULL THEN NULL ELSE '' END AS terms
        FROM search_docs d
        WHERE d.tenant_id = ${TENANT} AND (d.content_id, d.doc_no) > (${content_id}, ${doc_no})
        ORDER BY d.content_id, d.doc_no LIMIT ${limit}`,
  );
  const found = rows.filter(({ terms }) => terms !== null);
  const there = await presentAmong(query, found);
  const gone = found.filter((row) => !there.has(contentKey(row)));
  return {
    drifts: gone.map((row) => asDrift('gone', row)),
    looked_at: rows.length,
    next: rows.length < limit ? null : `${rows.at(-1)!.doc_no} ${rows.at(-1)!.content_id}`,
  };
}
