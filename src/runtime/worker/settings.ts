/** How a worker works: what may be set, and what it is otherwise. */
import { DEFAULT_TURN_LEASE_MS } from '../../coordination/contract.js';
import type { PromptFormat } from '../../facts/contract.js';
import { invalid } from '../../kernel/index.js';
import type { Backoff } from '../retries.js';

export interface WorkerTiming {
  /** How long the worker may be silent before another takes its agent_turn over; 30,000 unless given. */
  readonly lease_ms?: number;
  /** How many agent_turns it works on at a time; 1 unless given. */
  readonly concurrency?: number;
  /** How long one question for work waits; 20,000 unless given. */
  readonly wait_ms?: number;
  /** How long a worker that stops lets its handles go on; 10,000 unless given. */
  readonly grace_ms?: number;
  /** How long it waits before it tries again what a server did not answer; 100, doubled up to 5,000, unless given. */
  readonly retry?: Partial<Backoff>;
}

export interface WorkerChoice extends WorkerTiming {
  /** The profile whose agent_turns are claimed, of whatever agent. */
  readonly profile?: string;
  /** The agent whose agent_turns are claimed. */
  readonly agent_id?: string;
  /** What the worker is called; host, process and a random part unless given. */
  readonly worker_id?: string;
  readonly format?: PromptFormat;
  /** Told of what fails, such as a server that does not answer; what is told here is dealt with already. */
  readonly on_error?: (error: unknown) => void;
}

export interface WorkerSettings {
  readonly worker_id: string;
  readonly wanted: { readonly profile_name?: string; readonly agent_id?: string };
  readonly lease_ms: number;
  readonly concurrency: number;
  readonly wait_ms: number;
  readonly grace_ms: number;
  readonly format: PromptFormat;
  readonly backoff: Backoff;
  readonly on_error: (error: unknown) => void;
}

export function settingsOf(choice: WorkerChoice): WorkerSettings {
  const { profile, agent_id, concurrency = 1 } = choice;
  if (profile === undefined && agent_id === undefined) {
    throw invalid('a worker needs a profile or an agent_id, for which it works');
  }
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw invalid('the concurrency of a worker is a whole number from 1 on');
  }
  const { wait_ms = 20_000 } = choice;
  if (!(wait_ms >= 100 && wait_ms <= 60_000)) throw invalid('the wait_ms of a worker is from 100 to 60,000');
  return {
    worker_id: choice.worker_id ?? someName(),
    wanted: {
      ...(profile === undefined ? {} : { profile_name: profile }),
      ...(agent_id === undefined ? {} : { agent_id }),
    },
    lease_ms: choice.lease_ms ?? DEFAULT_TURN_LEASE_MS,
    concurrency,
    wait_ms,
    grace_ms: choice.grace_ms ?? 10_000,
    format: choice.format ?? 'openai',
    backoff: { first_ms: 100, longest_ms: 5000, ...choice.retry },
    on_error: choice.on_error ?? (() => undefined),
  };
}

function someName(): string {
  // A browser has no process.
  const { process } = globalThis as { process?: { pid?: number; env?: Record<string, string | undefined> } };
  const host = process?.env?.HOSTNAME ?? process?.env?.COMPUTERNAME ?? 'worker';
  return [host.slice(0, 100), process?.pid ?? 0, crypto.randomUUID().slice(0, 8)].join('-');
}
