/** To whom an agent may delegate or hand over: by the types and ids that it names. */

/** Absent rules allow anyone, an empty list nobody. */
export const allowsDelegation = (
  rules: readonly string[] | null,
  to: { readonly agent_id: string; readonly agent_type: string },
): boolean =>
  rules === null || rules.some((rule) => rule === '*' || rule === to.agent_id || rule === to.agent_type);
