/** The door of recall for modules above. */
import './register.js';

export { contextReferences } from './contexts/references.js';
export type { ExtractedFact, Extraction, ExtractionRequest, Extractor } from './extraction/extractor.js';
export { modelExtractor } from './extraction/model-extractor.js';
export { IndexUpkeep } from './folding/index-upkeep.js';
export { jobChecks } from './jobs/doctor.js';
export { factsOf, providers, summaryOf } from './jobs/provider-calls.js';
export { checkProviders, loadProviders, type ProviderOptions, providersOf } from './jobs/providers.js';
export { JobQueue, jobQueue } from './jobs/queue.js';
export { releasePins, runJob } from './jobs/service.js';
export { moveJobs } from './jobs/store.js';
export { insertManifest, showedAnyCard } from './manifests/store.js';
export {
  checkPolicy,
  createPolicyIn,
  deletePolicyIn,
  levelsOf,
  MAX_POLICIES,
  updatePolicyIn,
} from './policies/service.js';
export { lockTenantPolicies, tenantPolicies, toPolicy } from './policies/store.js';
export { readQuestion } from './ranking/question.js';
export { indexFinding, searchFindings } from './reindex/doctor.js';
export { needsReindex, type Reindexing, reindex } from './reindex/service.js';
export { recallSchema } from './schema.js';
export { shownContents } from './search/shown-contents.js';
export { modelSummarizer } from './summaries/model-summarizer.js';
export { offlineSummarizer } from './summaries/offline-summarizer.js';
export type { TextSource } from './summaries/sources.js';
export type { Summarizer, Summary, SummaryRequest } from './summaries/summarizer.js';
export { useCases } from './use-cases.js';
export { VectorFilling } from './vectors/filling.js';
