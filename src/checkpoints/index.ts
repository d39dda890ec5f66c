/** What other modules may use of checkpoints. */
import './register.js';

export { checkpointChecks } from './checkpoints/doctor.js';
export { findCheckpoint } from './checkpoints/store.js';
export { type Descendant, parentsFirst } from './checkpoints/tree.js';
export { checkpointText, readCheckpoint } from './checkpoints/versions.js';
export { bundleText } from './executions/bundle.js';
export { type ExecutionHooks, executionHooks } from './executions/hooks.js';
export { isFinished as isExecutionFinished, openExecutionLocked, setExecutionStatus } from './executions/service.js';
export { type ExecutionRow, lockExecution } from './executions/store.js';
export { checkpointsSchema } from './schema.js';
export { RetainedStates, retainedStates } from './states/retained-states.js';
export { useCases } from './use-cases.js';
