/** Trying again while a server is away: which errors are worth it, and how long to wait before. */
import { anySignal, CairnError, type ErrorCode } from '../kernel/index.js';

/** Those after which the same call may do what it should: nothing was done, or whether it was is not known. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'SERVER_UNREACHABLE',
  'COMMIT_UNKNOWN',
  'DATABASE_UNAVAILABLE',
  'SHUTTING_DOWN',
  'OVERLOADED',
]);

export const isPassing = (error: unknown): boolean => error instanceof CairnError && PASSING.has(error.code);

export interface Backoff {
  /** Before the second try; doubled before each further one. */
  readonly first_ms: number;
  readonly longest_ms: number;
}

/** With jitter, so that workers that lost their server together do not come back together. */
export const waitBefore = ({ first_ms, longest_ms }: Backoff, failures: number): number =>
  Math.min(longest_ms, first_ms * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);

/** Resolves when the time has passed or the signal is given, whichever comes first. */
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

/** The answer of a try that may hang with its server: one that takes longer counts as a server that is away. */
export async function within<T>(ms: number, signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  try {
    return await run(anySignal([signal, late.signal]));
  } catch (error) {
    if (!late.signal.aborted || signal.aborted) throw error;
    throw new CairnError('SERVER_UNREACHABLE', `there was no answer within ${ms} ms`, undefined, error);
  } finally {
    clearTimeout(timer);
  }
}

export interface Retries {
  readonly backoff: Backoff;
  /** Given, it is not tried again: the last error is thrown. */
  readonly signal: AbortSignal;
  /** Whether there is time for one more try. */
  readonly goesOn?: () => boolean;
  readonly onFailure?: (error: unknown) => void;
}

/** Runs it until it is answered, or refused for good. */
export async function retrying<T>(
  { backoff, signal, goesOn = () => true, onFailure }: Retries,
  run: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
      onFailure?.(error);
      await pause(waitBefore(backoff, failures), signal);
      if (signal.aborted || !goesOn()) throw error;
    }
  }
}
