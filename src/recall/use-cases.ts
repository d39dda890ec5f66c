/** Use cases of recall, by group and verb of the table of operations. */
import { assemble } from './contexts/service.js';
import * as manualJobs from './jobs/manual-jobs.js';
import * as jobs from './jobs/service.js';
import * as manifests from './manifests/service.js';
import * as policies from './policies/service.js';
import { recall, remember } from './remember/service.js';
import { query as searchAll, searchAmong } from './search/service.js';
import { expandArtifact, expandNote } from './summaries/expanding.js';

export const useCases = {
  memory: { remember, recall },
  search: { query: searchAll },
  scopes: manualJobs,
  artifacts: { search: searchAmong('Artifact'), expand: expandArtifact },
  notes: { search: searchAmong('Note'), expand: expandNote },
  summarization_policies: policies,
  jobs,
  context: { assemble },
  manifests,
};
