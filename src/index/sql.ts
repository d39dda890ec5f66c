/** Rows and SQL conditions of index, also for the reading thread: no schemas. */

export {
  type CachedDoc,
  type CacheKey,
  type CacheMarks,
  cachedDocs,
  readMarksAhead,
  type TenantCache,
} from './cached-documents.js';
export {
  columnsOf,
  DOC_COLUMNS,
  type Doc,
  type DocColumns,
  foldCounts,
  forgetDoc,
  insertDocs,
  type NewDoc,
  newDoc,
  PLAIN_DOC,
} from './documents.js';
export { type Features, featuresOf, frequencies, type StoreMark } from './features.js';
export { countPostings, type Extent, extentOf, GENERATION, postings, type Range } from './postings.js';
export {
  ANALYSIS_VERSION,
  callsAsText,
  type Measured,
  measure,
  messageText,
  resultsAsText,
  textOf,
  trimmedLine,
} from './searchable.js';
export { TermBits } from './term-bits.js';
export { frequencyIn, termCode } from './term-codes.js';
export { bitTable } from './vectors/bits.js';
export { bitsAsDigits, bitsToText, signBits, similarity, vectorFromText, vectorToText } from './vectors/encoding.js';
