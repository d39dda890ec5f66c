/** The execution of each thread and namespace of LangGraph: found, created when needed, cached. */
import type { Api } from '../../api/index.js';
import type { Execution } from '../../checkpoints/contract.js';
import { codeOf, executionIdOf, type Thread, threadKey, unless } from './ids.js';

const MAX_CACHED = 10_000;

export class Threads {
  readonly #cairn: Api;
  readonly #agent_id: string | undefined;
  readonly #known = new Map<string, string>();
  /** By execution id; null for an execution that LangGraph did not create. */
  readonly #threads = new Map<string, Thread | null>();

  constructor(cairn: Api, agent_id: string | undefined) {
    this.#cairn = cairn;
    this.#agent_id = agent_id;
  }

  async find(thread: Thread): Promise<string | undefined> {
    const known = this.#known.get(threadKey(thread));
    if (known !== undefined) return known;
    // Later generations exist only after a deletion: mostly one short read finds the first.
    const execution_id = executionIdOf(thread, 0);
    const first = await unless(['EXECUTION_NOT_FOUND'], this.#cairn.executions.get({ execution_id }));
    if (first && threadIn(first)) return this.#remember(thread, execution_id);
    for await (const { execution_id } of this.#list(thread)) return this.#remember(thread, execution_id);
    return undefined;
  }

  async ensure(thread: Thread): Promise<string> {
    const known = this.#known.get(threadKey(thread));
    if (known !== undefined) return known;
    for (let generation = 0; ; generation++) {
      const execution_id = executionIdOf(thread, generation);
      try {
        await this.#cairn.executions.create({
          execution_id,
          thread_id: thread.thread_id,
          namespace: thread.namespace,
          metadata: { langgraph: { generation } },
          agent_id: this.#agent_id,
        });
      } catch (error) {
        // The thread was deleted: its id cannot be reused.
        if (codeOf(error) === 'ENTITY_GONE') continue;
        // Created for another agent: still the execution of this thread.
        if (codeOf(error) !== 'ENTITY_ALREADY_EXISTS') throw error;
      }
      return this.#remember(thread, execution_id);
    }
  }

  forget(thread: Thread): void {
    const execution_id = this.#known.get(threadKey(thread));
    this.#known.delete(threadKey(thread));
    if (execution_id !== undefined) this.#threads.delete(execution_id);
  }

  /** All executions of a thread, one per namespace. */
  async all(thread_id: string): Promise<readonly { thread: Thread; execution_id: string }[]> {
    const found: { thread: Thread; execution_id: string }[] = [];
    for await (const { namespace, execution_id } of this.#list({ thread_id }))
      found.push({ thread: { thread_id, namespace }, execution_id });
    return found;
  }

  /** The thread of an execution; undefined if LangGraph did not create it. */
  async threadOf(execution_id: string): Promise<Thread | undefined> {
    const known = this.#threads.get(execution_id);
    if (known !== undefined) return known ?? undefined;
    const execution = await unless(['EXECUTION_NOT_FOUND'], this.#cairn.executions.get({ execution_id }));
    if (!execution) return undefined;
    const thread = threadIn(execution);
    bounded(this.#threads).set(execution_id, thread ?? null);
    return thread;
  }

  async *#list(where: { thread_id: string; namespace?: string }): AsyncGenerator<Execution> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await this.#cairn.executions.list({ ...where, limit: 500, cursor });
      for (const execution of page.executions) if (threadIn(execution)) yield execution;
      cursor = page.next_cursor;
    }
  }

  #remember(thread: Thread, execution_id: string): string {
    bounded(this.#known).set(threadKey(thread), execution_id);
    bounded(this.#threads).set(execution_id, thread);
    return execution_id;
  }
}

/** An execution that LangGraph created has the id derived from its thread. */
function threadIn({ execution_id, thread_id, namespace, metadata }: Execution): Thread | undefined {
  const generation = (metadata.langgraph as { generation?: unknown } | undefined)?.generation;
  if (thread_id === null || typeof generation !== 'number') return undefined;
  const thread = { thread_id, namespace };
  return executionIdOf(thread, generation) === execution_id ? thread : undefined;
}

/** Empties a full cache: its entries can be found again. */
function bounded<K, V>(map: Map<K, V>): Map<K, V> {
  if (map.size >= MAX_CACHED) map.clear();
  return map;
}
