/** Cache of the states stored or loaded last: the next state is compared with memory, not with the database. */
import { RuntimePart } from '../../engine/index.js';
import { type State, sizeOf } from './snapshot-state.js';

/** In characters of JSON. States share values with their callers, so they mostly take less memory. */
const MAX_SIZE = 64 * 1024 * 1024;
const MAX_STATES = 1000;

interface CheckpointName {
  readonly checkpoint_id: string;
  readonly execution_id: string;
}

interface Retained {
  readonly owner: string;
  readonly state: State;
}

export class RetainedStates {
  /** Least recently used first. */
  readonly #states = new Map<string, Retained>();
  /** By execution, the checkpoint added last. */
  readonly #last = new Map<string, string>();
  #size = 0;

  /** Probably the current checkpoint of the execution: a hint, to be verified. */
  lastOf(tenant: string, execution_id: string): string | undefined {
    return this.#last.get(nameOf(tenant, execution_id));
  }

  setLast(tenant: string, execution_id: string, checkpoint_id: string): void {
    const name = nameOf(tenant, execution_id);
    this.#last.delete(name);
    this.#last.set(name, checkpoint_id);
    if (this.#last.size > MAX_STATES) this.#last.delete(this.#last.keys().next().value!);
  }

  get(tenant: string, checkpoint_id: string): State | undefined {
    const name = nameOf(tenant, checkpoint_id);
    const retained = this.#states.get(name);
    if (retained) {
      this.#states.delete(name);
      this.#states.set(name, retained);
    }
    return retained?.state;
  }

  /** The state, if it is of this execution. */
  of(tenant: string, { checkpoint_id, execution_id }: CheckpointName): State | undefined {
    const isOwn = this.#states.get(nameOf(tenant, checkpoint_id))?.owner === nameOf(tenant, execution_id);
    return isOwn ? this.get(tenant, checkpoint_id) : undefined;
  }

  set(tenant: string, { checkpoint_id, execution_id }: CheckpointName, state: State): void {
    const name = nameOf(tenant, checkpoint_id);
    this.#drop(name);
    const size = sizeOf(state);
    if (size > MAX_SIZE / 2) return;
    this.#states.set(name, { owner: nameOf(tenant, execution_id), state });
    this.#size += size;
    for (const oldest of this.#states.keys()) {
      if (this.#size <= MAX_SIZE && this.#states.size <= MAX_STATES) break;
      this.#drop(oldest);
    }
  }

  forget(tenant: string, checkpoint_id: string): void {
    this.#drop(nameOf(tenant, checkpoint_id));
  }

  /** Deleted content must not stay in memory. */
  forgetExecutions(tenant: string, execution_ids: readonly string[]): void {
    const owners = new Set(execution_ids.map((execution_id) => nameOf(tenant, execution_id)));
    for (const [name, { owner }] of this.#states) if (owners.has(owner)) this.#drop(name);
    for (const owner of owners) this.#last.delete(owner);
  }

  #drop(name: string): void {
    const retained = this.#states.get(name);
    if (!retained) return;
    this.#states.delete(name);
    this.#size -= sizeOf(retained.state);
  }
}

const nameOf = (tenant: string, id: string): string => `${tenant} ${id}`;

export const retainedStates = new RuntimePart<RetainedStates>('retained states');
