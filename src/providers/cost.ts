/** What a call of a provider cost. */

export interface ProviderCost {
  /** `offline`, or the kind of the endpoint. */
  readonly provider: string;
  /** Null offline. */
  readonly model: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly duration_ms: number;
  /** Requests that were made, also those that failed; 0 offline. */
  readonly attempts: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export const offlineCost = (started: number): ProviderCost => ({
  provider: 'offline',
  model: null,
  input_tokens: 0,
  output_tokens: 0,
  duration_ms: Math.round(performance.now() - started),
  attempts: 0,
});

/** A member of whatever another gave: what throws when it is looked at is not there. */
export function memberOf(value: unknown, name: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  } catch {
    return undefined;
  }
}

const MAX_NAME = 200;
const isName = (value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= MAX_NAME &&
  value.isWellFormed() &&
  !value.includes('\u0000');

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
export const countOf = (value: unknown): number => (isCount(value) ? value : 0);

/** What a provider says that it cost, as far as that can be believed: a sum with the rest would say nothing at all. */
export function costFrom(told: unknown, provider?: unknown): ProviderCost {
  const [named, model, duration_ms] = ['provider', 'model', 'duration_ms'].map((name) => memberOf(told, name));
  return {
    provider: [named, provider].find(isName) ?? 'unknown',
    model: isName(model) ? model : null,
    input_tokens: countOf(memberOf(told, 'input_tokens')),
    output_tokens: countOf(memberOf(told, 'output_tokens')),
    duration_ms: typeof duration_ms === 'number' ? countOf(Math.round(duration_ms)) : 0,
    attempts: countOf(memberOf(told, 'attempts')),
  };
}

const hasTokens = ({ input_tokens, output_tokens }: ProviderCost): boolean => input_tokens + output_tokens > 0;
/** Whether there is something to account for. */
export const isSpent = (cost: ProviderCost | null): cost is ProviderCost =>
  cost !== null && (cost.attempts > 0 || hasTokens(cost));

const added = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);

/** Of several calls, as one. It bears the name of the last at which tokens were spent, so that it is known who has them. */
export const sumOfCosts = (first: ProviderCost, ...others: readonly ProviderCost[]): ProviderCost =>
  others.reduce((sum, one) => {
    const { provider, model } = hasTokens(one) || !hasTokens(sum) ? one : sum;
    return {
      provider,
      model,
      input_tokens: added(sum.input_tokens, one.input_tokens),
      output_tokens: added(sum.output_tokens, one.output_tokens),
      duration_ms: added(sum.duration_ms, one.duration_ms),
      attempts: added(sum.attempts, one.attempts),
    };
  }, first);
