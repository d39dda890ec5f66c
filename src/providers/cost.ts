/** The cost of a provider call, and the options of one. */

export interface ProviderCost {
  /** `offline`, or the kind of endpoint. */
  readonly provider: string;
  /** Null offline. */
  readonly model: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly duration_ms: number;
  /** Requests sent, failed ones included; 0 offline. */
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

/** A member of an untrusted value; undefined if a getter throws. */
export function memberOf(value: unknown, name: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  } catch {
    return undefined;
  }
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 200 && value.isWellFormed() && !value.includes('\u0000');

export const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;

/** The cost that a provider reports; an invalid member counts as zero, so that sums stay valid. */
export function costFrom(reported: unknown, provider?: unknown): ProviderCost {
  const [named, model, duration_ms] = ['provider', 'model', 'duration_ms'].map((name) => memberOf(reported, name));
  return {
    provider: [named, provider].find(isName) ?? 'unknown',
    model: isName(model) ? model : null,
    input_tokens: countOf(memberOf(reported, 'input_tokens')),
    output_tokens: countOf(memberOf(reported, 'output_tokens')),
    duration_ms: typeof duration_ms === 'number' ? countOf(Math.round(duration_ms)) : 0,
    attempts: countOf(memberOf(reported, 'attempts')),
  };
}

const hasTokens = ({ input_tokens, output_tokens }: ProviderCost): boolean => input_tokens + output_tokens > 0;
export const isSpent = (cost: ProviderCost | null): cost is ProviderCost =>
  cost !== null && (cost.attempts > 0 || hasTokens(cost));

const added = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);

/** The sum of several calls, under the provider and model of the last call that used tokens. */
export const sumOfCosts = (first: ProviderCost, ...others: readonly ProviderCost[]): ProviderCost =>
  others.reduce((sum, cost) => {
    const { provider, model } = hasTokens(cost) || !hasTokens(sum) ? cost : sum;
    return {
      provider,
      model,
      input_tokens: added(sum.input_tokens, cost.input_tokens),
      output_tokens: added(sum.output_tokens, cost.output_tokens),
      duration_ms: added(sum.duration_ms, cost.duration_ms),
      attempts: added(sum.attempts, cost.attempts),
    };
  }, first);
