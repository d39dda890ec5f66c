/** The models and operations of recall: schemas alone, for clients as well. */
export { context, manifests } from './contexts/contract.js';
export { artifactSources, jobs, noteSources, scopeJobs, summarization_policies } from './jobs/contract.js';
export { MAX_CONTEXT_CARDS } from './manifests/model.js';
export { memory } from './remember/contract.js';
export { reasonOf, relationsOf, remarkOn, sourceOf } from './remember/passages.js';
export { artifactSearch, noteSearch, search } from './search/contract.js';
export { MAX_QUERY } from './search/model.js';
