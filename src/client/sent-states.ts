/** Sends checkpoints as the changes from the last one of their execution, where that is shorter than the whole state. */
import type { Api, CallOptions } from '../api/index.js';
import { applyChanges, type Changes, diffStates, sentSnapshot } from '../checkpoints/contract.js';
import { readLeniently } from '../engine/contract.js';
import { type Json, jsonFault } from '../kernel/contract.js';
import { CairnError, isLongerThan, toImmutable } from '../kernel/index.js';

/** The last state that was sent of an execution. The server knows it by the id of its checkpoint. */
interface SentState {
  readonly checkpoint_id: string;
  readonly state: Json;
  /** Estimate of its JSON text, in characters. */
  readonly size: number;
}

/** Shorter states are always sent whole. */
const MIN_SIZE = 2048;
/** Of the states of all executions, in characters of JSON. States share values with their callers. */
const MAX_SIZE = 64 * 1024 * 1024;
const MAX_STATES = 100;
/** The server checks the exact depth of a value in the changes. */
const ENVELOPE_DEPTH = 8;

class SentStates {
  /** Least recently used first. */
  readonly #states = new Map<string, SentState>();
  #size = 0;

  of(execution_id: string): SentState | undefined {
    return this.#states.get(execution_id);
  }

  keep(execution_id: string, sent: SentState): void {
    this.forget(execution_id);
    if (sent.size < MIN_SIZE || sent.size > MAX_SIZE) return;
    this.#states.set(execution_id, sent);
    this.#size += sent.size;
    for (const oldest of this.#states.keys()) {
      if (this.#size <= MAX_SIZE && this.#states.size <= MAX_STATES) break;
      this.forget(oldest);
    }
  }

  forget(execution_id: string): void {
    this.#size -= this.#states.get(execution_id)?.size ?? 0;
    this.#states.delete(execution_id);
  }
}

type Create = Api['checkpoints']['create'];
type Input = Parameters<Create>[0];

/**
 * The operation with changes in place of a state, if the server has the state of the last checkpoint. The answer to the
 * whole state counts: it is sent after any refusal that may be due to the changes.
 */
export function sendingChanges(create: Create): Create {
  const sent = new SentStates();
  return async (input: Input, options?: CallOptions) => {
    const { snapshot, ...rest } = input;
    const { execution_id } = input;
    if (typeof snapshot !== 'object' || snapshot === null || typeof execution_id !== 'string')
      return create(input, options);
    const last = sent.of(execution_id);
    const delta = last && deltaFrom(last, snapshot as unknown as Json);
    const next = delta ?? wholeOf(snapshot as unknown as Json);
    const whole = () => create(delta ? { ...rest, snapshot: delta.state as never } : input, options);
    const summary = await (delta
      ? create({ ...rest, base: last.checkpoint_id, changes: delta.changes }, options).catch((error: unknown) => {
          if (!(error instanceof CairnError) || !DUE_TO_CHANGES.has(error.code)) throw error;
          sent.forget(execution_id);
          return whole();
        })
      : whole());
    if (next) sent.keep(execution_id, { checkpoint_id: summary.id, state: next.state, size: next.size });
    return summary;
  };
}

/** Invalid input too: the whole state is refused by the place of the fault in it. */
const DUE_TO_CHANGES: ReadonlySet<string> = new Set(['UNKNOWN_BASE', 'INVALID_INPUT', 'TOO_LARGE']);

/** Taken at once, since the caller may change the snapshot later; undefined if the whole state is the better choice. */
function deltaFrom({ state, size }: SentState, snapshot: Json) {
  const found = diffStates(state, readLeniently(sentSnapshot, snapshot) as Json);
  // Before and after; and sent as a whole, it is refused by the place of the fault in it.
  if (isLongerThan(found as Json, size / 2) || jsonFault(found, -ENVELOPE_DEPTH)) return undefined;
  const changes = toImmutable(found) as Changes;
  return { changes, state: applyChanges(state, changes), size: size + growth(changes) };
}

function growth(changes: Changes): number {
  let size = 0;
  for (const { before, after } of Object.values(changes)) size += lengthOf(after) - lengthOf(before);
  return size;
}

const lengthOf = (value: Json | undefined): number => (value === undefined ? 0 : JSON.stringify(value).length);

/** The state as the server stores it; undefined if it refuses it. */
function wholeOf(snapshot: Json): { readonly state: Json; readonly size: number } | undefined {
  if (!isLongerThan(snapshot, MIN_SIZE) || jsonFault(snapshot)) return undefined;
  const state = toImmutable(readLeniently(sentSnapshot, snapshot));
  return { state, size: JSON.stringify(state).length };
}
