/** The thread of `LongReader`: runs one task after another, a module in a transaction. */
import { parentPort, workerData } from 'node:worker_threads';
import { type AwayModule, queryBy } from '../driver.js';
import { compile } from '../sql.js';
import type { LongAnswer, LongTask } from './long-reader.js';
import { SqliteConnection } from './open.js';

const connection = await SqliteConnection.open((workerData as { path: string }).path);

const queryOf = (tenant: string) =>
  queryBy(tenant, (one) => {
    const { text, params } = compile(one, 'sqlite', tenant);
    return connection.read(text, params);
  });

const modules = new Map<string, AwayModule>();

/** Cached: even a repeated import takes a while. */
async function moduleAt(url: string): Promise<AwayModule> {
  const known = modules.get(url) ?? ((await import(url)) as AwayModule);
  modules.set(url, known);
  return known;
}

async function perform(task: LongTask): Promise<unknown> {
  if ('module' in task) {
    const { run } = await moduleAt(task.module);
    connection.exec('BEGIN');
    try {
      return await run(queryOf(task.tenant), task.input);
    } finally {
      connection.exec('COMMIT');
    }
  }
  // As plain objects: some versions cannot post rows without a prototype.
  return (await connection.read<object>(task.text, task.params)).map((row) => ({ ...row }));
}

async function answerTo(id: number, task: LongTask): Promise<LongAnswer> {
  try {
    return { id, result: await perform(task) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

let last: Promise<void> = Promise.resolve();
parentPort?.on('message', ({ id, task }: { id: number; task: LongTask }) => {
  last = last.then(async () => parentPort?.postMessage(await answerTo(id, task)));
});
