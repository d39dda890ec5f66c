/** The door of index: schema, vectors, doctor checks. */
import './register.js';

export { indexSchema } from './schema.js';
export { coverFolded } from './segments/coverage.js';
export { segmentChecks } from './segments/doctor.js';
export { purgeHidden } from './segments/purging.js';
export { mergeSegments, replaceSegments } from './segments/upkeep.js';
export { UPKEEP_LEASE } from './tail-limit.js';
export { BitTable } from './vectors/bits.js';
export { vectorChecks } from './vectors/doctor.js';
export { Embedding, embedding } from './vectors/embedding.js';
export { embeddingText } from './vectors/embedding-text.js';
export { bitsFromText, distance, normalised } from './vectors/encoding.js';
export {
  INDEXED_FROM,
  VECTOR_TABLE,
  VectorIndexing,
  type VectorOperators,
  vectorIndexing,
} from './vectors/indexing.js';
export {
  claimVectorMaking,
  countUnembedded,
  docsToRetry,
  knownVectors,
  type MadeVector,
  noteVectorProgress,
  type Outcome,
  readProgress,
  releaseVectorMaking,
  storeOutcomes,
  type UnembeddedDoc,
  unembeddedDocs,
} from './vectors/store.js';
