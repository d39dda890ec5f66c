/** The door of index: schema, vectors, doctor checks. */
export { blankDocs, indexSchema } from './schema.js';
export { vectorChecks } from './vectors/doctor.js';
export { Embedding, embedding } from './vectors/embedding.js';
export { embeddingText } from './vectors/embedding-text.js';
export { INDEXED_FROM, VectorIndexing, type VectorOperators, vectorIndexing } from './vectors/indexing.js';
export {
  countLacking,
  docsToRetry,
  knownVectors,
  type Lacking,
  lackingDocs,
  leaveVectors,
  type MadeVector,
  noteVectorProgress,
  type Outcome,
  readProgress,
  storeOutcomes,
  takeVectors,
} from './vectors/store.js';
