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
