/** Where the index is not what the rows of search_docs say, and how it is put right. */
import { acrossTenants, type Driver, type Sql, sql, type Tx } from '../../driver/index.js';

/** A document whose entries in the index are others than its terms, or of which there is nothing else. */
export interface WrongEntries {
  readonly doc_no: number;
  /** How many terms it has, and how many entries. */
  readonly terms: number;
  readonly entries: number;
}

/**
 * The entries of the index on SQLite, on the connection that is for long reads. FTS5 keeps no texts here, so that its own
 * check has nothing to compare them with.
 */
const ENTRIES: Sql = acrossTenants`CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_entries
  USING fts5vocab(main, search_index, instance)`;

/** Of a term in the index, and of those of a row: eight characters each, seven of them the code. */
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

/** As the database itself makes them of a row. */
const LEXEMES: Sql = sql`array_to_tsvector(array_remove(string_to_array(
  translate(d.terms, '!"#$%&''()*+,-./', '               '), ' '), ''))`;

const wrongOnPostgres = (tenant: string, limit: number): Sql =>
  sql`SELECT COALESCE(d.doc_no, i.doc_no) AS doc_no, COALESCE(length(d.lexemes), 0) AS terms,
        COALESCE(length(i.terms), 0) AS entries
      FROM (SELECT d.doc_no, ${LEXEMES} AS lexemes FROM search_docs d
        WHERE d.tenant_id = ${tenant} AND d.terms IS NOT NULL) d
      FULL JOIN (SELECT s.doc_no, s.terms FROM search_index s WHERE s.tenant_id = ${tenant}) i ON i.doc_no = d.doc_no
      WHERE d.lexemes IS DISTINCT FROM i.terms ORDER BY 1 LIMIT ${limit}`;

/** On SQLite the index is that of all tenants: any of them may be named. */
export async function wrongEntries(driver: Driver, tenant: string, limit: number): Promise<WrongEntries[]> {
  if (driver.dialect === 'postgres') return driver.examine<WrongEntries>(tenant, wrongOnPostgres(tenant, limit));
  await driver.examine(tenant, ENTRIES);
  return driver.examine<WrongEntries>(tenant, wrongOnSqlite(limit));
}

/** What there is of a document of which the entries are wrong. */
interface Found {
  readonly doc_no: number;
  readonly terms: string | null;
  /** As a text that has them; null where there are none. */
  readonly entries: string | null;
}

/** Gives the work that puts these right, some at a time. */
export async function entriesToPutRight(
  driver: Driver,
  tenant: string,
  wrong: readonly WrongEntries[],
): Promise<((tx: Tx) => Promise<void>)[]> {
  const doc_nos = wrong.map(({ doc_no }) => Number(doc_no));
  if (driver.dialect === 'postgres')
    return inParts(doc_nos).map((some) => (tx) => putRightOnPostgres(tx, tenant, some));
  const found = await driver.examine<Found>(
    tenant,
    acrossTenants`SELECT j.value AS doc_no, d.terms, i.entries FROM json_each(${JSON.stringify(doc_nos)}) j
      LEFT JOIN search_docs d ON d.doc_no = j.value
      LEFT JOIN (SELECT e.doc, GROUP_CONCAT(e.term, ' ') AS entries FROM temp.search_entries e
        WHERE e.doc IN (SELECT value FROM json_each(${JSON.stringify(doc_nos)})) GROUP BY e.doc) i ON i.doc = j.value`,
  );
  return inParts(found).map((some) => (tx) => putRightOnSqlite(tx, some));
}

const AT_A_TIME = 20;

const inParts = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / AT_A_TIME) }, (_, i) => all.slice(i * AT_A_TIME, (i + 1) * AT_A_TIME));

/** What was changed meanwhile is left: the database put it into the index as it is now. */
async function putRightOnSqlite(tx: Tx, found: readonly Found[]): Promise<void> {
  for (const { doc_no, terms, entries } of found) {
    const row = await tx.get<{ terms: string | null }>(
      acrossTenants`SELECT terms FROM search_docs WHERE doc_no = ${doc_no}`,
    );
    if ((row?.terms ?? null) !== terms) continue;
    // In this order: FTS5 counts its documents, and refuses to take out more than it has.
    if (terms !== null && entries === null)
      await tx.send(acrossTenants`INSERT INTO search_index(rowid, terms) VALUES (${doc_no}, ${terms})`);
    else {
      await tx.send(
        acrossTenants`INSERT INTO search_index(search_index, rowid, terms) VALUES ('delete', ${doc_no}, ${entries})`,
      );
      if (terms !== null)
        await tx.send(acrossTenants`INSERT INTO search_index(rowid, terms) VALUES (${doc_no}, ${terms})`);
    }
  }
}

async function putRightOnPostgres(tx: Tx, tenant: string, doc_nos: readonly number[]): Promise<void> {
  // Locked, so that none is emptied before its entries are there to be taken out with it.
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
