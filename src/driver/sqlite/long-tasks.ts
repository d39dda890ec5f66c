/** Long reads on one connection, one after another; a module reads in a transaction. */
import { CairnError } from '../../kernel/index.js';
import { type AwayModule, queryBy } from '../driver.js';
import { type BoundParam, compile } from '../sql.js';
import { SqliteConnection } from './open.js';

/** A statement, or a module that reads and computes. */
export type LongTask =
  | { text: string; params: readonly BoundParam[] }
  | { module: string; tenant: string; input: unknown };
export type LongAnswer = { result: unknown } | { error: string };

export class LongTasks {
  readonly #connection: SqliteConnection;
  readonly #modules = new Map<string, AwayModule>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  answer(task: LongTask): Promise<LongAnswer> {
    const answer = this.#last.then(() => this.#answer(task));
    this.#last = answer;
    return answer;
  }

  close(): void {
    this.#connection.close();
  }

  async #answer(task: LongTask): Promise<LongAnswer> {
    try {
      return { result: 'module' in task ? await this.#runModule(task) : await this.#rows(task) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  async #runModule({ module, tenant, input }: Extract<LongTask, { module: string }>): Promise<unknown> {
    const { run } = await this.#moduleAt(module);
    const connection = this.#connection;
    const query = queryBy(tenant, (one) => {
      const { text, params } = compile(one, 'sqlite', tenant);
      return connection.read(text, params);
    });
    connection.exec('BEGIN');
    try {
      return await run(query, input);
    } finally {
      connection.exec('COMMIT');
    }
  }

  /** Cached: even a repeated import takes a while. */
  async #moduleAt(url: string): Promise<AwayModule> {
    const known = this.#modules.get(url) ?? ((await import(url)) as AwayModule);
    this.#modules.set(url, known);
    return known;
  }

  /** As plain objects: some versions cannot post rows without a prototype. */
  async #rows({ text, params }: Extract<LongTask, { text: string }>): Promise<object[]> {
    return (await this.#connection.read<object>(text, params)).map((row) => ({ ...row }));
  }
}

/** Of 4 KB each: a file of up to 4 MB is small. */
const SMALL_PAGES = 1000;

/** Runs long reads of a small file on the event loop: to start a thread takes longer than any of them. */
export class NearReader {
  readonly #path: string;
  readonly #reader: SqliteConnection;
  #opening: Promise<LongTasks> | undefined;
  #running: Promise<unknown> | undefined;

  /** The reader tells the size of the file. */
  constructor(path: string, reader: SqliteConnection) {
    this.#path = path;
    this.#reader = reader;
  }

  /** Whether the file is small, and no other task is running: two at once are faster on two threads. */
  get takes(): boolean {
    if (this.#running) return false;
    try {
      const [size] = this.#reader.all<{ page_count: number }>('PRAGMA page_count');
      return size!.page_count <= SMALL_PAGES;
    } catch {
      // Another process recovers the file: the thread waits for it.
      return false;
    }
  }

  async run<O>(task: LongTask): Promise<O> {
    const running = this.#run(task).finally(() => (this.#running = undefined));
    this.#running = running;
    return resultOf(await running) as O;
  }

  async #run(task: LongTask): Promise<LongAnswer> {
    this.#opening ??= SqliteConnection.open(this.#path).then((connection) => new LongTasks(connection));
    return (await this.#opening).answer(task);
  }

  async close(): Promise<void> {
    await this.#running?.catch(() => undefined);
    (await this.#opening?.catch(() => undefined))?.close();
  }
}

export function resultOf(answer: LongAnswer): unknown {
  if ('result' in answer) return answer.result;
  throw new CairnError('STORAGE_FAILED', answer.error);
}
