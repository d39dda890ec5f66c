/** Compares the index with the terms of search_docs, and repairs it. */
import { acrossTenants, type Driver, type Sql, sql, type Tx } from '../../driver/index.js';

/** A document whose index entries differ from its terms, or that exists only in the index. */
interface WrongEntries {
  readonly doc_no: number;
  readonly terms: number;
  readonly entries: number;
}

/** The index entries on SQLite, on the long-read connection. FTS5's own check needs texts, which this table lacks. */
const ENTRIES: Sql = acrossTenants`CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_entries
  USING fts5vocab(main, search_index, instance)`;

/** Checksums over the terms of the index and of a row: eight characters each, seven of them the code. */
const MARK: Sql = acrossTenants`SUM(UNICODE(e.term) + 1009 * UNICODE(SUBSTR(e.term, 4, 1)) + 7919 * UNICODE(SUBSTR(e.term, 7, 1)))`;
const MARK_OF_ROW: Sql = acrossTenants`(WITH RECURSIVE place(n) AS (
    SELECT 1 WHERE LENGTH(d.terms) >= 8 UNION ALL SELECT n + 8 FROM place WHERE n + 8 < LENGTH(d.terms))
  SELECT SUM(UNICODE(SUBSTR(d.terms, n, 1)) + 1009 * UNICODE(SUBSTR(d.terms, n + 3, 1))
    + 7919 * UNICODE(SUBSTR(d.terms, n + 6, 1))) FROM place)`;

const wrongOnSqlite = (limit: number): Sql =>
  acrossTenants`SELECT COALESCE(d.doc_no, i.doc) AS doc_no, COALESCE(d.n, 0) AS terms, COALESCE(i.n, 0) AS entries
    FROM (SELECT d.doc_no, LENGTH(d.terms) / 8 AS n, ${MARK_OF_ROW} AS mark FROM search_docs d WHERE d.terms IS NOT NULL) d
    FULL JOIN (SELECT e.doc, COUNT(*) AS n, ${MARK} AS mark FROM temp.search_entries e GROUP BY e.doc) i ON i.doc = d.doc_no
    WHERE COALESCE(d.n, 0) <> COALESCE(i.n, 0) OR d.mark <> i.mark ORDER BY 1 LIMIT ${limit}`;

/** The same expression as in the trigger that fills the index. */
const LEXEMES: Sql = sql`array_to_tsvector(array_remove(string_to_array(
  translate(d.terms, '!"#$%&''()*+,-./', '               '), ' '), ''))`;

const wrongOnPostgres = (tenant: string, limit: number): Sql =>
  sql`SELECT COALESCE(d.doc_no, i.doc_no) AS doc_no, COALESCE(length(d.lexemes), 0) AS terms,
        COALESCE(length(i.terms), 0) AS entries
      FROM (SELECT d.doc_no, ${LEXEMES} AS lexemes FROM search_docs d
        WHERE d.tenant_id = ${tenant} AND d.terms IS NOT NULL) d
      FULL JOIN (SELECT s.doc_no, s.terms FROM search_index s WHERE s.tenant_id = ${tenant}) i ON i.doc_no = d.doc_no
      WHERE d.lexemes IS DISTINCT FROM i.terms ORDER BY 1 LIMIT ${limit}`;

/** On SQLite all tenants share the index, and `tenant` may be any of them. */
export async function wrongEntries(driver: Driver, tenant: string, limit: number): Promise<WrongEntries[]> {
  if (driver.dialect === 'postgres') return driver.examine<WrongEntries>(tenant, wrongOnPostgres(tenant, limit));
  await driver.examine(tenant, ENTRIES);
  return driver.examine<WrongEntries>(tenant, wrongOnSqlite(limit));
}

interface WrongDoc {
  readonly doc_no: number;
  readonly terms: string | null;
  /** Separated by spaces; null if there are none. */
  readonly entries: string | null;
}

/** The repairs, each of a few documents. */
export async function entryRepairs(
  driver: Driver,
  tenant: string,
  wrong: readonly WrongEntries[],
): Promise<((tx: Tx) => Promise<void>)[]> {
  const doc_nos = wrong.map(({ doc_no }) => Number(doc_no));
  if (driver.dialect === 'postgres') return inParts(doc_nos).map((some) => (tx) => repairOnPostgres(tx, tenant, some));
  const found = await driver.examine<WrongDoc>(
    tenant,
    acrossTenants`SELECT j.value AS doc_no, d.terms, i.entries FROM json_each(${JSON.stringify(doc_nos)}) j
      LEFT JOIN search_docs d ON d.doc_no = j.value
      LEFT JOIN (SELECT e.doc, GROUP_CONCAT(e.term, ' ') AS entries FROM temp.search_entries e
        WHERE e.doc IN (SELECT value FROM json_each(${JSON.stringify(doc_nos)})) GROUP BY e.doc) i ON i.doc = j.value`,
  );
  return inParts(found).map((some) => (tx) => repairOnSqlite(tx, some));
}

const DOCS_PER_REPAIR = 20;

const inParts = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / DOCS_PER_REPAIR) }, (_, i) =>
    all.slice(i * DOCS_PER_REPAIR, (i + 1) * DOCS_PER_REPAIR),
  );

/** Skips documents that changed meanwhile: a trigger has put their new terms into the index. */
async function repairOnSqlite(tx: Tx, found: readonly WrongDoc[]): Promise<void> {
  for (const { doc_no, terms, entries } of found) {
    const row = await tx.get<{ terms: string | null }>(
      acrossTenants`SELECT terms FROM search_docs WHERE doc_no = ${doc_no}`,
    );
    if ((row?.terms ?? null) !== terms) continue;
    // Deletes only existing entries: FTS5 counts its documents and refuses to delete more than it has.
    if (terms === null || entries !== null) {
      await tx.send(
        acrossTenants`INSERT INTO search_index(search_index, rowid, terms) VALUES ('delete', ${doc_no}, ${entries})`,
      );
    }
    if (terms !== null) {
      await tx.send(acrossTenants`INSERT INTO search_index(rowid, terms) VALUES (${doc_no}, ${terms})`);
    }
  }
}

async function repairOnPostgres(tx: Tx, tenant: string, doc_nos: readonly number[]): Promise<void> {
  // Locks the rows: one emptied before its entries exist would leave the new entries behind.
  await tx.all(
    sql`SELECT doc_no FROM search_docs WHERE tenant_id = ${tenant} AND doc_no = ANY(${doc_nos}) ORDER BY doc_no FOR UPDATE`,
  );
  await tx.run(
    sql`INSERT INTO search_index (tenant_id, doc_no, terms)
        SELECT d.tenant_id, d.doc_no, ${LEXEMES} FROM search_docs d
          WHERE d.tenant_id = ${tenant} AND d.doc_no = ANY(${doc_nos}) AND d.terms IS NOT NULL
        ON CONFLICT (tenant_id, doc_no) DO UPDATE SET terms = excluded.terms`,
  );
  await tx.run(
    sql`DELETE FROM search_index s WHERE s.tenant_id = ${tenant} AND s.doc_no = ANY(${doc_nos})
          AND NOT EXISTS (SELECT 1 FROM search_docs d
            WHERE d.tenant_id = ${tenant} AND d.doc_no = s.doc_no AND d.terms IS NOT NULL)`,
  );
}
