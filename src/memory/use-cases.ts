/** The use cases of memory, by group and verb of the table of operations. */
import * as artifacts from './artifacts/service.js';
import * as edges from './edges/service.js';
import * as edgeTraversal from './edges/traversal.js';
import * as notes from './notes/service.js';
import * as scopeCheckpoints from './scopes/checkpoints.js';
import * as scopeClosing from './scopes/closing.js';
import { artifactsOf, scopesOf } from './scopes/lists.js';
import * as scopes from './scopes/service.js';
import { batch } from './trajectories/batch.js';
import { remove } from './trajectories/ending.js';
import * as trajectories from './trajectories/service.js';
import { tree } from './trajectories/tree.js';
import { update } from './trajectories/updating.js';
import { turnsOf } from './turns/lists.js';
import * as turns from './turns/service.js';

export const useCases = {
  trajectories: { ...trajectories, update, delete: remove, tree, batch, scopes: scopesOf },
  scopes: { ...scopes, ...scopeCheckpoints, close: scopeClosing.close, turns: turnsOf, artifacts: artifactsOf },
  turns,
  artifacts,
  notes,
  edges: { ...edges, ...edgeTraversal },
};
