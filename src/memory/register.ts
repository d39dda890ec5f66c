/** What memory adds to the registries of lower modules. */
import { contentErasers } from '../engine/lifetimes/erasers.js';
import { eraseHeld } from './versions/erasure.js';
import { deleteLateEdges } from './trajectories/late-edges.js';
import { agentReferences } from '../identity/agents/references.js';
import { findTrajectory } from './trajectories/store.js';

agentReferences.fill('trajectory', async (query, tenant, trajectory_id) => {
  const trajectory = await findTrajectory(query, tenant, trajectory_id);
  return trajectory?.deleted_at === null ? trajectory : undefined;
});

contentErasers.fill('versions', eraseHeld);
contentErasers.fill('edges', deleteLateEdges);
