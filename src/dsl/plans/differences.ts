/** What a definition would change of what is stored. Pure. */
import { accessTo, type MemoryAccess } from '../../engine/contract.js';
import { isUnrestricted } from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { levelsOf } from '../../recall/index.js';
import type { Declared } from '../checks/check.js';
import type { KindName } from '../checks/kind-names.js';
import { kinds } from '../checks/kinds.js';
import { durationOf } from '../syntax/numbers.js';
import type { PlannedChange } from './model.js';

type FieldChange = PlannedChange['fields'][number];

/** Kinds that are stored as a whole: a field that the definition leaves out is removed. Others keep it. */
const isWhole = (kind: KindName): boolean => kind === 'profile' || kind === 'handover';

const distinct = (list: Json | undefined): Json[] => [...new Set(list as Json[])];

/** Values in the form in which they are stored. */
function normalized(kind: KindName, input: JsonObject): JsonObject {
  if (kind === 'agent') {
    const { capabilities, memory_access } = input;
    return {
      ...input,
      ...(capabilities === undefined ? {} : { capabilities: distinct(capabilities) }),
      ...(memory_access !== undefined && isUnrestricted(memory_access as MemoryAccess)
        ? { memory_access: accessTo('all') as Json }
        : {}),
    };
  }
  if (kind === 'policy') {
    const { actions, source_level, target_level } = input;
    return {
      ...input,
      ...(source_level === undefined && target_level === undefined ? {} : levelsOf(input)),
      ...(actions === undefined ? {} : { actions: distinct(actions).sort() }),
    };
  }
  return input;
}

/** The names of the language for members of an input. */
function fieldName(kind: KindName, member: string): string {
  const [short] = Object.entries(kinds[kind].renamed).find(([, name]) => name === member) ?? [member];
  return short;
}

const MAX_SHOWN = 1000;

/** A longer value is shown as the beginning of its text, so that a plan stays small. */
function shown(value: Json | undefined): Json {
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : canonical(value);
  if (text.length <= MAX_SHOWN) return value;
  // A copy: a slice would keep the whole text in memory.
  return Buffer.from(`${text.slice(0, MAX_SHOWN - 1)}…`, 'utf16le').toString('utf16le');
}

function shownField(kind: KindName, field: string, value: Json | undefined): Json {
  if (typeof value !== 'number' || !kinds[kind].durations.includes(field)) return shown(value);
  const { value: count, unit } = durationOf(value);
  return `${count}${unit}`;
}

const textOf = (value: Json | undefined): string | undefined => (value === undefined ? undefined : canonical(value));

export interface Difference {
  /** The members that change, with their new values; undefined for one that is removed. */
  readonly changed: Readonly<Record<string, Json | undefined>>;
  readonly fields: readonly FieldChange[];
  /** A hash of the change, whatever is shown of it. */
  readonly identity: string;
}

/** `removes`: members that the definition leaves out are removed, as for kinds that are stored as a whole. */
export function differenceOf({ kind, input }: Declared, before: JsonObject, removes: boolean): Difference {
  const given = normalized(kind, input);
  const members = Object.keys(isWhole(kind) || removes ? { ...before, ...given } : given).sort();
  const differing = members.filter((member) => textOf(before[member]) !== textOf(given[member]));
  return {
    changed: Object.fromEntries(differing.map((member) => [member, given[member]])),
    fields: differing.map((member) => {
      const field = fieldName(kind, member);
      return { field, before: shownField(kind, field, before[member]), after: shownField(kind, field, given[member]) };
    }),
    identity: sha256(canonical(differing.map((member) => [member, before[member] ?? null, given[member] ?? null]))),
  };
}
