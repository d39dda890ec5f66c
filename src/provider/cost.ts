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

/** Of several calls, as one; it bears the name of the last. */
export const sumOfCosts = (first: ProviderCost, ...others: readonly ProviderCost[]): ProviderCost =>
  others.reduce(
    (sum, one) => ({
      provider: one.provider,
      model: one.model,
      input_tokens: sum.input_tokens + one.input_tokens,
      output_tokens: sum.output_tokens + one.output_tokens,
      duration_ms: sum.duration_ms + one.duration_ms,
      attempts: sum.attempts + one.attempts,
    }),
    first,
  );
