/** What every use case is given: the store it works on, and who calls. */
import type { CallOptions } from '../contract/api.js';
import type { Driver } from '../driver/driver.js';
import { QUEUE_BYTES } from '../driver/waiting.js';
import type { Caller } from '../model/key.js';
import type { StoreMeta } from '../store/tenants.js';
import type { AccessCounts } from './access-counts.js';
import type { CallsUnderWay } from './calls.js';
import type { Embedding } from './embedding.js';
import type { Erasures } from './erasures.js';
import type { JobQueue } from './job-queue.js';
import type { ActingAgent } from './memory-access.js';
import type { Providers } from './provider-calls.js';
import type { RetainedStates } from './retained-states.js';
import type { StreamHub } from './stream-hub.js';
import type { WrittenTenants } from './timekeeper.js';
import type { VectorIndexing } from './vector-indexing.js';
import type { Wakes } from './wakes.js';

export interface Limits {
  /** Of a card's or packet's canonical JSON. */
  readonly max_card_bytes: number;
  /** Of what is stored behind one answer; a page of a list ends before it. */
  readonly max_answer_bytes: number;
  /** Of what is written by all that waits for its commit; the driver refuses more. */
  readonly max_waiting_bytes: number;
  /** How long a scope that closes waits for what policies make of it. */
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
  readonly calls: CallsUnderWay;
  readonly written: WrittenTenants;
  readonly erasures: Erasures;
  readonly access: AccessCounts;
  readonly states: RetainedStates;
  readonly jobs: JobQueue;
  /** What summarises and extracts. */
  readonly providers: Providers;
  /** Where an embedder was given. */
  readonly embedding?: Embedding | undefined;
  readonly vector_indexing?: VectorIndexing | undefined;
}

/** An agent_turn, and the epoch in which the caller holds it. */
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
  /** The agent_turn that the call is made in, by its guard: a write is refused unless it is still held so. */
  readonly turn?: TurnGuard | undefined;
  /** The agent that a key without one acts for. */
  readonly for_agent?: string | undefined;
  /** The agent that it is made as, if that was given a part of memory only. */
  readonly acting?: ActingAgent | undefined;
}
