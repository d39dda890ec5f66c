/** What goes wrong with a model endpoint, in words that hold neither a key nor what was sent. */
import { CairnError } from '../model/errors.js';
import type { ProviderCost } from './cost.js';

/**
 * not_installed: the packages are missing. timeout: no answer in time. unavailable: it cannot be reached, or is
 * overloaded. refused: it does not take the request. nonsense: its answer is of no use.
 */
export type ModelFailureReason = 'not_installed' | 'timeout' | 'unavailable' | 'refused' | 'nonsense';

export const modelFailure = (
  reason: ModelFailureReason,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): CairnError => new CairnError('MODEL_FAILED', message, { reason, ...details });

export function failureReason(error: unknown): ModelFailureReason | undefined {
  return error instanceof CairnError && error.code === 'MODEL_FAILED'
    ? (error.details!.reason as ModelFailureReason)
    : undefined;
}

/** A failure whose message was written here: it holds nothing of what was worked on. */
export class PlainFailure extends Error {
  /** Of an answer that is of no use. */
  readonly cost: ProviderCost | undefined;

  constructor(message: string, cost?: ProviderCost) {
    super(message);
    this.cost = cost;
  }
}

/** What was spent before it failed. */
export function costOfFailure(error: unknown): ProviderCost | undefined {
  if (error instanceof PlainFailure) return error.cost;
  return error instanceof CairnError ? (error.details?.cost as ProviderCost | undefined) : undefined;
}

const NAME = /^\w{1,60}$/;

/** What a failure says of itself, fit to be kept: the words of others may repeat what they were given, so these are left out. */
export function reasonOf(error: unknown): string {
  const isPlain = error instanceof PlainFailure || failureReason(error) !== undefined;
  if (isPlain) return (error as Error).message.replace(/\s+/g, ' ').slice(0, 500);
  const { name, code } = (error instanceof Error ? error : {}) as { name?: string; code?: unknown };
  const known = [code, name].find((one) => typeof one === 'string' && NAME.test(one));
  return `it failed with ${known ?? 'an error'}`;
}

interface CallFailure {
  readonly statusCode?: number;
  readonly isRetryable?: boolean;
  readonly responseHeaders?: Readonly<Record<string, string>>;
}

/** How a request failed, whether another may do better, and how long the endpoint asks to wait. */
export function readFailure(error: unknown): {
  reason: ModelFailureReason;
  message: string;
  retryable: boolean;
  wait_ms: number | undefined;
} {
  const { statusCode, isRetryable, responseHeaders } = (error ?? {}) as CallFailure;
  const status = statusCode === undefined ? '' : ` with status ${statusCode}`;
  const retryable = isRetryable ?? statusCode === undefined;
  return {
    reason: retryable ? 'unavailable' : 'refused',
    message: statusCode === undefined ? 'could not be reached' : `answered${status}`,
    retryable,
    wait_ms: askedWait(responseHeaders),
  };
}

function askedWait(headers: Readonly<Record<string, string>> | undefined): number | undefined {
  const ms = Number(headers?.['retry-after-ms']);
  if (Number.isFinite(ms) && ms >= 0 && headers?.['retry-after-ms']) return ms;
  const after = headers?.['retry-after'];
  if (!after) return undefined;
  const seconds = Number(after);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(after);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
