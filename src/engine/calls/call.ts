/** The call that every use case is given: the store, the caller and the options. */
import { type Driver, QUEUE_BYTES, type Tx } from '../../driver/index.js';
import type { ActingAgent } from '../access/rules.js';
import type { CallOptions } from '../contract/call-options.js';
import type { Wakes } from '../leases/wakes.js';
import type { Erasures } from '../lifetimes/running-erasures.js';
import type { StreamHub } from '../reads/stream-hub.js';
import type { StoreMeta } from '../writes/store-meta.js';
import type { Caller } from './caller.js';
import type { OpenCalls, WrittenTenants } from './open-calls.js';

export interface Limits {
  /** Largest card or packet, as canonical JSON. */
  readonly max_card_bytes: number;
  /** Most stored content behind one answer; a page of a list ends before it. */
  readonly max_answer_bytes: number;
  /** Most content of writes that wait for their commit; further writes are refused with OVERLOADED. */
  readonly max_waiting_bytes: number;
  /** How long a closing scope waits for its summaries and facts. */
  readonly max_closing_ms: number;
}

export const defaultLimits: Limits = {
  max_card_bytes: 1024 * 1024,
  max_answer_bytes: 32 * 1024 * 1024,
  max_waiting_bytes: QUEUE_BYTES,
  max_closing_ms: 60_000,
};

export interface Runtime {
  readonly driver: Driver;
  readonly meta: StoreMeta;
  readonly limits: Limits;
  readonly hub: StreamHub;
  readonly wakes: Wakes;
  readonly calls: OpenCalls;
  readonly written: WrittenTenants;
  readonly erasures: Erasures;
  /** Parts of other modules: see RuntimePart. */
  readonly parts: Map<object, unknown>;
}

/** A part of the runtime that a module adds when a store opens, and finds through any call. */
export class RuntimePart<T> {
  readonly #what: string;

  constructor(what: string) {
    this.#what = what;
  }

  add({ parts }: Pick<Runtime, 'parts'>, part: T): T {
    parts.set(this, part);
    return part;
  }

  /** Undefined if the store was opened without it. */
  find({ parts }: Pick<Runtime, 'parts'>): T | undefined {
    return parts.get(this) as T | undefined;
  }

  of(runtime: Pick<Runtime, 'parts'>): T {
    const part = this.find(runtime);
    if (part === undefined) throw new Error(`the store was opened without ${this.#what}`);
    return part;
  }
}

/** An agent_turn and the epoch in which the caller holds it. */
export interface TurnGuard {
  readonly agent_turn_id: string;
  readonly turn_epoch: number;
}

/** One call of one operation. */
export interface Call extends Runtime {
  /** Such as `cards.add`. */
  readonly operation: string;
  readonly caller: Caller;
  readonly tenant: string;
  readonly options: CallOptions;
  /** The agent_turn of the call: a write is refused unless the caller still holds it in this epoch. */
  readonly turn?: TurnGuard | undefined;
  /** The agent for which a key without an agent acts. */
  readonly for_agent?: string | undefined;
  /** The calling agent, if its memory_access is restricted. */
  readonly acting?: ActingAgent | undefined;
}

/** A call inside one transaction, with the time that counts in it. */
export interface Work {
  readonly call: Call;
  readonly tx: Tx;
  readonly now: number;
}
