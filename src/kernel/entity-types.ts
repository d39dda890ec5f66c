/** The names of entities: one spelling in all answers, that of seed 004. */

/** What can be found by a search. Tables of the index have these in lower case. */
export const SEARCHED_TYPES = ['Turn', 'Artifact', 'Note', 'Card', 'Packet', 'Thought'] as const;
export type SearchedType = (typeof SEARCHED_TYPES)[number];

/** As the index has it. */
export type IndexedType = Lowercase<SearchedType>;

export const indexedType = (type: SearchedType): IndexedType => type.toLowerCase() as IndexedType;

const shownTypes = Object.fromEntries(SEARCHED_TYPES.map((type) => [type.toLowerCase(), type]));

export const shownType = <T extends IndexedType>(type: T): Capitalize<T> => shownTypes[type] as Capitalize<T>;

/** A noun of Cairn as answers spell it: `agent_turn` is AgentTurn. */
const names = new Map<string, string>();

export function entityName(noun: string): string {
  let name = names.get(noun);
  // Every event asks, and there are two dozen nouns.
  if (name === undefined)
    names.set(noun, (name = noun.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())));
  return name;
}
