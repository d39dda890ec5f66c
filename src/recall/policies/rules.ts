/** When policies fire: which of them count for a scope, and what makes them. */
import type { ScopeUsage } from '../../memory/sql.js';
import type { PolicyAction, TriggerType } from '../jobs/model.js';

/** A policy as firing needs it. */
export interface FiringPolicy {
  readonly policy_id: string;
  /** `tenant`, `trajectory:<id>` or `scope:<id>`. */
  readonly attached: string;
  readonly trigger_type: TriggerType;
  /** The percent or count of the trigger; 0 where it has none. */
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
 * Of each trigger and source level those that are nearest: the scope's, else the trajectory's, else the tenant's. One
 * that is not enabled hides those further away and applies nothing, so that a scope can be left out of the tenant's.
 */
export function applying<P extends FiringPolicy>(policies: readonly P[]): P[] {
  const kindOf = (one: P) => `${one.trigger_type} ${one.source_level}`;
  const nearest = new Map<string, number>();
  for (const one of policies) nearest.set(kindOf(one), Math.max(nearest.get(kindOf(one)) ?? 0, nearness(one)));
  return policies.filter((one) => nearness(one) === nearest.get(kindOf(one)) && one.enabled === 1);
}

/** The moment of a policy that a usage has come to: the same as long as it is the same threshold; undefined below it. */
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
 * What a change of a scope makes a policy fire for, if it does. A policy that came since the scope was last looked at for
 * policies fires for what it finds there: a rename in between is no such look.
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

/** The same for artifacts, of which one more was made. */
export function artifactCrossing({ threshold }: FiringPolicy, made: number): string | undefined {
  return made % threshold === 0 ? `artifacts:${made}` : undefined;
}
