/**
 * Compares a segment of the index with the contents of its documents, off the event loop (`driver.away`): for the doctor,
 * and for reindexing, which puts the segment in its place that the contents give.
 */
import { type Query, sql, TENANT } from '../../driver/index.js';
import {
  deadDocs,
  isPurged,
  listSegments,
  readSegment,
  type Segment,
  type SegmentRow,
  segmentSteps,
  startsOf,
  type Terms,
  termSteps,
  type UnmeasuredDoc,
} from '../../index/sql.js';
import { cooperativeYield, runWithYields, type Steps } from '../../kernel/index.js';
import { measureDocs } from '../folding/contents.js';

export interface SegmentCheckRequest {
  /** Examines the first segment with documents after this one. */
  readonly after: number;
  readonly max_problems: number;
}

export interface SegmentCheck {
  readonly row: SegmentRow;
  readonly problems: readonly string[];
  /** What the segment should be, if there are problems. */
  readonly rebuilt: Segment | undefined;
  /** Hidden documents that the rebuilt segment does not have. */
  readonly dead: readonly number[];
}

/** Documents measured at once. */
const PAGE = 500;
const NO_TERMS: Terms = { codes: new Float64Array(0), frequencies: new Uint8Array(0) };

/** Undefined behind the last segment. */
export async function run(query: Query, input: unknown): Promise<SegmentCheck | undefined> {
  const { after, max_problems } = input as SegmentCheckRequest;
  const row = (await listSegments(query)).find(({ first_doc }) => first_doc > after);
  if (!row) return undefined;
  const dead = await deadDocs(query, row.first_doc - 1, Number.MAX_SAFE_INTEGER, row.last_doc);
  const expected = await inSteps(segmentSteps(await measuredIn(query, row)));
  const stored = await readSegment(query, row.segment);
  const problems = [...(await differences(stored, expected, new Set(dead))), ...wrongFigures(row, stored, dead)];
  return {
    row,
    problems: problems.slice(0, max_problems),
    rebuilt: problems.length === 0 ? undefined : expected,
    dead,
  };
}

async function measuredIn(query: Query, { first_doc, last_doc }: SegmentRow) {
  const measured = [];
  for (let after = first_doc - 1; ; ) {
    const docs = await query.all<UnmeasuredDoc>(
      sql`SELECT doc_no, entity_type, entity_id, content_id FROM search_docs
          WHERE tenant_id = ${TENANT} AND doc_no > ${after} AND doc_no <= ${last_doc} AND gone IS NULL
          ORDER BY doc_no LIMIT ${PAGE}`,
    );
    const measures = await measureDocs(query, docs);
    for (const { doc_no } of docs) {
      const found = measures.get(Number(doc_no)) ?? { terms: NO_TERMS, length: 0, flags: 0 };
      measured.push({ doc_no: Number(doc_no), ...found });
    }
    if (docs.length < PAGE) return measured;
    after = Number(docs.at(-1)!.doc_no);
  }
}

interface IndexedDoc {
  readonly terms: Terms;
  readonly length: number;
  readonly flags: number;
}

const inSteps = <T>(steps: Steps<T>): Promise<T> => runWithYields(steps, cooperativeYield());

async function docsOf(
  segment: Segment,
  isLeftOut: (doc_no: number, terms: Terms) => boolean,
): Promise<Map<number, IndexedDoc>> {
  const { doc_nos, lengths, flags } = segment.header;
  const docs = new Map<number, IndexedDoc>();
  for (const [i, terms] of (await inSteps(termSteps(segment))).entries())
    if (!isLeftOut(doc_nos[i]!, terms)) docs.set(doc_nos[i]!, { terms, length: lengths[i]!, flags: flags[i]! });
  return docs;
}

async function differences(stored: Segment, expected: Segment, dead: ReadonlySet<number>): Promise<string[]> {
  const { header } = stored;
  const gone = new Set([...header.doc_nos].filter((_, i) => isPurged(header, i)));
  const has = await docsOf(
    stored,
    // A segment that goes as a whole keeps its blocks until the last of its documents is forgotten.
    (doc_no, terms) => dead.has(doc_no) || (gone.has(doc_no) && (terms.codes.length === 0 || dead.size > 0)),
  );
  const should = await docsOf(expected, () => false);
  const problems: string[] = [];
  for (const [doc_no, doc] of should) {
    const found = has.get(doc_no);
    if (!found) problems.push(`document ${doc_no} is not in the index`);
    else if (!isSame(found, doc))
      problems.push(
        `document ${doc_no} has ${doc.terms.codes.length} terms, but ${found.terms.codes.length} in the index, or others`,
      );
  }
  for (const doc_no of has.keys())
    if (!should.has(doc_no)) problems.push(`document ${doc_no} should not be in the index`);
  return problems;
}

/** What the row and the header say of the segment. A purge under way changes them last. */
function wrongFigures({ segment, docs }: SegmentRow, { header, blocks }: Segment, dead: readonly number[]): string[] {
  const problems: string[] = [];
  const listed = new Set(dead);
  const live = header.doc_nos.reduce((sum, doc_no, i) => sum + (isPurged(header, i) && !listed.has(doc_no) ? 0 : 1), 0);
  if (Number(docs) !== live) problems.push(`segment ${segment} counts ${docs} documents, but has ${live}`);
  const starts = startsOf(blocks);
  const isWrong = (['codes', 'ordinals', 'counts'] as const).some((name) =>
    starts[name].some((value, i) => value !== header[name][i]),
  );
  if (isWrong && dead.length === 0) problems.push(`segment ${segment} has blocks that begin elsewhere`);
  return problems;
}

const isSame = (one: IndexedDoc, other: IndexedDoc): boolean =>
  one.length === other.length &&
  one.flags === other.flags &&
  one.terms.codes.length === other.terms.codes.length &&
  one.terms.codes.every((code, i) => code === other.terms.codes[i]) &&
  one.terms.frequencies.every((count, i) => count === other.terms.frequencies[i]);
