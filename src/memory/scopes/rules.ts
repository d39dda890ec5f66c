/** The token budget of a scope: what fits, and when its threshold is reached. */

export interface Budget {
  readonly token_budget: number;
  /** Percent of the budget. */
  readonly threshold: number;
}

export const fits = (budget: Budget, tokens_used: number): boolean => tokens_used <= budget.token_budget;

export const reachesThreshold = (budget: Budget, tokens_used: number): boolean =>
  tokens_used * 100 >= budget.threshold * budget.token_budget;

/**
 * When the threshold counts as reached, after the budget or its use changed: once it is, it stays so, and fires no
 * more; below it, which only a larger budget brings about, it is ready to fire again.
 */
export function thresholdAt(budget: Budget, tokens_used: number, before: number | null, now: number): number | null {
  return reachesThreshold(budget, tokens_used) ? (before ?? now) : null;
}
