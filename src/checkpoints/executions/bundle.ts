/** A whole execution in one file: how its checkpoints go into it, and how their states come out again. */
import { z } from 'zod';
import { type Json, type JsonObject, stableJson } from '../../kernel/contract.js';
import { atOnce, CairnError, invalid, parseAs, type Steps } from '../../kernel/index.js';
import type { Checkpoint, CheckpointSummary, PendingWrite, Snapshot } from '../checkpoints/model.js';
import { diffStates } from '../states/diff.js';
import { applyChanges } from '../states/patch.js';
import { snapshotCheck } from '../states/snapshot-check.js';
import { BUNDLE_FORMAT, BUNDLE_VERSION, type Bundle, bundle } from './model.js';

export interface BundledCheckpoint {
  /** The document but for its snapshot, with the members that Cairn does not know. */
  readonly summary: CheckpointSummary & Pick<Checkpoint, 'diff'>;
  readonly snapshot: Snapshot;
  readonly pending_writes: readonly PendingWrite[];
}

export type BundledExecution = Bundle['execution'];
type Entry = Bundle['checkpoints'][number];

/** Checkpoints in the order in which they were made: a parent that comes behind its child is refused. */
export const makeBundle = (execution: BundledExecution, checkpoints: Iterable<BundledCheckpoint>): Bundle =>
  atOnce(bundleSteps(execution, checkpoints));

export function* bundleSteps(execution: BundledExecution, checkpoints: Iterable<BundledCheckpoint>): Steps<Bundle> {
  const { add, done } = startBundle(execution);
  for (const checkpoint of checkpoints) {
    add(checkpoint);
    yield;
  }
  return done();
}

/** For checkpoints that come one by one: none of the states given has to stay in memory for the next. */
export function startBundle(execution: BundledExecution): { add(checkpoint: BundledCheckpoint): void; done(): Bundle } {
  const entries: Entry[] = [];
  // Rebuilt from the parent's, so that together they take what changed and not the sum of all states.
  const states = new Map<string, Json>();
  const order = orderCheck();
  return {
    add({ summary, snapshot, pending_writes }) {
      order.next(summary);
      const state = snapshot as Json;
      const parent = states.get(summary.parent?.checkpoint_id ?? '');
      const rest = { ...apart(summary), ...(pending_writes.length > 0 ? { pending_writes: [...pending_writes] } : {}) };
      if (parent === undefined) {
        states.set(summary.id, state);
        entries.push({ ...rest, snapshot });
      } else {
        const changes = diffStates(parent, state);
        states.set(summary.id, applyChanges(parent, changes));
        entries.push({ ...rest, changes });
      }
    },
    done: () => ({ format: BUNDLE_FORMAT, version: BUNDLE_VERSION, execution, checkpoints: entries }),
  };
}

/** Members of an entry that a document may have under the same names, with a meaning of its own. */
const OWN = ['changes', 'pending_writes', 'others'] as const;

/** A document whose members of these names stand apart. */
function apart(summary: CheckpointSummary): CheckpointSummary & { others?: JsonObject } {
  const named = Object.entries(summary).filter(([name]) => (OWN as readonly string[]).includes(name));
  if (named.length === 0) return summary;
  const rest = Object.fromEntries(Object.entries(summary).filter(([name]) => !(name in Object.fromEntries(named))));
  const others = Object.fromEntries(named) as JsonObject;
  return { ...(rest as CheckpointSummary), others };
}

/** Whether two bundles are the same to the last byte, entry by entry. */
export function* sameBundleSteps(one: Bundle, other: Bundle): Steps<boolean> {
  const { element } = bundle.shape.checkpoints;
  const entryText = (value: Entry): string => stableJson(element, parseAs(element, value, naming(value.id)));
  const { checkpoints: entries } = one;
  const { checkpoints: others } = other;
  if (entries.length !== others.length) return false;
  if (bundleText({ ...one, checkpoints: [] }) !== bundleText({ ...other, checkpoints: [] })) return false;
  for (const [i, entry] of entries.entries()) {
    if (entryText(entry) !== entryText(others[i]!)) return false;
    yield;
  }
  return true;
}

/** Stable bytes, checked before they are written. */
export const bundleText = (value: Bundle): string =>
  stableJson(bundle, parseAs(bundle, value, `bundle of execution ${value.execution.execution_id}`));

