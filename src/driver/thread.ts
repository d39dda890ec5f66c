/** Starts worker threads; nothing else does. */
import { Worker } from 'node:worker_threads';

/** Without flags and NODE_OPTIONS: `--input-type` would break the thread, and a preload of the host would run in it. */
export function startThread(module: URL, workerData: unknown): Worker {
  return new Worker(module, { workerData, execArgv: [], env: { ...process.env, NODE_OPTIONS: '' } });
}
