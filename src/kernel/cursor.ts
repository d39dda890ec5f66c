/** Keyset cursors: opaque, and bound to a tenant, a list and its filters. */
import { canonical, sha256 } from './canonical.js';
import { CairnError } from './errors.js';
import type { Json } from './json/json.js';

export type CursorKey = string | number;

/** The list that a cursor belongs to; a call has both members. */
export interface CursorScope {
  readonly tenant: string;
  readonly operation: string;
}

const markOf = ({ tenant, operation }: CursorScope, filters: Json) =>
  sha256(canonical([tenant, operation, filters])).slice(0, 12);

export function encodeCursor(list: CursorScope, filters: Json, key: CursorKey): string {
  return Buffer.from(JSON.stringify([markOf(list, filters), key])).toString('base64url');
}

export function decodeCursor(list: CursorScope, filters: Json, cursor: string, kind: 'string' | 'number'): CursorKey {
  try {
    const [mark, key] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[];
    const fits = kind === 'string' ? typeof key === 'string' && !key.includes('\u0000') : Number.isSafeInteger(key);
    if (mark === markOf(list, filters) && fits) return key as CursorKey;
  } catch {
    // Falls through to the one error.
  }
  throw invalidCursor();
}

/** Also for a well-formed key that this list cannot have written. */
export const invalidCursor = (): CairnError =>
  new CairnError('INVALID_CURSOR', 'the cursor does not belong to this list with these filters: start without one');
