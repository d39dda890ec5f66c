/** Rows and SQL conditions of checkpoints, for the reading thread as well: no schemas. */
export {
  measureThought,
  parseThoughtContentId,
  type ThoughtExecution,
  thoughtContentId,
  thoughtDoc,
} from './states/thought-docs.js';
