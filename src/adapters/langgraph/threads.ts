/** Which execution a thread and namespace of LangGraph is kept as: found, made when it is needed, remembered. */
import type { Api } from '../../api/index.js';
import type { Execution } from '../../checkpoints/contract.js';
import { codeOf, executionIdOf, type Place, placeKey } from './ids.js';

const MAX_REMEMBERED = 10_000;

export class Threads {
  readonly #cairn: Api;
  readonly #agent_id: string | undefined;
  /** Execution ids by place. */
  readonly #known = new Map<string, string>();
  /** Places by execution id; null for an execution that is none of LangGraph's. */
  readonly #places = new Map<string, Place | null>();

  constructor(cairn: Api, agent_id: string | undefined) {
    this.#cairn = cairn;
    this.#agent_id = agent_id;
  }

  /** The execution of a place, if it has one. */
  async find(place: Place): Promise<string | undefined> {
    const known = this.#known.get(placeKey(place));
    if (known !== undefined) return known;
    for await (const execution of this.#list(place)) {
      return this.#remember(place, execution.execution_id);
    }
    return undefined;
  }

  /** The execution of a place; it is begun if there is none. */
  async make(place: Place): Promise<string> {
    const known = this.#known.get(placeKey(place));
    if (known !== undefined) return known;
    for (let generation = 0; ; generation++) {
      const execution_id = executionIdOf(place, generation);
      try {
        await this.#cairn.executions.create({
          execution_id,
          thread_id: place.thread_id,
          namespace: place.namespace,
          metadata: { langgraph: { generation } },
          ...(this.#agent_id === undefined ? {} : { agent_id: this.#agent_id }),
        });
      } catch (error) {
        // Its thread was deleted: the id is spent.
        if (codeOf(error) === 'ENTITY_GONE') continue;
        // Begun by somebody for another agent: it is the execution of this place all the same.
        if (codeOf(error) !== 'ENTITY_ALREADY_EXISTS') throw error;
      }
      return this.#remember(place, execution_id);
    }
  }

  forget(place: Place): void {
    const execution_id = this.#known.get(placeKey(place));
    this.#known.delete(placeKey(place));
    if (execution_id === undefined) return;
    this.#places.delete(execution_id);
  }

  /** All executions of a thread, one for each namespace. */
  async all(thread_id: string): Promise<readonly { place: Place; execution_id: string }[]> {
    const found: { place: Place; execution_id: string }[] = [];
    for await (const { namespace, execution_id } of this.#list({ thread_id }))
      found.push({ place: { thread_id, namespace }, execution_id });
    return found;
  }

  /** The place of an execution; undefined if it is none of LangGraph's. */
  async placeOf(execution_id: string): Promise<Place | undefined> {
    const known = this.#places.get(execution_id);
    if (known !== undefined) return known ?? undefined;
    try {
      const execution = await this.#cairn.executions.get({ execution_id });
      const place = placeIn(execution);
      bounded(this.#places).set(execution_id, place ?? null);
      return place;
    } catch (error) {
      if (codeOf(error) === 'EXECUTION_NOT_FOUND') return undefined;
      throw error;
    }
  }

  async *#list(where: { thread_id: string; namespace?: string }): AsyncGenerator<Execution> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await this.#cairn.executions.list({ ...where, limit: 500, ...(cursor ? { cursor } : {}) });
      for (const execution of page.executions) if (placeIn(execution)) yield execution;
      cursor = page.next_cursor;
    }
  }

  #remember(place: Place, execution_id: string): string {
    bounded(this.#known).set(placeKey(place), execution_id);
    bounded(this.#places).set(execution_id, place);
    return execution_id;
  }
}

/** An execution of ours has the id that follows from its place. */
function placeIn({ execution_id, thread_id, namespace, metadata }: Execution): Place | undefined {
  const generation = (metadata.langgraph as { generation?: unknown } | undefined)?.generation;
  if (thread_id === null || typeof generation !== 'number') return undefined;
  const place = { thread_id, namespace };
  return executionIdOf(place, generation) === execution_id ? place : undefined;
}

/** What is remembered can be learned again, so it may all go at once. */
function bounded<K, V>(map: Map<K, V>): Map<K, V> {
  if (map.size >= MAX_REMEMBERED) map.clear();
  return map;
}
