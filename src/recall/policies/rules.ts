/** Which policies apply to a scope, and when they fire. */
import type { ScopeUsage } from '../../memory/sql.js';
import type { PolicyAction, TriggerType } from '../jobs/model.js';

/** The fields of a policy that decide whether and how it fires. */
export interface FiringPolicy {
  readonly policy_id: string;
  /** `tenant`, `trajectory:<id>` or `scope:<id>`. */
  readonly attached: string;
  readonly trigger_type: TriggerType;
  /** The percent or count of the trigger; 0 for triggers without one. */
  readonly threshold: number;
  readonly source_level: string;
  readonly target_level: string;
  readonly max_sources: number;
  readonly max_tokens: number;
  readonly create_edges: number;
  readonly actions: readonly PolicyAction[];
  readonly enabled: number;
  readonly updated_at: number;
}

const NEARNESS: Readonly<Record<string, number>> = { tenant: 0, trajectory: 1, scope: 2 };
const nearness = ({ attached }: FiringPolicy): number => NEARNESS[attached.split(':')[0]!]!;

/**
 * The nearest policies per trigger and source level: the scope's, else the trajectory's, else the tenant's. A disabled
 * policy hides those further away, so a scope can opt out of a policy of the tenant.
 */
export function applying(policies: readonly FiringPolicy[]): FiringPolicy[] {
  const kindOf = (one: FiringPolicy) => `${one.trigger_type} ${one.source_level}`;
  const nearest = new Map<string, number>();
  for (const one of policies) nearest.set(kindOf(one), Math.max(nearest.get(kindOf(one)) ?? 0, nearness(one)));
  return policies.filter((one) => nearness(one) === nearest.get(kindOf(one)) && one.enabled === 1);
}

/** The crossing that a usage has reached, equal until the next threshold; undefined below the first. */
function reached({ trigger_type, threshold }: FiringPolicy, usage: ScopeUsage): string | undefined {
  if (trigger_type === 'TurnCount') {
    const turns = Math.floor(usage.turns / threshold) * threshold;
    return turns === 0 ? undefined : `turns:${turns}`;
  }
  if (trigger_type !== 'DosageThreshold') return undefined;
  const { tokens_used, token_budget } = usage;
  if (tokens_used * 100 < threshold * token_budget) return undefined;
  return `tokens:${Math.ceil((threshold * token_budget) / 100)}`;
}

/**
 * The crossing for which a change of a scope makes a policy fire. A policy newer than the last check of the scope
 * (`looked_at`) fires for a threshold that was already reached; a rename in between is not a check.
 */
export function crossing(
  policy: FiringPolicy,
  before: ScopeUsage & { readonly looked_at: number },
  after: ScopeUsage,
): string | undefined {
  const now = reached(policy, after);
  if (now === undefined) return undefined;
  return policy.updated_at >= before.looked_at || reached(policy, before) !== now ? now : undefined;
}

/** The crossing at the artifact count `made`, if it is one. */
export const artifactCrossing = ({ threshold }: FiringPolicy, made: number): string | undefined =>
  made % threshold === 0 ? `artifacts:${made}` : undefined;
