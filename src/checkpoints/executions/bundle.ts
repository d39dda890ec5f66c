/** Bundles: a whole execution in one file. Writes and reads the states of its checkpoints. */
import { z } from 'zod';
import { type Json, type JsonObject, stableJson } from '../../kernel/contract.js';
import { invalid, parseAs, type Steps } from '../../kernel/index.js';
import type { Checkpoint, CheckpointSummary, PendingWrite, Snapshot } from '../checkpoints/model.js';
import { checkVersion } from '../checkpoints/versions.js';
import { diffStates } from '../states/diff.js';
import { applyChanges } from '../states/patch.js';
import { snapshotCheck } from '../states/snapshot-check.js';
import { BUNDLE_FORMAT, BUNDLE_VERSION, type Bundle, bundle } from './model.js';

export interface BundledCheckpoint {
  /** The document without its snapshot, with its unknown members. */
  readonly summary: CheckpointSummary & Pick<Checkpoint, 'diff'>;
  readonly snapshot: Snapshot;
  readonly pending_writes: readonly PendingWrite[];
}

export type BundledExecution = Bundle['execution'];
type Entry = Bundle['checkpoints'][number];

/** Takes the checkpoints one by one: a caller need not keep their states in memory. Parents come before children. */
export function* bundleSteps(execution: BundledExecution, checkpoints: Iterable<BundledCheckpoint>): Steps<Bundle> {
  const entries: Entry[] = [];
  // Rebuilt from the parent's state, so that all states together take no more memory than their changes.
  const states = new Map<string, Json>();
  const checkOrder = orderCheck();
  for (const { summary, snapshot, pending_writes } of checkpoints) {
    checkOrder(summary);
    const parent = states.get(summary.parent?.checkpoint_id ?? '');
    const rest = { ...apart(summary), ...(pending_writes.length > 0 ? { pending_writes: [...pending_writes] } : {}) };
    if (parent === undefined) {
      states.set(summary.id, snapshot as Json);
      entries.push({ ...rest, snapshot });
    } else {
      const changes = diffStates(parent, snapshot as Json);
      states.set(summary.id, applyChanges(parent, changes));
      entries.push({ ...rest, changes });
    }
    yield;
  }
  return { format: BUNDLE_FORMAT, version: BUNDLE_VERSION, execution, checkpoints: entries };
}

/** Members of a bundle entry. A document's own members of these names go into `others`. */
const OWN: readonly string[] = ['changes', 'pending_writes', 'others'];

function apart(summary: CheckpointSummary): CheckpointSummary & { others?: JsonObject } {
  const members = Object.entries(summary);
  const named = members.filter(([name]) => OWN.includes(name));
  if (named.length === 0) return summary;
  const rest = Object.fromEntries(members.filter(([name]) => !OWN.includes(name))) as CheckpointSummary;
  return { ...rest, others: Object.fromEntries(named) as JsonObject };
}

/** Whether two bundles have the same bytes, entry by entry. */
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

/** Stable bytes, validated before they are written. */
export const bundleText = (value: Bundle): string =>
  stableJson(bundle, parseAs(bundle, value, `bundle of execution ${value.execution.execution_id}`));

/** Validates the whole bundle. States share values with their parents. */
export function* readSteps(value: unknown): Steps<{ execution: BundledExecution; checkpoints: BundledCheckpoint[] }> {
  const { execution, checkpoints: given } = readOutside(value);
  const states = new Map<string, Snapshot>();
  const checkOrder = orderCheck();
  const check = snapshotCheck();
  const checkpoints: BundledCheckpoint[] = [];
  for (const [index, one] of given.entries()) {
    yield;
    const { snapshot, changes, pending_writes, others, ...rest } = readEntry(one, index);
    const summary = { ...rest, ...others };
    const what = naming(summary.id);
    if (summary.execution_id !== execution.execution_id)
      refuse(summary.id, `its execution is ${summary.execution_id}, not ${execution.execution_id}`);
    checkOrder(summary);
    if ((snapshot === undefined) === (changes === undefined))
      refuse(summary.id, 'it must have either `snapshot` or `changes`');
    const state = check(snapshot ?? changed(summary, changes!, states), what);
    states.set(summary.id, state);
    checkpoints.push({ summary, snapshot: state, pending_writes: pending_writes ?? [] });
  }
  const { latest_checkpoint_id } = execution;
  if (latest_checkpoint_id !== undefined && !states.has(latest_checkpoint_id))
    refuse(latest_checkpoint_id, 'it is `latest_checkpoint_id` of the execution, but not in the bundle');
  return { execution, checkpoints };
}

const naming = (checkpoint_id: string): string => `checkpoint ${checkpoint_id} of the bundle`;

function refuse(checkpoint_id: string, why: string): never {
  throw invalid(`${naming(checkpoint_id)}: ${why}`, { checkpoint_id });
}

/** Checkpoints are parsed one by one, so that an error names their id. */
const outside = bundle.extend({ checkpoints: z.array(z.unknown()) });
/** The content of a snapshot is validated by `snapshotCheck`. */
const entry = bundle.shape.checkpoints.element.extend({ snapshot: z.unknown().optional() });

function readOutside(value: unknown): z.output<typeof outside> {
  const { format, version } = (value ?? {}) as { format?: unknown; version?: unknown };
  if (format !== BUNDLE_FORMAT) throw invalid(`not a bundle of an execution: \`format\` must be "${BUNDLE_FORMAT}"`);
  checkVersion('bundle', version, [BUNDLE_VERSION]);
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
  if (!state) refuse(id, `it has \`changes\`, but ${parent ? 'its parent does not come before it' : 'no parent'}`);
  try {
    return applyChanges(state as Json, changes);
  } catch (error) {
    return refuse(id, (error as Error).message);
  }
}

/** Refuses a duplicate id, and a parent after its child. */
function orderCheck(): (summary: CheckpointSummary) => void {
  const seen = new Set<string>();
  const childOf = new Map<string, string>();
  return ({ id, parent }) => {
    if (seen.has(id)) refuse(id, 'another checkpoint has the same id');
    seen.add(id);
    if (parent && !seen.has(parent.checkpoint_id)) childOf.set(parent.checkpoint_id, id);
    const child = childOf.get(id);
    if (child !== undefined || parent?.checkpoint_id === id)
      refuse(child ?? id, `its parent ${id} does not come before it`);
  };
}
