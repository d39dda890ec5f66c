/** The states that were last stored or loaded, so that the next one is compared with memory and not with the database. */
import { RuntimePart } from '../../engine/index.js';
import { type State, sizeOf } from './snapshot-state.js';

/** Characters of JSON in all that is retained. What a caller still holds is shared with it, so it is mostly less. */
const MAX_SIZE = 64 * 1024 * 1024;
const MAX_STATES = 1000;

interface Retained {
  /** Its execution. */
  readonly owner: string;
  readonly state: State;
}

export class RetainedStates {
  /** The one that was asked for last stands last. */
  readonly #states = new Map<string, Retained>();
  /** By execution, the checkpoint that was added last. */
  readonly #last = new Map<string, string>();
  #size = 0;

  /** Where an execution most likely stands; whoever relies on it has to look. */
  lastOf(tenant: string, execution_id: string): string | undefined {
    return this.#last.get(nameOf(tenant, execution_id));
  }

  setLast(tenant: string, execution_id: string, checkpoint_id: string): void {
    const name = nameOf(tenant, execution_id);
    this.#last.delete(name);
    this.#last.set(name, checkpoint_id);
    if (this.#last.size <= MAX_STATES) return;
    for (const oldest of this.#last.keys()) {
      this.#last.delete(oldest);
      break;
    }
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

  set(
    tenant: string,
    { checkpoint_id, execution_id }: { readonly checkpoint_id: string; readonly execution_id: string },
    state: State,
  ): void {
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

  /** What was deleted stays in no memory either. */
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
