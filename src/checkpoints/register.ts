/** Fills the registries of lower modules with what checkpoints provide. */
import { treeDeletions } from '../memory/trajectories/ending-hooks.js';
import { deleteExecutions } from './executions/ending.js';

treeDeletions.fill('executions', deleteExecutions);
