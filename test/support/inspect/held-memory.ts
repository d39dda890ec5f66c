/** How much memory a server holds, not counting garbage. The server is started with `preload: HELD_MEMORY`. */
import { join } from 'node:path';
import { type ServerProcess, sleep } from '../server.js';

export const HELD_MEMORY = join(import.meta.dirname, '../children/held-memory.mjs');
export const MEGABYTE = 1024 * 1024;

/** What is held for a slow reader is held for seconds; collecting garbage more often would slow the server down. */
const WATCH_MS = 250;

/** Watches a server while work is done. Returns by how many bytes what it held rose at most; rejects if the server ends. */
export async function heldAtMost(server: ServerProcess, work: () => Promise<void>): Promise<number> {
  const held = async () => (await server.ask('held')) as number;
  const before = await held();
  let most = before;
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      most = Math.max(most, await held());
      await sleep(WATCH_MS);
    }
  })();
  const working = work().finally(() => {
    isDone = true;
  });
  await Promise.all([working, watching]);
  return most - before;
}
