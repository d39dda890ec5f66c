/** Retries while a server is unavailable: which errors to retry, with exponential backoff and jitter. */
import { anySignal, CairnError, type ErrorCode } from '../kernel/index.js';

/** Errors of a call that had no effect, or whose outcome is unknown. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set([
  'SERVER_UNREACHABLE',
  'COMMIT_UNKNOWN',
  'DATABASE_UNAVAILABLE',
  'SHUTTING_DOWN',
  'OVERLOADED',
]);

/** A store or client that its owner closed (`closed`) does not come back. */
const isTransient = (error: unknown): boolean =>
  error instanceof CairnError && TRANSIENT.has(error.code) && !error.details?.closed;

export interface Backoff {
  /** Delay before the first retry; doubles with each further one. */
  readonly first_ms: number;
  readonly longest_ms: number;
}

/** The delay before a retry. Jitter keeps workers that lost a server together from returning together. */
export const retryDelay = ({ first_ms, longest_ms }: Backoff, failures: number): number =>
  Math.min(longest_ms, first_ms * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);

/** Resolves after a time, or when the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Runs a call with a timeout; a call that takes longer fails as if the server were unreachable. */
export async function withTimeout<T>(
  ms: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), ms);
  try {
    return await run(anySignal([signal, timeout.signal]));
  } catch (error) {
    if (!timeout.signal.aborted || signal.aborted) throw error;
    throw new CairnError('SERVER_UNREACHABLE', `there was no answer within ${ms} ms`, undefined, error);
  } finally {
    clearTimeout(timer);
  }
}

interface Retries {
  readonly backoff: Backoff;
  /** Ends the retries: the last error is thrown. */
  readonly signal: AbortSignal;
  /** Whether there is time for another attempt. */
  readonly hasTime?: () => boolean;
  readonly onFailure?: (error: unknown) => void;
}

/** Runs a call until it succeeds or fails with an error that is not transient. */
export async function withRetries<T>(
  { backoff, signal, hasTime = () => true, onFailure }: Retries,
  run: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
      onFailure?.(error);
      await pause(retryDelay(backoff, failures), signal);
      if (signal.aborted || !hasTime()) throw error;
    }
  }
}
