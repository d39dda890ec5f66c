/** Sources of summaries and facts: turns, artifacts and other texts as plain values. */

export interface TextSource {
  readonly id: string;
  /** User, Assistant, System or Tool, in any case; absent for texts without a speaker, such as artifacts. */
  readonly role?: string;
  readonly speaker?: string | null;
  /** Whom it is about; absent: nobody. Statements about different people correct nothing of each other. */
  readonly about?: string;
  readonly text: string;
  /** A date as `parseDate` reads it. */
  readonly occurred_at?: string | number | null;
  /** Shared by a tool call and its results, which go into the same summary. */
  readonly group?: string | null;
  /** Where it was learned; a statement recurs if different trajectories make it. */
  readonly trajectory_id?: string | null;
  /** Recalled from memory: nothing is extracted from it again. */
  readonly recalled?: boolean;
}

export type SourceRole = 'user' | 'assistant' | 'system' | 'tool' | 'none';

export function roleOf(source: TextSource): SourceRole {
  const role = source.role?.toLowerCase();
  return role === 'user' || role === 'assistant' || role === 'system' || role === 'tool' ? role : 'none';
}

/** Whether facts are extracted from it: not from tool output, instructions or recalled texts. */
export function isExtractable(source: TextSource): boolean {
  const role = roleOf(source);
  return role !== 'tool' && role !== 'system' && source.recalled !== true;
}

type Grouped = Pick<TextSource, 'group'>;

/** Index of the last member of each group. */
const lastOfGroups = (sources: readonly Grouped[]): Map<string, number> =>
  new Map(sources.flatMap(({ group }, i) => (group ? [[group, i] as const] : [])));

/** The smallest number of first sources that splits no group. */
export function firstGroup(sources: readonly Grouped[]): number {
  const last = lastOfGroups(sources);
  let end = 0;
  for (const [i, { group }] of sources.entries()) {
    if (group) end = Math.max(end, last.get(group)!);
    if (i >= end) return i + 1;
  }
  return 0;
}

/** How many of the first `wanted` sources can be taken without splitting a group. */
export function wholeGroups(sources: readonly Grouped[], wanted: number): number {
  const last = lastOfGroups(sources);
  let taken = Math.max(0, Math.min(wanted, sources.length));
  // Dropping a member may split another group, so the loop goes on to the start.
  for (let i = taken - 1; i >= 0; i--) {
    const { group } = sources[i]!;
    if (group && last.get(group)! >= taken) taken = i;
  }
  return taken;
}
