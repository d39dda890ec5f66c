/** Fills the registries of lower modules with what coordination provides. */
import { finishingHooks, treeDeletions } from '../memory/trajectories/ending-hooks.js';
import { deleteTasks, taskFinishing } from './tasks/ending.js';

treeDeletions.fill('tasks', deleteTasks);
finishingHooks.fill('tasks', taskFinishing);
