/** Failures of a model endpoint. No message holds a key or a text that was sent. */
import { CairnError } from '../kernel/index.js';
import { costFrom, memberOf, type ProviderCost } from './cost.js';

/** `unavailable`: unreachable or overloaded. `refused`: request rejected. `nonsense`: unusable answer. */
type ModelFailureReason = 'not_installed' | 'timeout' | 'unavailable' | 'refused' | 'nonsense';

export const modelFailure = (
  reason: ModelFailureReason,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): CairnError => new CairnError('MODEL_FAILED', message, { reason, ...details });

export const failureReason = (error: unknown): ModelFailureReason | undefined =>
  error instanceof CairnError && error.code === 'MODEL_FAILED'
    ? (error.details?.reason as ModelFailureReason | undefined)
    : undefined;

/** A failure whose message is safe to store: it quotes no input. */
export class PlainFailure extends Error {
  /** The cost of an unusable answer. */
  readonly cost: ProviderCost | undefined;

  constructor(message: string, cost?: ProviderCost) {
    super(message);
    this.cost = cost;
  }
}

export function costOfFailure(error: unknown): ProviderCost | undefined {
  const reported = memberOf(error, 'cost') ?? memberOf(memberOf(error, 'details'), 'cost') ?? undefined;
  return reported === undefined ? undefined : costFrom(reported);
}

const MAX_REASON = 500;

/** A reason on one line of bounded length, valid in any column. */
export const plainReason = (text: string): string =>
  text
    .slice(0, 4 * MAX_REASON)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, MAX_REASON)
    .toWellFormed();

/** The reason of a failure, safe to store: a foreign message may quote its input, so only its code or name is used. */
export function reasonOf(error: unknown): string {
  if (isOwn(error)) return plainReason(error.message);
  const names = [memberOf(error, 'code'), memberOf(error, 'name')];
  const known = names.find((name) => typeof name === 'string' && /^\w{1,60}$/.test(name));
  return `it failed with ${known ?? 'an error'}`;
}

/** Whether Cairn wrote the message. */
function isOwn(error: unknown): error is Error {
  try {
    const own = error instanceof PlainFailure || failureReason(error) !== undefined;
    return own && typeof (error as Error).message === 'string';
  } catch {
    // A foreign object whose getters throw.
    return false;
  }
}

type Headers = Readonly<Record<string, string>> | undefined;

/** Why a request failed, whether a retry may succeed, and the delay that the endpoint asked for. */
export function readFailure(error: unknown): {
  reason: ModelFailureReason;
  message: string;
  retryable: boolean;
  wait_ms: number | undefined;
} {
  const { statusCode, isRetryable, responseHeaders } = (error ?? {}) as {
    statusCode?: number;
    isRetryable?: boolean;
    responseHeaders?: Headers;
  };
  const retryable = isRetryable ?? statusCode === undefined;
  return {
    reason: retryable ? 'unavailable' : 'refused',
    message: statusCode === undefined ? 'could not be reached' : `answered with status ${statusCode}`,
    retryable,
    wait_ms: askedWait(responseHeaders),
  };
}

function askedWait(headers: Headers): number | undefined {
  const ms = Number(headers?.['retry-after-ms']);
  if (Number.isFinite(ms) && ms >= 0 && headers?.['retry-after-ms']) return ms;
  const after = headers?.['retry-after'];
  if (!after) return undefined;
  const seconds = Number(after);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(after);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
