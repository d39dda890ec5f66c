/** Whom content is about, and what a caller that acts for a user may see of it. */
import { listToText, type Sql, sql, textToList } from '../../driver/index.js';
import { CairnError } from '../../kernel/index.js';
import type { Caller } from '../calls/caller.js';

export type Subjects = readonly string[] | string | null;

const NOBODY: readonly string[] = [];

const isNobody = (source: Subjects): boolean => source === null || source.length === 0;
const listOf = (source: Subjects): readonly string[] =>
  typeof source === 'string' || source === null ? textToList(source) : source;

/**
 * Whom new content is about: the user of the caller, those that its writer names, and those of its containers and sources,
 * which are given as lists or as the column subject_ids. What is about one user is not made about another.
 */
export function subjectsOf(
  { caller: { user_id } }: { readonly caller: Pick<Caller, 'user_id'> },
  given: readonly string[] | undefined,
  ...sources: readonly Subjects[]
): readonly string[] {
  if (user_id === undefined && (given === undefined || given.length === 0) && sources.every(isNobody)) return NOBODY;
  const user = user_id === undefined ? NOBODY : [user_id];
  const all = [...new Set([...user, ...(given ?? []), ...sources.flatMap(listOf)])];
  if (user_id === undefined || all.length === 1) return all;
  throw new CairnError(
    'FORBIDDEN',
    `\`subject_ids\` must name nobody but user ${user_id}, for whom this call is made`,
    { rule: 'user', user_id },
  );
}

/** What a caller that acts for a user may reach: content about this user alone and, unless `owned`, about nobody. */
export interface UserReach {
  /** The column subject_ids of this content; null: only content about nobody. */
  readonly subjects: string | null;
  readonly owned: boolean;
}

/** The subjects of a user, as the column subject_ids has them. */
export const subjectsOfUser = (user_id: string): string => listToText([user_id])!;

/** Whether content is within the reach of a user; always, without one. */
export const reachesSubjects = (user: UserReach | undefined, subject_ids: string | null): boolean =>
  user === undefined || subject_ids === user.subjects || (subject_ids === null && !user.owned);

/** `reachesSubjects` as a condition on a column. */
export const subjectsWithin = ({ subjects, owned }: UserReach, column: Sql): Sql => {
  if (subjects === null) return sql`${column} IS NULL`;
  return owned ? sql`${column} = ${subjects}` : sql`(${column} IS NULL OR ${column} = ${subjects})`;
};
