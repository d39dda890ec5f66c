/** Applies what `state-diff.ts` found: the old state and the changes give the new one. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { invalid, sameJson, stepsOf } from '../../kernel/index.js';
import type { Changes } from '../checkpoints/model.js';

type Change = Changes[string];

/** The changes as a tree, so that every part of the state is rebuilt once however many changes it has. */
interface Place {
  readonly path: string;
  change?: Change;
  below?: Map<string, Place>;
}

/**
 * Neither argument is altered; the result shares what did not change with the state, and what is new with the changes.
 * What a change says was there before must be there, so that changes are never applied to another state than theirs.
 */
export function applyChanges(state: Json, changes: Changes): Json {
  const made = settle(placesOf(changes), state);
  return made === undefined ? refuse('', 'nothing would be left') : made;
}

function refuse(path: string, why: string): never {
  throw invalid(`the change at "${path}" does not fit: ${why}`, { path });
}

function placesOf(changes: Changes): Place {
  const root: Place = { path: '' };
  for (const path of Object.keys(changes)) {
    const names = stepsOf(path) ?? refuse(path, 'it is not a JSON Pointer');
    let place = root;
    for (const name of names) {
      place.below ??= new Map();
      let next = place.below.get(name);
      if (!next) place.below.set(name, (next = { path }));
      place = next;
    }
    place.change = changes[path]!;
  }
  return root;
}

/** What a place has afterwards; undefined stands for a member that is not there. */
function settle({ path, change, below }: Place, there: Json | undefined): Json | undefined {
  if (!change) return below ? inside(below, there) : there;
  const { before, after } = change;
  if (below) refuse(path, 'another change lies within it');
  if (before === undefined && after === undefined) refuse(path, 'it says neither before nor after');
  if (before === undefined && there !== undefined) refuse(path, 'something is there already');
  if (before !== undefined && there === undefined) refuse(path, 'nothing is there');
  if (!sameJson(before, there)) refuse(path, 'what is there is not what it says was there before');
  return after;
}

function inside(below: ReadonlyMap<string, Place>, there: Json | undefined): Json {
  if (Array.isArray(there)) return inList(below, there);
  if (typeof there === 'object' && there !== null) return inObject(below, there);
  const [first] = below.values();
  return refuse(first!.path, 'it leads into something that is neither an object nor a list');
}

function inObject(below: ReadonlyMap<string, Place>, object: JsonObject): Json {
  const made = { ...object };
  for (const [name, place] of below) {
    const value = settle(place, Object.hasOwn(object, name) ? object[name] : undefined);
    if (value === undefined) delete made[name];
    else put(made, name, value);
  }
  return made;
}

/** A member may be called __proto__, which an assignment would take for something else. */
function put(object: JsonObject, name: string, value: Json): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

interface ListPlace {
  readonly start: number;
  readonly end: number;
  readonly place: Place;
  readonly stretch: boolean;
}

function inList(below: ReadonlyMap<string, Place>, list: readonly Json[]): Json {
  const places = [...below].map(([name, place]) => listPlace(name, place, list.length));
  places.sort((a, b) => a.start - b.start || a.end - b.end);
  const made: Json[] = [];
  let at = 0;
  for (const { start, end, place, stretch } of places) {
    if (start < at) refuse(place.path, 'it overlaps with another');
    while (at < start) made.push(list[at++]!);
    if (stretch) for (const value of replaced(place, list, start, end)) made.push(value);
    else made.push(inside(place.below!, list[start]));
    at = end;
  }
  while (at < list.length) made.push(list[at++]!);
  return made;
}

function listPlace(name: string, place: Place, length: number): ListPlace {
  const [, first, last] = /^(0|[1-9]\d{0,15})(?::(0|[1-9]\d{0,15}))?$/.exec(name) ?? [];
  const stretch = last !== undefined;
  const start = Number(first ?? Number.NaN);
  const end = stretch ? Number(last) : start + 1;
  if (!(start <= end && end <= length)) refuse(place.path, `the list has ${length} elements`);
  if (!stretch && place.change) refuse(place.path, 'elements are replaced as a stretch, such as 3:4');
  return { start, end, place, stretch };
}

function replaced({ path, change, below }: Place, list: readonly Json[], start: number, end: number): Json[] {
  if (!change || below) refuse(path, 'a stretch of a list is replaced as a whole');
  if (!Array.isArray(change.before) || !Array.isArray(change.after)) {
    refuse(path, 'a stretch of a list has lists before and after');
  }
  if (!sameJson(change.before, list.slice(start, end))) {
    refuse(path, 'what is there is not what it says was there before');
  }
  return change.after;
}
