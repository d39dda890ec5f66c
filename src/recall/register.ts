/** Fills the registries of lower modules with what recall provides. */
import { triggers } from '../memory/scopes/triggers.js';
import { treeDeletions } from '../memory/trajectories/ending-hooks.js';
import { workBeforeClosing } from './jobs/closing-jobs.js';
import { dropJobs } from './jobs/store.js';
import { fireAtEnd, fireOnArtifact, fireOnUse } from './jobs/triggers.js';
import { deletePoliciesOf, WATCHED } from './policies/store.js';

treeDeletions.fill('jobs', ({ tenant }, tx) => ({
  remove: async (trajectory_ids, deleted_at, now) => {
    await dropJobs(tx, tenant, trajectory_ids, now);
    await deletePoliciesOf(tx, tenant, trajectory_ids, deleted_at);
  },
}));

triggers.fill('policies', {
  watched: WATCHED,
  onUse: fireOnUse,
  onArtifact: fireOnArtifact,
  beforeClosing: workBeforeClosing,
  onClose: fireAtEnd,
});
