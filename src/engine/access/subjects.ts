/** Whom content is about. New content is about those that its writer names, and about those of what it was made in or from. */
import { textToList } from '../../driver/index.js';

const NOBODY: readonly string[] = [];

export type Subjects = readonly string[] | string | null;

const isNobody = (source: Subjects): boolean => source === null || source.length === 0;
const listOf = (source: Subjects): readonly string[] =>
  typeof source === 'string' || source === null ? textToList(source) : source;

/** `sources`: the subjects of the containers and sources, as lists or as the column subject_ids. */
export function subjectsOf(given: readonly string[] | undefined, ...sources: readonly Subjects[]): readonly string[] {
  if ((given === undefined || given.length === 0) && sources.every(isNobody)) return NOBODY;
  return [...new Set([...(given ?? []), ...sources.flatMap(listOf)])];
}
