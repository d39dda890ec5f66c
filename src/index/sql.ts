/** Rows and SQL conditions of index, also for the reading thread: no schemas. */

export { changeDocLifetime, emptyDocs, hideDocs, moveDoc, noteDocChange } from './document-changes.js';
export {
  addDocs,
  columnsOf,
  DOC_COLUMNS,
  DOCS_BY_CONTENT,
  type Doc,
  type DocColumns,
  type NewDoc,
  newDoc,
  PLAIN_DOC,
} from './documents.js';
export { type Features, featuresOf, type StoreMark } from './features.js';
export { extentOf, GENERATION, generationOf, openTermIndex, type TermIndex } from './postings.js';
export {
  ANALYSIS_VERSION,
  callsAsText,
  type Described,
  describe,
  type Measured,
  measure,
  messageText,
  resultsAsText,
  textOf,
  trimmedLine,
} from './searchable.js';
export { type Fold, makeFold, storeFold } from './segments/folding.js';
export { isPurged, liveDocs } from './segments/header.js';
export { type Segment, segmentSteps, startsOf, termSteps } from './segments/making.js';
export { deadDocs, indexState, listSegments, type Range, readSegment, type SegmentRow } from './segments/store.js';
export type { TailDoc, UnmeasuredDoc } from './tail.js';
export { contentMeasures } from './tail-limit.js';
export { TermBits } from './term-bits.js';
export { type Terms, termCode } from './term-codes.js';
export { bitTable } from './vectors/bits.js';
export { bitsAsDigits, bitsToText, signBits, similarity, vectorFromText, vectorToText } from './vectors/encoding.js';
