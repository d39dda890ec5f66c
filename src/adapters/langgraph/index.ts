/** cairndb/langgraph: a checkpointer and a store for LangGraph, on `openCairn` or `connectCairn`. */
export { CairnSaver, type CairnSaverOptions, type PruneOptions } from './saver.js';
export { CairnStore, type CairnStoreOptions } from './store.js';
