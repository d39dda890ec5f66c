/** can_delegate_to: the types, profiles and ids to which an agent may delegate. */

/** Absent rules allow anyone, an empty list nobody. */
export const allowsDelegation = (
  rules: readonly string[] | null,
  to: { readonly agent_id: string; readonly agent_type: string | null; readonly profile_name: string | null },
): boolean => rules === null || rules.some((rule) => ['*', to.agent_id, to.agent_type, to.profile_name].includes(rule));

/** The intersection: an agent gives another agent no wider list than its own. */
export function commonDelegates(
  one: readonly string[] | null,
  other: readonly string[] | null,
): readonly string[] | null {
  if (one === null || other === null) return one ?? other;
  if (one.includes('*')) return other;
  return other.includes('*') ? one : one.filter((rule) => other.includes(rule));
}
