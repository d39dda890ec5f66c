/** CairnStore: LangGraph's memory across threads on the notes of Cairn. */
import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from '@langchain/langgraph-checkpoint';
import type { Api } from '../../api/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import type { Note } from '../../memory/contract.js';
import { MAX_QUERY } from '../../recall/contract.js';
import { codeOf, unless } from './ids.js';
import {
  checkNamespace,
  commonStart,
  ITEM_TYPE,
  type ItemName,
  isUnder,
  itemOf,
  matches,
  nameIn,
  noteIdOf,
  passes,
  titleOf,
  titlePrefixOf,
} from './items.js';

const PAGE = 500;
const AT_ONCE = 64;
const NOT_FOUND = ['NOTE_NOT_FOUND'] as const;
const MAX_CACHED = 10_000;

export interface CairnStoreOptions {
  /** The agent of the notes. */
  readonly agent_id?: string;
}

/**
 * Stores each item as a note of the type `langgraph.item`. A put creates a new version; earlier ones can be read with
 * `notes.history` and `as_of`. Values are JSON objects, returned with sorted members.
 *
 * A search reads all items under its namespace and filters them here. With a `query`, items that Cairn's search finds come
 * first, with a score; the others follow in order of creation. `index` has no effect: all of a value is indexed.
 */
export class CairnStore extends BaseStore {
  readonly #cairn: Api;
  readonly #agent_id: string | undefined;
  readonly #known = new Map<string, string>();

  constructor(cairn: Api, options: CairnStoreOptions = {}) {
    super();
    this.#cairn = cairn;
    this.#agent_id = options.agent_id;
  }

  /** Reads see the state before the batch. The last of several puts to one item counts. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = new Map<string, PutOperation>();
    for (const operation of operations)
      if (isPut(operation)) {
        if (operation.value !== null) checkNamespace(operation.namespace);
        puts.set(keyOf(operation), operation);
      }
    const results = await Promise.all(
      operations.map((operation) => {
        if (isPut(operation)) return null;
        if ('namespacePrefix' in operation) return this.#search(operation);
        if ('key' in operation) return this.#get(operation);
        return this.#listNamespaces(operation);
      }),
    );
    const changes = [...puts.values()];
    for (let i = 0; i < changes.length; i += AT_ONCE)
      await Promise.all(changes.slice(i, i + AT_ONCE).map((put) => this.#change(put)));
    return results as OperationResults<Op>;
  }

  /** Keeps the database out of printed or serialized objects. */
  toJSON(): string {
    return '[CairnStore]';
  }

  async #get(name: GetOperation): Promise<Item | null> {
    const note_id = this.#known.get(keyOf(name));
    let note = note_id === undefined ? undefined : await unless(NOT_FOUND, this.#cairn.notes.get({ note_id }));
    if (!note) {
      this.#known.delete(keyOf(name));
      note = await this.#find(name);
    }
    return note ? itemOf(note, name) : null;
  }

  async #search(operation: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, filter, query, limit = 10, offset = 0 } = operation;
    const items = new Map<string, SearchItem>();
    for await (const { note, name } of this.#under(namespacePrefix))
      if (!filter || passes(note.content as JsonObject, filter)) items.set(note.note_id, itemOf(note, name));
    if (query && items.size > 0) await this.#score(query, namespacePrefix, items, offset + limit);
    const found = [...items.values()];
    found.sort(
      (a, b) =>
        (b.score ?? 0) - (a.score ?? 0) || a.createdAt.getTime() - b.createdAt.getTime() || (a.key < b.key ? -1 : 1),
    );
    return found.slice(offset, offset + limit);
  }

