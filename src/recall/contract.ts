/** Models and operations of recall: schemas only, for clients as well. */
import type { Group } from '../engine/contract.js';
import type { context, manifests } from './contexts/contract.js';
import type { artifactSources, jobs, noteSources, scopeJobs, summarization_policies } from './jobs/contract.js';
import type { memory } from './remember/contract.js';
import type { artifactSearch, noteSearch, search } from './search/contract.js';

export { context, manifests } from './contexts/contract.js';
export { artifactSources, jobs, noteSources, scopeJobs, summarization_policies } from './jobs/contract.js';
export { MAX_CONTEXT_CARDS } from './manifests/model.js';
export { memory } from './remember/contract.js';
export { changesTold } from './remember/outcomes.js';
export { reasonOf, relationsOf, remarkOn, sourceOf } from './remember/passages.js';
export { artifactSearch, noteSearch, search } from './search/contract.js';
export { MAX_QUERY } from './search/model.js';

declare module '../engine/contract/operation-types.js' {
  interface OperationsByName
    extends Group<'artifacts', typeof artifactSearch>,
      Group<'artifacts', typeof artifactSources>,
      Group<'context', typeof context>,
      Group<'jobs', typeof jobs>,
      Group<'manifests', typeof manifests>,
      Group<'memory', typeof memory>,
      Group<'notes', typeof noteSearch>,
      Group<'notes', typeof noteSources>,
      Group<'scopes', typeof scopeJobs>,
      Group<'search', typeof search>,
      Group<'summarization_policies', typeof summarization_policies> {}
}

export type { AssembledContext, ContextEntry } from './contexts/model.js';
export type { Job, Trigger } from './jobs/model.js';
export type { SearchResult } from './search/model.js';
