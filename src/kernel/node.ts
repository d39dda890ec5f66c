/** The parts of the kernel that need Node. */
export { canonical, keyedSha256, sha256 } from './canonical.js';
export { type CursorKey, type CursorScope, decodeCursor, encodeCursor, invalidCursor } from './cursor.js';
export { seal, unseal } from './sealed-text.js';
export { version } from './version.js';
