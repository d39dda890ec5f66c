/** The models and operations of api: schemas alone, for clients as well. */
export { CALL_HEADERS } from './call-headers.js';
export { allOperations, groups, type NamedOperation, type Operations } from './operations.js';
export { type Shorthands, shorthands, wholeShorthands } from './shorthands.js';
export { CLOSE_CODE_BASE, KEY_PROTOCOL, STREAM_PROTOCOL } from './stream-protocol.js';
export { type CairnView, viewsOn } from './views.js';
