/** The options of a worker, and their defaults. */
import { DEFAULT_TURN_LEASE_MS } from '../../coordination/contract.js';
import type { PromptFormat } from '../../facts/contract.js';
import { invalid } from '../../kernel/index.js';
import type { Backoff } from '../retries.js';

export interface WorkerChoice {
  /** The profile whose agent_turns are claimed, of any agent. */
  readonly profile?: string;
  /** The agent whose agent_turns are claimed. */
  readonly agent_id?: string;
  /** Default: host, process id and a random part. */
  readonly worker_id?: string;
  readonly format?: PromptFormat;
  /** Time without a heartbeat after which another worker can claim the agent_turn; default: 30,000. */
  readonly lease_ms?: number;
  /** Number of agent_turns at a time; default: 1. */
  readonly concurrency?: number;
  /** How long one claim waits for work; default: 20,000. */
  readonly wait_ms?: number;
  /** How long a stopping worker lets its handles run; default: 10,000. */
  readonly grace_ms?: number;
  /** Delay before a retry; default: 100, doubled up to 5,000. */
  readonly retry?: Partial<Backoff>;
  /** Gets errors that the worker has handled, such as an unreachable server. */
  readonly on_error?: (error: unknown) => void;
}

export interface WorkerSettings extends Required<Omit<WorkerChoice, 'profile' | 'agent_id' | 'retry'>> {
  readonly filter: { readonly profile_name?: string; readonly agent_id?: string };
  readonly backoff: Backoff;
}

export function settingsOf(choice: WorkerChoice): WorkerSettings {
  const { profile, agent_id, concurrency = 1 } = choice;
  if (profile === undefined && agent_id === undefined) throw invalid('a worker needs a `profile` or an `agent_id`');
  if (!Number.isInteger(concurrency) || concurrency < 1) throw invalid('`concurrency` must be an integer ≥ 1');
  const { wait_ms = 20_000 } = choice;
  if (!(wait_ms >= 100 && wait_ms <= 60_000)) throw invalid('`wait_ms` must be from 100 to 60,000');
  return {
    worker_id: choice.worker_id ?? defaultName(),
    filter: {
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

function defaultName(): string {
  // A browser has no process.
  const { process } = globalThis as { process?: { pid?: number; env?: Record<string, string | undefined> } };
  const host = process?.env?.HOSTNAME ?? process?.env?.COMPUTERNAME ?? 'worker';
  return [host.slice(0, 100), process?.pid ?? 0, crypto.randomUUID().slice(0, 8)].join('-');
}
