/** What other modules may use of checkpoints. */
import './register.js';

export { checkpointChecks } from './checkpoints/doctor.js';
export { checkpointText } from './checkpoints/json.js';
export { readCheckpoint } from './checkpoints/versions.js';
export { bundleText } from './executions/bundle.js';
export { type Descendant, parentsFirst } from './executions/import-order.js';
export { checkpointsSchema } from './schema.js';
export { RetainedStates, retainedStates } from './states/retained-states.js';
export { useCases } from './use-cases.js';
