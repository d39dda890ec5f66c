/** The token budget of a scope and its threshold. */

interface Budget {
  readonly token_budget: number;
  /** Percent of the budget. */
  readonly threshold: number;
}

export const fits = (budget: Budget, tokens_used: number): boolean => tokens_used <= budget.token_budget;

export const reachesThreshold = (budget: Budget, tokens_used: number): boolean =>
  tokens_used * 100 >= budget.threshold * budget.token_budget;

/** When the threshold was reached. It fires once, and again only after a larger budget has reset it to null. */
export const thresholdAt = (budget: Budget, tokens_used: number, before: number | null, now: number): number | null =>
  reachesThreshold(budget, tokens_used) ? (before ?? now) : null;
