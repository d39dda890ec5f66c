/** To whom an agent may delegate or hand over: by the types, profiles and ids that it names. */

/** Absent rules allow anyone, an empty list nobody. */
export const allowsDelegation = (
  rules: readonly string[] | null,
  to: { readonly agent_id: string; readonly agent_type: string | null; readonly profile_name: string | null },
): boolean => rules === null || rules.some((rule) => ['*', to.agent_id, to.agent_type, to.profile_name].includes(rule));

/** What both lists name: an agent that another makes delegates to nobody that this other may not delegate to. */
export function commonDelegates(
  one: readonly string[] | null,
  other: readonly string[] | null,
): readonly string[] | null {
  if (one === null || other === null) return one ?? other;
  if (one.includes('*')) return other;
  return other.includes('*') ? one : one.filter((rule) => other.includes(rule));
}
