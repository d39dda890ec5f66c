/** The loop of every stream: reads new items after commits, sends heartbeats, and ends with the caller or the store. */
import { CairnError, withCommas } from '../../kernel/index.js';
import type { Call } from '../calls/call.js';
import { headOf } from '../writes/tenants.js';

/** Maximum number of events that one statement scans. */
export const MAX_SCANNED_EVENTS = 5000;
export const HEARTBEAT_MS = 15_000;
const MAX_FOLLOWERS = 1000;

interface Followed<T> {
  /** Finds the start, or throws; returns the first item. */
  open(): Promise<T>;
  /** New items up to this seq of the tenant; a long scan calls `ended` now and then. */
  upTo(head: number, ended: () => boolean): AsyncIterable<T>;
  heartbeat(): T;
}

export async function* followStream<T>(call: Call, followed: Followed<T>): AsyncGenerator<Awaited<T>, void, undefined> {
  const { driver, tenant, hub } = call;
  const signal = call.options.signal;
  const ended = () => hub.closed || signal?.aborted === true;
  if (hub.followers >= MAX_FOLLOWERS)
    throw new CairnError(
      'OVERLOADED',
      `${withCommas(MAX_FOLLOWERS)} streams are already open: close one, or try again later`,
    );
  const follower = hub.join(tenant);
  try {
    const query = driver.at(tenant);
    yield await followed.open();
    let beat = performance.now();
    while (!ended()) {
      const changes = follower.changes();
      for await (const item of followed.upTo(await headOf(query), ended)) {
        yield item;
        if (ended()) return;
        beat = performance.now();
      }
      if (performance.now() - beat >= HEARTBEAT_MS) {
        beat = performance.now();
        yield await followed.heartbeat();
      }
      await follower.wait(changes, HEARTBEAT_MS - (performance.now() - beat), signal);
    }
  } finally {
    follower.leave();
  }
}
