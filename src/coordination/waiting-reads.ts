/** Reads of work in progress that can wait for its end. */
import { type Call, expireDueLeases } from '../engine/index.js';
import { waitForExpiry } from '../identity/index.js';

/** Reads until `hasEnded`, for at most wait_ms. Records overdue work first, so that it is shown as ended. */
export async function readAfterEnd<T>(
  call: Call,
  wakeKey: string,
  wait_ms: number | undefined,
  read: () => Promise<T>,
  hasEnded: (seen: T) => boolean,
): Promise<T> {
  await expireDueLeases(call);
  const first = await read();
  if (!wait_ms || hasEnded(first)) return first;
  const ended = await waitForExpiry(call, [wakeKey], wait_ms, async () => {
    const seen = await read();
    return hasEnded(seen) ? seen : undefined;
  });
  return ended ?? read();
}
