/** The thread behind sqlite-long.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Param } from './sql.js';
import { SqliteConnection } from './sqlite-open.js';

const connection = await SqliteConnection.open((workerData as { path: string }).path);

parentPort?.on(
  'message',
  async ({ id, text, params }: { id: number; text: string; params: readonly Param[] }) => {
    try {
      // Copied to plain objects: rows without a prototype do not travel between threads on every version.
      const rows = (await connection.read<object>(text, params)).map((row) => ({ ...row }));
      parentPort?.postMessage({ id, rows });
    } catch (error) {
      parentPort?.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
    }
  },
);
