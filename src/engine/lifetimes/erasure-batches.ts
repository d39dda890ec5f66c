/** Work in small batches beside live traffic: so many at a time as take about so long. */
import type { Call } from '../calls/call.js';

/** How many are erased at a time: so many as take about so long, since other writers of the tenant wait for them. */
const BATCH = { first: 20, least: 5, most: 200, ms: 8 };

/** From how long a batch took, how large the next one is. It grows in steps: one that was quick may be followed by a slow one. */
export function nextBatch(size: number, took_ms: number): number {
  const fitting = Math.round((size * BATCH.ms) / Math.max(took_ms, 0.1));
  return Math.max(BATCH.least, Math.min(fitting, size * 2, BATCH.most));
}

/** Runs batches until one is not full. False when the store is about to close. */
export async function inBatches(call: Call, run: (limit: number) => Promise<number>): Promise<boolean> {
  for (let limit = BATCH.first; !call.erasures.stopping; ) {
    const started = performance.now();
    if ((await run(limit)) < limit) return true;
    limit = nextBatch(limit, performance.now() - started);
  }
  return false;
}
