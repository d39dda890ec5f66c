/** What every use case is given: the store it works on, and who calls. */
import type { RetainedStates } from '../../checkpoints/states/retained-states.js';
import type { Driver } from '../../driver/driver.js';
import { QUEUE_BYTES } from '../../driver/write-queue.js';
import type { ActingAgent } from '../../identity/access/permissions.js';
import type { Caller } from '../../identity/keys/model.js';
import type { Embedding } from '../../index/vectors/embedding.js';
import type { VectorIndexing } from '../../index/vectors/indexing.js';
import type { AccessCounts } from '../../memory/versions/access-counts.js';
import type { Providers } from '../../recall/jobs/provider-calls.js';
import type { JobQueue } from '../../recall/jobs/queue.js';
import type { CallOptions } from '../contract/call-options.js';
import type { WrittenTenants } from '../leases/timekeeper.js';
import type { Wakes } from '../leases/wakes.js';
import type { Erasures } from '../lifetimes/running-erasures.js';
import type { StreamHub } from '../reads/stream-hub.js';
import type { StoreMeta } from '../writes/tenants.js';
import type { CallsUnderWay } from './open-calls.js';

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
