/** Compares search_docs with the content, one page per call, off the event loop: for the doctor and for reindexing. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import { columnsOf, DOC_COLUMNS, DOCS_BY_CONTENT, type DocColumns, type NewDoc } from '../../index/sql.js';
import { contentKey, sourceOf } from '../search/contents.js';
import { contentsAfter, type PageRequest, SOURCES, type Source } from './expected-docs.js';
import { presentAmong } from './present-contents.js';

/** The contents of each source, then the rows of search_docs, whose content may be gone. */
export const STAGES = [...SOURCES, 'rows'] as const;
export type Stage = (typeof STAGES)[number];

interface DocKey {
  readonly doc_no: number;
  readonly entity_type: string;
  readonly content_id: string;
}

export type Drift =
  | { readonly kind: 'missing' | 'different'; readonly doc: NewDoc; readonly columns: readonly string[] }
  | (DocKey & { readonly kind: 'gone' | 'double' });

export interface DriftRequest extends PageRequest {
  readonly tenant: string;
  readonly stage: Stage;
}

export interface DriftPage {
  readonly drifts: readonly Drift[];
  readonly checked: number;
  readonly next: string | null;
}

type StoredDoc = DocKey & Omit<DocColumns, keyof DocKey> & { readonly gone: number | null };

export async function run(query: Query, input: unknown): Promise<DriftPage> {
  const { stage, ...page } = input as DriftRequest;
  return stage === 'rows' ? rowsAfter(query, page) : driftAmong(query, stage, page);
}

async function driftAmong(query: Query, source: Source, page: PageRequest): Promise<DriftPage> {
  const { contents, next } = await contentsAfter(query, source, page);
  const ids = contents.map(({ content_id }) => content_id);
  const rows =
    ids.length === 0
      ? []
      : await query.all<StoredDoc>(
          sql`SELECT d.doc_no, d.gone, ${DOC_COLUMNS} FROM ${DOCS_BY_CONTENT}
              WHERE d.tenant_id = ${TENANT} AND d.content_id = ANY(${ids}) ORDER BY d.doc_no`,
        );
  const drifts = contents.flatMap(({ content_id, doc }): Drift[] => {
    const [first, ...others] = rows.filter(
      (row) => row.gone === null && row.content_id === content_id && `${sourceOf(row.entity_type)}s` === source,
    );
    const found = others.map((row) => asDrift('double', row));
    if (!doc) return first ? [asDrift('gone', first), ...found] : found;
    if (!first) return [{ kind: 'missing', doc, columns: [] }, ...found];
    const columns = differing(first, doc);
    return columns.length === 0 ? found : [{ kind: 'different', doc, columns }, ...found];
  });
  return { drifts, checked: contents.length, next };
}

const asDrift = (kind: 'gone' | 'double', { doc_no, entity_type, content_id }: DocKey): Drift => ({
  kind,
  doc_no: Number(doc_no),
  entity_type,
  content_id,
});

/** The trajectory of a note is fixed when it is written; its edges may change afterwards. */
const mayDiffer = ({ entity_type }: NewDoc, name: keyof DocColumns): boolean =>
  entity_type === 'note' && name === 'trajectory_id';

function differing(row: StoredDoc, doc: NewDoc): string[] {
  const wanted = columnsOf(doc);
  return (Object.keys(wanted) as (keyof DocColumns)[]).filter((name) => {
    const [is, should] = [row[name as keyof StoredDoc], wanted[name]];
    return is !== should && !mayDiffer(doc, name);
  });
}

/** Searchable rows whose content is gone, by content_id, which has an index. */
async function rowsAfter(query: Query, { after, limit }: PageRequest): Promise<DriftPage> {
  const at = after.indexOf(' ');
  const [doc_no, content_id] = [Number(after.slice(0, Math.max(at, 0))), after.slice(at + 1)];
  const rows = await query.all<DocKey & Pick<StoredDoc, 'gone'>>(
    sql`SELECT d.doc_no, d.entity_type, d.content_id, d.gone FROM search_docs d
        WHERE d.tenant_id = ${TENANT} AND (d.content_id, d.doc_no) > (${content_id}, ${doc_no})
        ORDER BY d.content_id, d.doc_no LIMIT ${limit}`,
  );
  const found = rows.filter(({ gone }) => gone === null);
  const present = await presentAmong(query, found);
  const gone = found.filter((row) => !present.has(contentKey(row)));
  return {
    drifts: gone.map((row) => asDrift('gone', row)),
    checked: rows.length,
    next: rows.length < limit ? null : `${rows.at(-1)!.doc_no} ${rows.at(-1)!.content_id}`,
  };
}
