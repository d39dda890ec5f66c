/**
 * What happens to documents after they were added: hidden, because their content was erased, deleted or superseded; given
 * another lifetime; moved to another content. Code that changes content says so here, in the same transaction. It is done
 * at the end of the commit, behind the documents that the commit adds; `cairn doctor` finds what was forgotten.
 */
import type { LateRows, Sql, Tx } from '../driver/index.js';
import { byDialect, join, sql, TENANT } from '../driver/index.js';
import { type LateWriter, lateWriters } from '../engine/sql.js';
import { type AddedDocs, insertDocs } from './documents.js';
import { foldOverflow } from './tail-limit.js';
import { forgetVectors } from './vectors/removal.js';

/** The kinds of content. Clients choose ids, so a card, a packet and a thought may have the same one. */
type ContentKind = 'card' | 'packet' | 'thought';

const OF_KIND: Readonly<Record<ContentKind, Sql>> = {
  card: sql`entity_type NOT IN ('packet', 'thought')`,
  packet: sql`entity_type = 'packet'`,
  thought: sql`entity_type = 'thought'`,
};

interface HiddenDocs extends LateRows {
  readonly kind: 'hidden';
  readonly of: ContentKind;
  readonly content_ids: readonly string[];
}

interface ChangedLifetime extends LateRows {
  readonly kind: 'lifetime';
  readonly card_ids: readonly string[];
  readonly expires_at: number | null;
  readonly held_by: string | null;
}

interface MovedDoc extends LateRows {
  readonly kind: 'moved';
  readonly of: ContentKind;
  readonly from: string;
  readonly to: string;
}

type DocChange = AddedDocs | HiddenDocs | ChangedLifetime | MovedDoc;

/** Takes documents out of the search, because of their contents. */
export function hideDocs(tx: Tx, of: ContentKind, content_ids: readonly string[]): void {
  if (content_ids.length === 0) return;
  const rows: HiddenDocs = { kind: 'hidden', of, content_ids };
  tx.late(rows);
}

/** The lifetime of cards changed. */
export function changeDocLifetime(
  tx: Tx,
  card_ids: readonly string[],
  { expires_at, held_by }: { readonly expires_at: number | null; readonly held_by: string | null },
): void {
  if (card_ids.length === 0) return;
  const rows: ChangedLifetime = { kind: 'lifetime', card_ids, expires_at, held_by };
  tx.late(rows);
}

/** The content of a document got another id. */
export function moveDoc(tx: Tx, of: ContentKind, from: string, to: string): void {
  const rows: MovedDoc = { kind: 'moved', of, from, to };
  tx.late(rows);
}

/** SQLite would rather scan all documents of the tenant than look up several contents. */
const BY_CONTENT: Sql = byDialect({
  sqlite: sql`search_docs INDEXED BY search_docs_by_content`,
  postgres: sql`search_docs`,
});

const isAdded = (one: LateRows): one is AddedDocs => one.kind === 'added';

/** Empties documents that are found by their contents, or by other columns. */
export async function emptyDocs(tx: Tx, which: Sql, docs: Sql = sql`search_docs`): Promise<number> {
  const rows = await tx.returning<{ doc_no: number }>(
    sql`UPDATE ${docs} SET gone = 1, name = NULL, speaker = NULL, tags = NULL, subject_ids = NULL
        WHERE tenant_id = ${TENANT} AND gone IS NULL AND ${which} RETURNING doc_no`,
  );
  if (rows.length === 0) return 0;
  const doc_nos = rows.map(({ doc_no }) => Number(doc_no));
  await tx.insert(
    deadTable,
    doc_nos.map((doc_no) => [tx.tenant, doc_no]),
  );
  await forgetVectors(tx, doc_nos);
  return rows.length;
}

const deadTable = { name: 'search_dead', columns: { tenant_id: 'text', doc_no: 'bigint' } } as const;

/** Makes caches read earlier documents again, after a change that was not queued. */
export const noteDocChange = (tx: Tx): Promise<void> =>
  tx.send(sql`UPDATE tenants SET doc_changes = doc_changes + 1 WHERE tenant_id = ${TENANT}`);

async function apply(tx: Tx, change: Exclude<DocChange, AddedDocs>): Promise<void> {
  if (change.kind === 'lifetime') {
    await tx.send(
      sql`UPDATE ${BY_CONTENT} SET expires_at = ${change.expires_at}, held_by = ${change.held_by}
          WHERE tenant_id = ${TENANT} AND content_id = ANY(${change.card_ids}) AND ${OF_KIND.card}`,
    );
  } else if (change.kind === 'moved') {
    await tx.send(
      sql`UPDATE search_docs SET content_id = ${change.to}
          WHERE tenant_id = ${TENANT} AND content_id = ${change.from} AND ${OF_KIND[change.of]}`,
    );
  } else {
    await emptyDocs(tx, join([sql`content_id = ANY(${change.content_ids})`, OF_KIND[change.of]], ' AND '), BY_CONTENT);
  }
}

const documents: LateWriter = {
  count: (rows) => ({
    documents: rows.reduce((sum, one) => sum + (isAdded(one) ? one.docs.length : 0), 0),
    changes: rows.some((one) => !isAdded(one)) ? 1 : 0,
  }),
  async write(tx, rows, { first, folded, ...limit }) {
    const docs = rows.flatMap((one) => (isAdded(one) ? one.docs : []));
    if (docs.length > 0) await insertDocs(tx, docs, first);
    for (const one of rows as readonly DocChange[]) if (one.kind !== 'added') await apply(tx, one);
    if (docs.length > 0) await foldOverflow(tx, first + docs.length - 1 - folded, limit);
  },
};

lateWriters.fill('documents', documents);
