/** The models and operations of memory: schemas alone, for clients as well. */
import type { Group } from '../engine/contract.js';
import type { artifacts } from './artifacts/contract.js';
import type { edges } from './edges/contract.js';
import type { notes } from './notes/contract.js';
import type { scopes } from './scopes/contract.js';
import type { trajectories } from './trajectories/contract.js';
import type { turns } from './turns/contract.js';

export { artifacts } from './artifacts/contract.js';
export { type Artifact, artifact } from './artifacts/model.js';
export { edges } from './edges/contract.js';
export type { EdgeType } from './edges/model.js';
export { notes } from './notes/contract.js';
export { type Note, note } from './notes/model.js';
export { scopes } from './scopes/contract.js';
export {
  contextState,
  DEFAULT_THRESHOLD_PERCENT,
  DEFAULT_TOKEN_BUDGET,
  type PolicyOutput,
  policyOutput,
} from './scopes/model.js';
export { trajectories } from './trajectories/contract.js';
export { trajectoryStatus } from './trajectories/model.js';
export { turns } from './turns/contract.js';
export { type Turn, turnRole } from './turns/model.js';
export { abstractionLevel, agentFilter, confidence, content, name, timeFilters } from './versions/model.js';

declare module '../engine/contract/operation-types.js' {
  interface OperationsByName
    extends Group<'artifacts', typeof artifacts>,
      Group<'edges', typeof edges>,
      Group<'notes', typeof notes>,
      Group<'scopes', typeof scopes>,
      Group<'trajectories', typeof trajectories>,
      Group<'turns', typeof turns> {}
}

export { NOTE_TYPES } from './notes/model.js';
export type { Scope } from './scopes/model.js';
export type { AddedTurn } from './turns/model.js';
