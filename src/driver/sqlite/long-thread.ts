/** The thread of `LongReader`. */
import { parentPort, workerData } from 'node:worker_threads';
import { type LongTask, LongTasks } from './long-tasks.js';
import { SqliteConnection } from './open.js';

const tasks = new LongTasks(await SqliteConnection.open((workerData as { path: string }).path));

parentPort?.on('message', async ({ id, task }: { id: number; task: LongTask }) => {
  parentPort?.postMessage({ id, answer: await tasks.answer(task) });
});
