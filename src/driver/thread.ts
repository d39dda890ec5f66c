/** Starts worker threads. The only place that does: a thread must not depend on how the host process was started. */
import { Worker } from 'node:worker_threads';

/**
 * A thread inherits neither the flags of the process nor NODE_OPTIONS. `--input-type` would keep it from loading its
 * file, and a preload of the host would run in it.
 */
export function startThread(module: URL, workerData: unknown): Worker {
  return new Worker(module, { workerData, execArgv: [], env: { ...process.env, NODE_OPTIONS: '' } });
}
