/** Fills the registries of lower modules. */
import { sql, TENANT } from '../driver/index.js';
import { contentErasers, derivations, endLease, expiries } from '../engine/index.js';
import { reachedColumn, reachFinders } from '../engine/sql.js';
import { strongPins } from '../facts/sql.js';
import { contentMeasures } from '../index/sql.js';
import { treeDeletions } from '../memory/index.js';
import { triggers } from '../memory/sql.js';
import { eraseContexts } from './contexts/erasure.js';
import { measureDocs } from './folding/contents.js';
import { workBeforeClosing } from './jobs/closing-jobs.js';
import { derivedByJobs } from './jobs/forgetting.js';
import { jobDue } from './jobs/service.js';
import { dropJobs, jobsWithin, pinnedByJob } from './jobs/store.js';
import { fireAtEnd, fireOnArtifact, fireOnUse } from './jobs/triggers.js';
import { manifestsWithin } from './manifests/store.js';
import { deletePoliciesOf, policiesWithin, WATCHED } from './policies/store.js';

expiries.fill('job', jobDue);

// The index waits for the next process that writes.
expiries.fill('index', async ({ tx }, { kind, subject_id }) => endLease(tx, kind, subject_id));

contentMeasures.fill('contents', measureDocs);

contentErasers.fill('contexts', async (call, ending) => ((await eraseContexts(call, ending)) ? {} : undefined));

derivations.fill('jobs', derivedByJobs);

reachFinders.fill(
  'manifest_id',
  (id, reach) =>
    sql`SELECT ${reachedColumn(manifestsWithin(reach))} FROM manifests m
        WHERE m.tenant_id = ${TENANT} AND m.manifest_id = ${id}`,
);

reachFinders.fill(
  'job_id',
  (id, reach) =>
    sql`SELECT ${reachedColumn(jobsWithin(reach))} FROM jobs j WHERE j.tenant_id = ${TENANT} AND j.job_id = ${id}`,
);

reachFinders.fill(
  'policy_id',
  (id, reach) =>
    sql`SELECT ${reachedColumn(policiesWithin(reach))} FROM summarization_policies p
        WHERE p.tenant_id = ${TENANT} AND p.policy_id = ${id} AND p.deleted_at IS NULL`,
);

treeDeletions.fill('jobs', ({ tx, now }) => ({
  remove: async (trajectory_ids, deleted_at) => {
    await dropJobs(tx, trajectory_ids, now);
    await deletePoliciesOf(tx, trajectory_ids, deleted_at);
  },
}));

triggers.fill('policies', {
  watched: WATCHED,
  onUse: fireOnUse,
  onArtifact: fireOnArtifact,
  beforeClosing: workBeforeClosing,
  onClose: fireAtEnd,
});

strongPins.fill('job', pinnedByJob);
