/** Computes the changes from one state to another, by path. `patch.ts` applies them. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isObject, pointerTo, sameJson } from '../../kernel/index.js';
import type { Changes } from '../checkpoints/model.js';
import { diffSequences, type Hunk } from './sequence-diff.js';

/**
 * A path that ends in a name is a member; one that ends in `start:end` is a range of the old list, replaced by the list
 * in `after`. The same two values give the same changes in the same order.
 */
export function diffStates(a: Json, b: Json): Changes {
  const changes: Changes = {};
  compare(a, b, '', changes);
  return changes;
}

/** Descends without comparing whole values first: that would walk the same values once per level. */
function compare(a: Json, b: Json, path: string, changes: Changes): void {
  if (a === b) return;
  if (Array.isArray(a) && Array.isArray(b)) {
    for (const hunk of diffSequences(a.length, b.length, (i, j) => sameJson(a[i]!, b[j]!)))
      compareHunk(a, b, hunk, path, changes);
  } else if (isObject(a) && isObject(b)) compareObjects(a as JsonObject, b as JsonObject, path, changes);
  else changes[path] = { before: a, after: b };
}

function compareObjects(a: JsonObject, b: JsonObject, path: string, changes: Changes): void {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const name of [...names].sort()) {
    const before = Object.hasOwn(a, name) ? a[name] : undefined;
    const after = Object.hasOwn(b, name) ? b[name] : undefined;
    if (before !== undefined && after !== undefined) compare(before, after, pointerTo(path, name), changes);
    else if (before !== undefined) changes[pointerTo(path, name)] = { before };
    else if (after !== undefined) changes[pointerTo(path, name)] = { after };
  }
}

/** Descends into elements that kept their identity, and replaces the others. */
function compareHunk(a: readonly Json[], b: readonly Json[], hunk: Hunk, path: string, changes: Changes): void {
  const oldLength = hunk.end - hunk.start;
  const newLength = hunk.to - hunk.from;
  const isEdit = oldLength === newLength ? isSameKind : hasSameId;
  let done = 0;
  const replaceUntil = (oldEnd: number, newEnd: number) => {
    if (done === oldEnd && done === newEnd) return;
    changes[pointerTo(path, `${hunk.start + done}:${hunk.start + oldEnd}`)] = {
      before: a.slice(hunk.start + done, hunk.start + oldEnd),
      after: b.slice(hunk.from + done, hunk.from + newEnd),
    };
  };
  for (let i = 0; i < oldLength && i < newLength; i++) {
    const before = a[hunk.start + i]!;
    const after = b[hunk.from + i]!;
    if (isEdit(before, after)) {
      replaceUntil(i, i);
      compare(before, after, pointerTo(path, hunk.start + i), changes);
      done = i + 1;
      // With different lengths, only leading elements can be recognised as edits.
    } else if (oldLength !== newLength) break;
  }
  replaceUntil(oldLength, newLength);
}

const isSameKind = (a: Json, b: Json): boolean =>
  (Array.isArray(a) && Array.isArray(b)) ||
  (isObject(a) && isObject(b) && ((a.id === undefined && b.id === undefined) || hasSameId(a, b)));

const hasSameId = (a: Json, b: Json): boolean =>
  isObject(a) && isObject(b) && a.id !== undefined && b.id !== undefined && sameJson(a.id as Json, b.id as Json);
