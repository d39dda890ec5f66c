/** Folds the oldest documents of the tail into a new segment. */
import { type Query, sql, TENANT, type Tx } from '../../driver/index.js';
import { cooperativeYield, runWithYields } from '../../kernel/index.js';
import type { MeasureDocs, UnmeasuredDoc } from '../tail.js';
import { type Segment, segmentSteps } from './making.js';
import { indexState, insertBlocks, insertSegment, lockIndex, raiseRevision, setFolded } from './store.js';

/** A segment to be stored, of the documents after `folded` up to `last`. */
export interface Fold {
  readonly folded: number;
  readonly last: number;
  /** Documents among them that are not hidden. */
  readonly docs: number;
  readonly segment: Segment;
}

const NO_TERMS = { codes: new Float64Array(0), frequencies: new Uint8Array(0) };

/** Undefined if there is no tail. Reads and computes only, so that it can run off the event loop. */
export async function makeFold(query: Query, measure: MeasureDocs, limit: number): Promise<Fold | undefined> {
  const { last, folded } = await indexState(query);
  if (last <= folded) return undefined;
  const docs = await query.all<UnmeasuredDoc>(
    sql`SELECT doc_no, entity_type, entity_id, content_id FROM search_docs
        WHERE tenant_id = ${TENANT} AND doc_no > ${folded} AND doc_no <= ${last} AND gone IS NULL
        ORDER BY doc_no LIMIT ${limit}`,
  );
  const measures = await measure(query, docs);
  const measured = docs.map(({ doc_no }) => ({
    doc_no: Number(doc_no),
    ...(measures.get(Number(doc_no)) ?? { terms: NO_TERMS, length: 0, flags: 0 }),
  }));
  const segment = await runWithYields(segmentSteps(measured), cooperativeYield());
  const upTo = docs.length < limit ? last : measured.at(-1)!.doc_no;
  return { folded, last: upTo, docs: docs.length, segment };
}

/** Stores a fold; false if a document was hidden meanwhile, or another process has folded it. */
export async function storeFold(tx: Tx, { folded, last, docs, segment }: Fold): Promise<boolean> {
  const inRange = sql`doc_no > ${folded} AND doc_no <= ${last}`;
  const state = await lockIndex(tx);
  if (state.folded !== folded) return false;
  const row = await tx.get<{ docs: number }>(
    sql`SELECT COUNT(*) AS docs FROM search_docs WHERE tenant_id = ${TENANT} AND ${inRange} AND gone IS NULL`,
  );
  if (Number(row!.docs) !== docs) return false;
  // Hidden before, so that no segment has them.
  await tx.send(sql`DELETE FROM search_dead WHERE tenant_id = ${TENANT} AND ${inRange}`);
  await setFolded(tx, last);
  const revision = await raiseRevision(tx);
  if (docs === 0) return true;
  await insertSegment(tx, { segment: revision, first_doc: folded + 1, last_doc: last, revision }, segment.header);
  await insertBlocks(tx, revision, segment.blocks);
  return true;
}
