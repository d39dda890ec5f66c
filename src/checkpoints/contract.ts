/** The models and operations of checkpoints: schemas alone, for clients as well. */
import type { Group } from '../engine/contract.js';
import type { checkpoints } from './checkpoints/contract.js';
import type { executions } from './executions/contract.js';

export { checkpoints } from './checkpoints/contract.js';
export {
  CHECKPOINT_VERSION,
  type Changes,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointReason,
  type CheckpointSummary,
  checkpoint,
  checkpointMetadata,
  checkpointSummary,
  MAX_ENTRIES,
  type MemoryEntry,
  type Message,
  memoryEntry,
  message,
  type PendingWrite,
  type Snapshot,
  sentSnapshot,
  snapshot,
  type Thought,
  type ToolCall,
  thought,
  toolCall,
} from './checkpoints/model.js';
export { executions } from './executions/contract.js';
export { BUNDLE_FORMAT, type Execution, type ExecutionStatus, type Pruned } from './executions/model.js';

declare module '../engine/contract/operation-types.js' {
  interface OperationsByName extends Group<'checkpoints', typeof checkpoints>, Group<'executions', typeof executions> {}
}

export { checkpointReason, thoughtType } from './checkpoints/model.js';
export { diffStates } from './states/diff.js';
export { applyChanges } from './states/patch.js';
