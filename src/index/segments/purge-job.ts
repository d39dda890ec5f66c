/** Computes what a segment is without its hidden documents, off the event loop (`driver.away`). */
import type { Query } from '../../driver/index.js';
import { cooperativeYield, runWithYields } from '../../kernel/index.js';
import { decodeHeader, encodeHeader, isPurged } from './header.js';
import { emptied, type Purged, purgeSteps } from './making.js';
import { deadDocs, listSegments, readHeaders, readSegment, type SegmentRow } from './store.js';

export interface PurgeRequest {
  /** Examines hidden documents after this one. */
  readonly after: number;
  /** Up to this one. */
  readonly up_to: number;
  /** The share of a segment that is hidden at least. */
  readonly least_share: number;
}

export interface Purge extends Pick<Purged, 'blocks' | 'docs'> {
  /** The segment, as it was read. */
  readonly row: SegmentRow;
  /** All its hidden documents. */
  readonly dead: readonly number[];
  /** What its header will be, encoded. */
  readonly header: Uint8Array;
}

/** Of the first segment that should be purged; undefined if none should. */
export async function run(query: Query, input: unknown): Promise<Purge | undefined> {
  const { up_to, least_share, ...request } = input as PurgeRequest;
  const rows = await listSegments(query);
  for (let { after } = request; ; ) {
    const [first] = await deadDocs(query, after, 1, up_to);
    if (first === undefined) return undefined;
    const row = rows.find(({ first_doc, last_doc }) => first_doc <= first && first <= last_doc);
    if (!row) throw new Error(`no segment has the folded document ${first}`);
    const dead = await deadDocs(query, row.first_doc - 1, row.docs + 1, row.last_doc);
    if (dead.length >= least_share * (row.last_doc - row.first_doc + 1)) return purgeOf(query, row, dead);
    after = row.last_doc;
  }
}

async function purgeOf(query: Query, row: SegmentRow, dead: readonly number[]): Promise<Purge> {
  const gone = new Set(dead);
  const header = decodeHeader((await readHeaders(query, [row.segment])).get(row.segment)!);
  // Blocks of a segment that goes as a whole are deleted without being read.
  const isGone = header.doc_nos.every((doc_no, i) => isPurged(header, i) || gone.has(doc_no));
  const purged: Purged = isGone
    ? { header: emptied(header), blocks: [], docs: 0 }
    : await runWithYields(purgeSteps(await readSegment(query, row.segment), gone), cooperativeYield());
  return { row, dead, header: encodeHeader(purged.header), blocks: purged.blocks, docs: purged.docs };
}
