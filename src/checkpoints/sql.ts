/** Rows and SQL conditions of checkpoints, for the reading thread as well: no schemas. */
export {
  measureThought,
  type ThinkingExecution,
  thoughtContent,
  thoughtDoc,
  thoughtOf,
} from './states/thought-docs.js';
