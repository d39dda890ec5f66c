/** Reindexing: every folded document gets a segment. What that should have of it, recall compares and puts in. */
import { type Driver, sql, TENANT, type Tx } from '../../driver/index.js';
import { segmentOf } from './making.js';
import { deleteSegmentRow, insertSegment, listSegments, lockIndex, raiseRevision, type SegmentRow } from './store.js';

/** Document numbers in one new segment. */
const MAX_RANGE = 4096;

type DocRange = Pick<SegmentRow, 'first_doc' | 'last_doc'>;

/** Deletes segments that overlap others, and adds empty ones for documents that have none. */
export const coverFolded = (driver: Driver, tenant: string): Promise<void> =>
  driver.write(tenant, async (tx) => {
    const { folded } = await lockIndex(tx);
    const covered: DocRange[] = [];
    for (const { segment, first_doc, last_doc } of await listSegments(tx)) {
      const isWrong = last_doc > folded || first_doc > last_doc || first_doc <= (covered.at(-1)?.last_doc ?? 0);
      if (!isWrong) covered.push({ first_doc, last_doc });
      else {
        await raiseRevision(tx);
        await deleteSegmentRow(tx, segment);
      }
    }
    let after = 0;
    for (const next of [...covered, { first_doc: folded + 1, last_doc: folded }]) {
      await fillGap(tx, after + 1, next.first_doc - 1);
      after = next.last_doc;
    }
    await forgetUncovered(tx, folded);
  });

async function fillGap(tx: Tx, from: number, to: number): Promise<void> {
  for (let at = from; at <= to; ) {
    const row = await tx.get<{ doc_no: number | null }>(
      sql`SELECT MIN(doc_no) AS doc_no FROM search_docs
          WHERE tenant_id = ${TENANT} AND doc_no >= ${at} AND doc_no <= ${to} AND gone IS NULL`,
    );
    if (row === undefined || row.doc_no === null) break;
    const first_doc = Number(row.doc_no);
    const last_doc = Math.min(to, first_doc + MAX_RANGE - 1);
    const revision = await raiseRevision(tx);
    await insertSegment(tx, { segment: revision, first_doc, last_doc, revision }, segmentOf([]).header);
    at = last_doc + 1;
  }
}

/** A purge looks for the segment of each hidden document. */
const forgetUncovered = (tx: Tx, folded: number): Promise<void> =>
  tx.send(
    sql`DELETE FROM search_dead WHERE tenant_id = ${TENANT} AND doc_no <= ${folded} AND NOT EXISTS (
          SELECT 1 FROM search_segments s WHERE s.tenant_id = ${TENANT}
            AND s.first_doc <= search_dead.doc_no AND s.last_doc >= search_dead.doc_no)`,
  );
