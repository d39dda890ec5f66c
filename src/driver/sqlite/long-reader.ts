/** Long reads on a thread with its own connection, so that the event loop stays free. */
import type { Worker } from 'node:worker_threads';
import { CairnError } from '../../kernel/index.js';
import type { BoundParam } from '../sql.js';
import { startThread } from '../thread.js';

/** A statement, or a module that reads and computes. */
export type LongTask =
  | { text: string; params: readonly BoundParam[] }
  | { module: string; tenant: string; input: unknown };
export type LongAnswer = { id: number; result: unknown } | { id: number; error: string };
/** Bounds the memory of waiting reads. */
const MAX_WAITING = 1000;
type Waiting = { resolve: (result: unknown) => void; reject: (error: unknown) => void };

export class LongReader {
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #next = 0;

  constructor(path: string) {
    this.#path = path;
  }

  all<R>(text: string, params: readonly BoundParam[]): Promise<R[]> {
    return this.#ask({ text, params }) as Promise<R[]>;
  }

  run<O>(module: string, tenant: string, input: unknown): Promise<O> {
    return this.#ask({ module, tenant, input }) as Promise<O>;
  }

  async #ask(task: LongTask): Promise<unknown> {
    if (this.#waiting.size >= MAX_WAITING)
      throw new CairnError('OVERLOADED', `${MAX_WAITING} long reads are already waiting: try again later`);
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#next;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, task });
    });
  }

  #start(): Worker {
    const worker = startThread(new URL('./long-thread.js', import.meta.url), { path: this.#path });
    worker.on('message', (answer: LongAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if (this.#waiting.size === 0) worker.unref();
      if ('result' in answer) waiting?.resolve(answer.result);
      else waiting?.reject(new CairnError('STORAGE_FAILED', answer.error));
    });
    // A failing thread emits both events; a new one may have started in between.
    const ended = (reason: unknown) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values())
        reject(new CairnError('STORAGE_FAILED', `the reading thread ended: ${String(reason)}`));
      this.#waiting.clear();
    };
    worker.on('error', ended);
    worker.on('exit', ended);
    return worker;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }
}

/**
 * Problems that SQLite finds in a file. On a new connection: one that has read the full-text index before would check
 * the structure of that time, and report segments merged since as lost.
 */
export async function integrityOf(path: string): Promise<string[]> {
  const reader = new LongReader(path);
  try {
    const rows = await reader.all<{ integrity_check: string }>('PRAGMA integrity_check', []);
    return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok');
  } finally {
    await reader.close();
  }
}
