/** What other modules may use of memory. */
import './register.js';

export { artifactNoun, outlivesScope } from './artifacts/service.js';
export { deleteEdgesOf, insertEdges, linksOf, type NewEdge, settleEdges } from './edges/store.js';
export { addSystemEdges, journalEdges } from './edges/system-edges.js';
export { unreadableAmong } from './entities/access.js';
export { unknownEntity } from './entities/errors.js';
export { placesOf } from './forgetting/derivations.js';
export { PARTICIPANTS_OF_EDGE, participantsAmong } from './lookups.js';
export * as notesService from './notes/service.js';
export { noteBounds, noteNoun, prepareNote } from './notes/service.js';
export { memorySchema } from './schema.js';
export { endScopes } from './scopes/closing.js';
export { scopeChecks } from './scopes/doctor.js';
export * as scopesService from './scopes/service.js';
export {
  addScope,
  metadataText,
  noScope,
  openScopeLocked,
  openScopeOf,
  openTrajectoryLocked,
  readScope,
  refuseClosed,
  refuseFinished,
} from './scopes/service.js';
export { insertScope } from './scopes/store.js';
export { trajectoryChecks } from './trajectories/doctor.js';
export {
  type FinishingHooks,
  finishingHooks,
  type TreeDeletion,
  treeDeletions,
} from './trajectories/ending-hooks.js';
export { addFormerOwner, dropFormerOwner, refuseFormerOwner, successorOf } from './trajectories/former-owners.js';
export { treeIds } from './trajectories/removal-store.js';
export type { FinalStatus } from './trajectories/rules.js';
export * as trajectoriesService from './trajectories/service.js';
export { createIn, openTrajectory, preparePatch, updateIn } from './trajectories/service.js';
export {
  activeChildren,
  changeOwner,
  findTrajectory,
  isFinished,
  lockTrajectory,
  type TrajectoryRow,
} from './trajectories/store.js';
export { add } from './turns/service.js';
export { useCases } from './use-cases.js';
export { AccessCounts, accessCounts } from './versions/access-counts.js';
export { memoryChecks } from './versions/doctor.js';
export { derivedEdges, edgeBetween, synthesizedEdges } from './versions/new-edges.js';
export { createMemory, type PreparedContent, prepareContent, updateMemory } from './versions/service.js';
export { lockTrajectories } from './versions/sources.js';
export { contentErased, type Fields, type Memory, type Noun, readVersion } from './versions/views.js';
