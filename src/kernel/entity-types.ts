/** Entity names: one spelling in all answers. */

/** Searchable types; tables of the index have them in lower case. */
export const SEARCHED_TYPES = ['Turn', 'Artifact', 'Note', 'Card', 'Packet', 'Thought'] as const;
export type SearchedType = (typeof SEARCHED_TYPES)[number];

export type IndexedType = Lowercase<SearchedType>;

export const indexedType = (type: SearchedType): IndexedType => type.toLowerCase() as IndexedType;

const shownTypes = Object.fromEntries(SEARCHED_TYPES.map((type) => [type.toLowerCase(), type]));

export const shownType = <T extends IndexedType>(type: T): Capitalize<T> => shownTypes[type] as Capitalize<T>;

const names = new Map<string, string>();

/** A noun as answers spell it, such as AgentTurn for `agent_turn`. Cached: every event asks, for two dozen nouns. */
export function entityName(noun: string): string {
  let name = names.get(noun);
  if (name === undefined)
    names.set(noun, (name = noun.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())));
  return name;
}
