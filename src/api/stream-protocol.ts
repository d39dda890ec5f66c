/** The names that WebSocket clients and the server share. */

/** The subprotocol of streams. */
export const STREAM_PROTOCOL = 'cairn.v1';

/** A browser cannot send an `Authorization` header with a WebSocket: the key is a second subprotocol with this prefix. */
export const KEY_PROTOCOL = 'cairn.key.';

/** Close codes of refusals are this plus the HTTP status of the error. */
export const CLOSE_CODE_BASE = 4000;
