/** What it takes to get from one state to another, by path. `state-patch.ts` applies it. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { sameJson, step } from '../../kernel/index.js';
import type { Changes } from '../checkpoints/model.js';
import { diffSequences, type Hunk } from './sequence-diff.js';

export interface DiffOptions {
  /** A quicker way to tell that two values are equal, where the caller knows one. It must be exact. */
  readonly same?: (a: Json, b: Json) => boolean;
}

/**
 * A path that ends in a name is a member; one that ends in `start:end` is a stretch of a list, by the indexes of the
 * old list, and has both sides as lists. The same two values give the same changes in the same order.
 */
export function diffStates(a: Json, b: Json, options: DiffOptions = {}): Changes {
  const changes: Changes = {};
  compare(a, b, '', { changes, known: options.same, same: options.same ?? sameJson });
  return changes;
}

interface Comparison {
  readonly changes: Changes;
  readonly known: DiffOptions['same'];
  readonly same: (a: Json, b: Json) => boolean;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function compare(a: Json, b: Json, path: string, to: Comparison): void {
  // Members are descended into without a comparison first: it would walk the same values once per level.
  if (a === b || to.known?.(a, b)) return;
  if (Array.isArray(a) && Array.isArray(b)) compareLists(a, b, path, to);
  else if (isObject(a) && isObject(b)) compareObjects(a, b, path, to);
  else to.changes[path] = { before: a, after: b };
}

function compareObjects(a: JsonObject, b: JsonObject, path: string, to: Comparison): void {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const name of [...names].sort()) {
    const before = Object.hasOwn(a, name) ? a[name] : undefined;
    const after = Object.hasOwn(b, name) ? b[name] : undefined;
    if (before !== undefined && after !== undefined) compare(before, after, step(path, name), to);
    else if (before !== undefined) to.changes[step(path, name)] = { before };
    else if (after !== undefined) to.changes[step(path, name)] = { after };
  }
}

function compareLists(a: readonly Json[], b: readonly Json[], path: string, to: Comparison): void {
  for (const hunk of diffSequences(a.length, b.length, (i, j) => to.same(a[i]!, b[j]!))) {
    compareStretch(a, b, hunk, path, to);
  }
}

/** Elements that stayed what they are and changed inside are descended into, the others are replaced. */
function compareStretch(a: readonly Json[], b: readonly Json[], hunk: Hunk, path: string, to: Comparison): void {
  const length = hunk.end - hunk.start;
  const evenly = length === hunk.to - hunk.from;
  const inside = (i: number) => (evenly ? isSameThing : hasSameId)(a[hunk.start + i]!, b[hunk.from + i]!, to.same);
  let done = 0;
  let i = 0;
  const replaceUntil = (end: number, newEnd: number) => {
    if (done === end && done === newEnd) return;
    to.changes[step(path, `${hunk.start + done}:${hunk.start + end}`)] = {
      before: a.slice(hunk.start + done, hunk.start + end),
      after: b.slice(hunk.from + done, hunk.from + newEnd),
    };
  };
  // Where more is put in than taken out, only what begins the stretch can be told to be an edit.
  for (; i < length && i < hunk.to - hunk.from; i++) {
    if (!inside(i)) {
      if (evenly) continue;
      break;
    }
    replaceUntil(i, i);
    compare(a[hunk.start + i]!, b[hunk.from + i]!, step(path, hunk.start + i), to);
    done = i + 1;
  }
  replaceUntil(length, hunk.to - hunk.from);
}

type Same = Comparison['same'];

const isSameThing = (a: Json, b: Json, same: Same): boolean =>
  (Array.isArray(a) && Array.isArray(b)) ||
  (isObject(a) && isObject(b) && ((a.id === undefined && b.id === undefined) || hasSameId(a, b, same)));

const hasSameId = (a: Json, b: Json, same: Same): boolean =>
  isObject(a) && isObject(b) && a.id !== undefined && b.id !== undefined && same(a.id, b.id);
