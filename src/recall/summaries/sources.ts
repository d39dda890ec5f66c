/** What summaries and facts are made from: turns, and whatever else has a text, as plain values. */

export interface TextSource {
  readonly id: string;
  /** User, Assistant, System or Tool, in any case; absent for what nobody said, such as an artifact. */
  readonly role?: string;
  readonly speaker?: string | null;
  readonly text: string;
  /** A date as `parseDate` reads it. */
  readonly occurred_at?: string | number | null;
  /** A tool call and its result carry the same: they are summarised away together, or not at all. */
  readonly group?: string | null;
  /** Where it was learned; statements recur when different trajectories make them. */
  readonly trajectory_id?: string | null;
  /** It came out of memory. Nothing is extracted from it again. */
  readonly recalled?: boolean;
}

export type SourceRole = 'user' | 'assistant' | 'system' | 'tool' | 'none';

export function roleOf(source: TextSource): SourceRole {
  const role = source.role?.toLowerCase();
  return role === 'user' || role === 'assistant' || role === 'system' || role === 'tool' ? role : 'none';
}

/** Whether facts are got out of it: what tools print and what instructions say is nobody's word. */
export function isHeard(source: TextSource): boolean {
  const role = roleOf(source);
  return role !== 'tool' && role !== 'system' && source.recalled !== true;
}

type Grouped = Pick<TextSource, 'group'>;

function lastOfGroups(sources: readonly Grouped[]): Map<string, number> {
  const last = new Map<string, number>();
  sources.forEach(({ group }, i) => {
    if (group) last.set(group, i);
  });
  return last;
}

/** How many of the first sources are the fewest that can be taken without parting a group. */
export function firstGroup(sources: readonly Grouped[]): number {
  const last = lastOfGroups(sources);
  let end = 0;
  for (const [i, { group }] of sources.entries()) {
    if (group) end = Math.max(end, last.get(group)!);
    if (i >= end) return i + 1;
  }
  return 0;
}

/**
 * How many of the first `wanted` sources can be taken without parting a group. Fewer than wanted where a group would
 * have members on both sides.
 */
export function wholeGroups(sources: readonly Grouped[], wanted: number): number {
  const last = lastOfGroups(sources);
  let taken = Math.max(0, Math.min(wanted, sources.length));
  // A member that is given back may be the middle of another group, so the look goes on to the start.
  for (let i = taken - 1; i >= 0; i--) {
    const { group } = sources[i]!;
    if (group && last.get(group)! >= taken) taken = i;
  }
  return taken;
}
