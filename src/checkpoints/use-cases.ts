/** The use cases of checkpoints, by group and verb of the table of operations. */
import * as checkpointLists from './checkpoints/lists.js';
import * as checkpoints from './checkpoints/service.js';
import { prune, remove as removeExecution } from './executions/ending.js';
import { live } from './executions/live.js';
import * as executions from './executions/service.js';
import * as executionTransfer from './executions/transfer.js';
import { importCheckpoint } from './executions/transfer.js';
import * as executionViews from './executions/views.js';

export const useCases = {
  executions: { ...executions, ...executionViews, ...executionTransfer, live, delete: removeExecution, prune },
  checkpoints: { ...checkpoints, ...checkpointLists, import: importCheckpoint },
};