  /** Adds scores to the items that match a query best, until `enough` have one. */
  async #score(
    query: string,
    namespace: readonly string[],
    items: Map<string, SearchItem>,
    enough: number,
  ): Promise<void> {
    const title = titlePrefixOf(namespace);
    const isItem = { field: 'type', operator: 'eq', value: ITEM_TYPE } as const;
    const isUnderIt = { field: 'name', operator: 'contains', value: title } as const;
    let scored = 0;
    for (let cursor: string | null | undefined; cursor !== null && scored < enough; ) {
      const page = await this.#cairn.notes.search({
        query: query.slice(0, MAX_QUERY),
        filters: title === '' ? [isItem] : [isItem, isUnderIt],
        limit: Math.min(100, Math.max(10, enough)),
        cursor,
      });
      for (const { id, score } of page.results) {
        const item = items.get(id);
        if (!item) continue;
        items.set(id, { ...item, score });
        scored++;
      }
      cursor = page.next_cursor;
    }
  }

  async #listNamespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit, offset = 0 } = operation;
    const found = new Map<string, readonly string[]>();
    for await (const { name } of this.#under(commonStart(matchConditions))) {
      if (!matchConditions.every((condition) => matches(name.namespace, condition))) continue;
      const namespace = name.namespace.slice(0, maxDepth);
      found.set(JSON.stringify(namespace), namespace);
    }
    const sorted = [...found.values()].sort((a, b) => (a.join('.') < b.join('.') ? -1 : 1));
    return sorted.slice(offset, limit === undefined ? undefined : offset + limit).map((one) => [...one]);
  }

  async #change(put: PutOperation): Promise<void> {
    if (put.value === null) return this.#delete(put);
    // Through JSON: drops undefined members and turns dates into text.
    const content = JSON.parse(JSON.stringify(put.value)) as JsonObject;
    const known = this.#known.get(keyOf(put));
    if (known !== undefined && (await this.#update(known, content))) return;
    for (let generation = 0, gone = false; ; ) {
      const note_id = noteIdOf(put, generation);
      try {
        const { version } = await this.#create(note_id, put, content);
        this.#remember(put, note_id);
        // A note that was created with this content and changed since is answered as it is now.
        if (version === 1 || (await this.#update(note_id, content))) return;
      } catch (error) {
        if (codeOf(error) === 'ENTITY_GONE') {
          generation = gone ? generation + 1 : await this.#lastGeneration(put);
          gone = true;
        } else if (codeOf(error) !== 'ENTITY_ALREADY_EXISTS') throw error;
        else if (await this.#update(note_id, content)) {
          this.#remember(put, note_id);
          return;
        }
      }
    }
  }

  #create(note_id: string, { namespace, key }: ItemName, content: JsonObject): Promise<Note> {
    return this.#cairn.notes.create({
      note_id,
      note_type: ITEM_TYPE,
      title: titleOf({ namespace, key }),
      content,
      metadata: { namespace: [...namespace], key },
      agent_id: this.#agent_id,
    });
  }

  async #update(note_id: string, content: JsonObject): Promise<boolean> {
    return (await unless(NOT_FOUND, this.#cairn.notes.update({ note_id, content }))) !== undefined;
  }

  async #delete(name: ItemName): Promise<void> {
    const note_id = this.#known.get(keyOf(name)) ?? (await this.#find(name))?.note_id;
    if (note_id === undefined) return;
    this.#known.delete(keyOf(name));
    try {
      await this.#cairn.notes.delete({ note_id });
    } catch (error) {
      if (codeOf(error) !== 'NOTE_NOT_FOUND') throw error;
      // Another process deleted it; it may have been created again as another note.
      const again = await this.#find(name);
      if (again && again.note_id !== note_id) await this.#delete(name);
    }
  }

  /** The last generation of an item that was deleted before, found by exponential and binary search. */
  async #lastGeneration(name: ItemName): Promise<number> {
    let last = 0;
    let step = 1;
    while (await this.#wasUsed(noteIdOf(name, last + step))) {
      last += step;
      step *= 2;
    }
    for (step = Math.floor(step / 2); step >= 1; step = Math.floor(step / 2))
      if (await this.#wasUsed(noteIdOf(name, last + step))) last += step;
    return last === 0 ? 1 : last;
  }

  async #wasUsed(note_id: string): Promise<boolean> {
    return (await unless(NOT_FOUND, this.#cairn.notes.history({ note_id, limit: 1 }))) !== undefined;
  }

  async #find(name: ItemName): Promise<Note | undefined> {
    const key = keyOf(name);
    for await (const found of this.#list(titleOf(name)))
      if (keyOf(found.name) === key) {
        this.#remember(name, found.note.note_id);
        return found.note;
      }
    return undefined;
  }

  async *#under(namespace: readonly string[]): AsyncGenerator<{ note: Note; name: ItemName }> {
    for await (const found of this.#list(titlePrefixOf(namespace)))
      if (isUnder(found.name.namespace, namespace)) yield found;
  }

  async *#list(title: string): AsyncGenerator<{ note: Note; name: ItemName }> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await this.#cairn.notes.list({
        note_type: ITEM_TYPE,
        limit: PAGE,
        title: title || undefined,
        cursor,
      });
      for (const note of page.notes) {
        const name = nameIn(note);
        if (name) yield { note, name };
      }
      cursor = page.next_cursor;
    }
  }

  #remember(name: ItemName, note_id: string): void {
    // A full cache is emptied: its entries can be found again.
    if (this.#known.size >= MAX_CACHED) this.#known.clear();
    this.#known.set(keyOf(name), note_id);
  }
}

const isPut = (operation: Operation): operation is PutOperation => 'value' in operation;

const keyOf = ({ namespace, key }: ItemName): string => JSON.stringify([namespace, key]);
