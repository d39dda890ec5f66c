/** What goes wrong with a model endpoint, in words that hold neither a key nor what was sent. */
import { CairnError } from '../kernel/index.js';
import { costFrom, memberOf, type ProviderCost } from './cost.js';

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
    ? (error.details?.reason as ModelFailureReason | undefined)
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
  const told = memberOf(error, 'cost') ?? memberOf(memberOf(error, 'details'), 'cost');
  return told === undefined || told === null ? undefined : costFrom(told);
}

const NAME = /^\w{1,60}$/;
const MAX_REASON = 500;

/** A reason as it can be kept anywhere. */
export const plainReason = (text: string): string =>
  text
    .slice(0, 4 * MAX_REASON)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, MAX_REASON)
    .toWellFormed();

/** What a failure says of itself, fit to be kept: the words of others may repeat what they were given, so these are left out. */
export function reasonOf(error: unknown): string {
  if (isOwn(error)) return plainReason(error.message);
  const known = [memberOf(error, 'code'), memberOf(error, 'name')].find(
    (one) => typeof one === 'string' && NAME.test(one),
  );
  return `it failed with ${known ?? 'an error'}`;
}

/** Whether its message was written here. */
function isOwn(error: unknown): error is Error {
  try {
    const own = error instanceof PlainFailure || failureReason(error) !== undefined;
    return own && typeof (error as Error).message === 'string';
  } catch {
    // What cannot even be looked at was made by another.
    return false;
  }
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
