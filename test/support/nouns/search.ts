/** Searching in tests: what is found, by its type and id. */
import type { Api } from '#cairn/client/index.js';
import type { SearchResult } from '#cairn/recall/contract.js';

type Asked = Parameters<Api['search']['query']>[0];

/** Everything that a search finds, the best first, each as `type id`. */
export async function found(cairn: Api, query: string, more: Partial<Asked> = {}): Promise<string[]> {
  const { results } = await cairn.search.query({ query, limit: 100, ...more });
  return results.map(({ entity_type, id }) => `${entity_type} ${id}`);
}

/** The one thing that a search finds; fails where it is another number. */
export async function theOne(cairn: Api, query: string, more: Partial<Asked> = {}): Promise<SearchResult> {
  const { results } = await cairn.search.query({ query, ...more });
  if (results.length !== 1) throw new Error(`${results.length} were found by ${query}`);
  return results[0]!;
}

export const note = (cairn: Api, content: string, more: object = {}) =>
  cairn.notes.create({ note_type: 'Fact', title: 'a title', content, ...more });

/** All pages, as `type id`. */
export async function pages(cairn: Api, asked: Asked, between?: () => Promise<unknown>): Promise<string[]> {
  const all: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await cairn.search.query({ ...asked, ...(cursor === undefined ? {} : { cursor }) });
    all.push(...page.results.map(({ entity_type, id }) => `${entity_type} ${id}`));
    cursor = page.next_cursor ?? undefined;
    if (cursor !== undefined) await between?.();
  } while (cursor !== undefined);
  return all;
}
