/** Whether two JSON values are the same, whatever the order of their members. */
import type { Json, JsonObject } from './json.js';

/**
 * What is the very same object costs nothing, so that one of the two must be frozen where callers change what they hold.
 * JSON has no -0; a member that is undefined is one that is absent.
 */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!sameJson(a[i], b[i])) return false;
    return true;
  }
  return sameMembers(a, b);
}

/** The same of two objects, whatever the one member is that may be left out. */
export function sameMembers(a: JsonObject, b: JsonObject, beside?: string): boolean {
  let members = 0;
  for (const key of Object.keys(a)) {
    if (a[key] === undefined || key === beside) continue;
    members++;
    if (!Object.hasOwn(b, key) || !sameJson(a[key], b[key])) return false;
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined && key !== beside) members--;
  return members === 0;
}
