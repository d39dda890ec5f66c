/** cairndb/langgraph: a checkpointer and a store for LangGraph, on what openCairn and connectCairn hand out. */
export { CairnSaver, type CairnSaverOptions, type PruneOptions } from './saver.js';
export { CairnStore, type CairnStoreOptions } from './store.js';
