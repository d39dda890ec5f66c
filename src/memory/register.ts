/** What memory adds to the registries of lower modules. */
import './access/register.js';
import { contentErasers } from '../engine/index.js';
import { agentReferences } from '../identity/index.js';
import { deleteLateEdges } from './trajectories/late-edges.js';
import { findTrajectory } from './trajectories/store.js';
import { eraseHeld } from './versions/erasure.js';

agentReferences.fill('trajectory', async (query, trajectory_id) => {
  const trajectory = await findTrajectory(query, trajectory_id);
  return trajectory?.deleted_at === null ? trajectory : undefined;
});

contentErasers.fill('versions', eraseHeld);
contentErasers.fill('edges', deleteLateEdges);

import { cardConditions } from '../facts/index.js';
import { cardNotSuperseded } from './entities/supersession.js';

cardConditions.fill('not_superseded', cardNotSuperseded);