interface ReadBundle {
  readonly execution: BundledExecution;
  readonly checkpoints: BundledCheckpoint[];
}

/** Everything is checked before anything is given out. States share what their parents have. */
export const readBundle = (value: unknown): ReadBundle => atOnce(readSteps(value));

export function* readSteps(value: unknown): Steps<ReadBundle> {
  const { execution, checkpoints: given } = readOutside(value);
  const states = new Map<string, Snapshot>();
  const order = orderCheck();
  const check = snapshotCheck();
  const checkpoints: BundledCheckpoint[] = [];
  for (const [index, one] of given.entries()) {
    yield;
    const { snapshot, changes, pending_writes, others, ...rest } = readEntry(one, index);
    const summary = { ...rest, ...others };
    const what = naming(summary.id);
    if (summary.execution_id !== execution.execution_id) {
      refuse(summary.id, `it is of execution ${summary.execution_id}, not of ${execution.execution_id}`);
    }
    order.next(summary);
    if ((snapshot === undefined) === (changes === undefined)) {
      refuse(summary.id, 'it must have either a snapshot or changes');
    }
    const state = check(snapshot ?? changed(summary, changes!, states), what);
    states.set(summary.id, state);
    checkpoints.push({ summary, snapshot: state, pending_writes: pending_writes ?? [] });
  }
  const { latest_checkpoint_id } = execution;
  if (latest_checkpoint_id !== undefined && !states.has(latest_checkpoint_id)) {
    refuse(latest_checkpoint_id, 'the execution stands at it, but it is not in the bundle');
  }
  return { execution, checkpoints };
}

const naming = (checkpoint_id: string): string => `checkpoint ${checkpoint_id} of the bundle`;

function refuse(checkpoint_id: string, why: string): never {
  throw invalid(`${naming(checkpoint_id)}: ${why}`, { checkpoint_id });
}

/** The checkpoints are looked at one by one, so that each is named by its id. */
const outside = bundle.extend({ checkpoints: z.array(z.unknown()) });
/** What a snapshot has in it is checked with what the states before it had, and not here. */
const entry = bundle.shape.checkpoints.element.extend({ snapshot: z.unknown().optional() });

function readOutside(value: unknown): z.output<typeof outside> {
  const { format, version } = (value ?? {}) as { format?: unknown; version?: unknown };
  if (format !== BUNDLE_FORMAT) {
    throw invalid(`this is no bundle of an execution: its format would be "${BUNDLE_FORMAT}"`);
  }
  if (version !== BUNDLE_VERSION) {
    const said =
      version === undefined
        ? 'the bundle names no version'
        : `bundles of version ${JSON.stringify(version)?.slice(0, 100)} cannot be read`;
    throw new CairnError('UNSUPPORTED_VERSION', `${said}: those that can are ${BUNDLE_VERSION}`, {
      version,
      supported: [BUNDLE_VERSION],
    });
  }
  return parseAs(outside, value, 'bundle');
}

function readEntry(value: unknown, index: number): z.output<typeof entry> {
  const { id } = (value ?? {}) as { id?: unknown };
  return parseAs(entry, value, typeof id === 'string' ? naming(id) : `bundle: checkpoints[${index}]`);
}

function changed(
  { id, parent }: CheckpointSummary,
  changes: NonNullable<Entry['changes']>,
  states: ReadonlyMap<string, Snapshot>,
): Json {
  const state = parent && states.get(parent.checkpoint_id);
  if (!state) refuse(id, `it has changes, but ${parent ? 'its parent does not come before it' : 'no parent'}`);
  try {
    return applyChanges(state as Json, changes);
  } catch (error) {
    return refuse(id, (error as Error).message);
  }
}

/** Each id once, and no parent behind its child. */
function orderCheck(): { next(summary: CheckpointSummary): void } {
  const seen = new Set<string>();
  const childOf = new Map<string, string>();
  return {
    next({ id, parent }) {
      if (seen.has(id)) refuse(id, 'another has the same id');
      seen.add(id);
      if (parent && !seen.has(parent.checkpoint_id)) childOf.set(parent.checkpoint_id, id);
      const child = childOf.get(id);
      if (child !== undefined || parent?.checkpoint_id === id) {
        refuse(child ?? id, `its parent ${id} does not come before it`);
      }
    },
  };
}
