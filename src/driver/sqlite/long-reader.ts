/** Long reads on a thread with its own connection, so that the event loop stays free. */
import type { Worker } from 'node:worker_threads';
import { CairnError } from '../../kernel/index.js';
import { startThread } from '../thread.js';
import { type LongAnswer, type LongTask, resultOf } from './long-tasks.js';

/** Bounds the memory of waiting reads. */
const MAX_WAITING = 1000;
type Waiting = { resolve: (answer: LongAnswer) => void; reject: (error: unknown) => void };

export class LongReader {
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #next = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async run<O>(task: LongTask): Promise<O> {
    if (this.#waiting.size >= MAX_WAITING)
      throw new CairnError('OVERLOADED', `${MAX_WAITING} long reads are already waiting: try again later`);
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#next;
    const answer = await new Promise<LongAnswer>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, task });
    });
    return resultOf(answer) as O;
  }

  #start(): Worker {
    const worker = startThread(new URL('./long-thread.js', import.meta.url), { path: this.#path });
    worker.on('message', ({ id, answer }: { id: number; answer: LongAnswer }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
      waiting?.resolve(answer);
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
    const rows = await reader.run<{ integrity_check: string }[]>({ text: 'PRAGMA integrity_check', params: [] });
    return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok');
  } finally {
    await reader.close();
  }
}
