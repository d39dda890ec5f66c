/**
 * Wakes on PostgreSQL: NOTIFY in the writing transaction, and one connection that listens while anyone waits. While it
 * is down those who wait are told ten times a second that they may have missed something.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Channel } from '../channel.js';
import type { WakeListener } from '../driver.js';
import { sql } from '../sql.js';
import { type Keys, WakeListeners } from '../wakes.js';
import { goodbye } from './connection.js';

const CHANNEL = 'cairn_wake';
/** PostgreSQL refuses longer ones. */
const PAYLOAD_BYTES = 7999;
/** How often those who wait look for themselves while nothing can be heard. */
const UNHEARD_MS = 100;
/** How often a connection that is silent is asked whether it is still there, and for how many times that it may think. */
const LOOK_MS = 1000;
const PATIENCE = 5;
const RECONNECT_MS = 2000;
/** How long it goes on listening for nobody: those who wait often come again at once. */
const LINGER_MS = 5000;

export class PostgresWakes {
  readonly #open: () => pg.Client;
  readonly #prepare: string;
  readonly #look_ms: number;
  readonly #listeners = new WakeListeners();
  /** By which a server knows its own notifications, whose keys it has woken already. */
  #sender: string = randomUUID();
  #stop: AbortController | undefined;
  #listening: Promise<void> | undefined;
  #linger: NodeJS.Timeout | undefined;
  #heard = false;
  #closed = false;

  /** `open` gives a connection that is yet to be made, `prepare` is its first statement. */
  constructor(open: () => pg.Client, prepare: string, look_ms = LOOK_MS) {
    this.#open = open;
    this.#prepare = prepare;
    this.#look_ms = look_ms;
  }

  listen(listener: WakeListener): () => void {
    this.#listeners.add(listener);
    clearTimeout(this.#linger);
    if (!this.#stop && !this.#closed) {
      this.#stop = new AbortController();
      const before = this.#listening;
      const { signal } = this.#stop;
      this.#listening = Promise.resolve(before).then(() => this.#listen(signal));
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0 || this.#closed) return;
      clearTimeout(this.#linger);
      this.#linger = setTimeout(() => this.#end(), LINGER_MS).unref();
    };
  }

  readonly wake = (keys: Keys): void => this.#listeners.tellKeys(keys);

  /** One statement for all keys. What is too long for a notification becomes one for the whole tenant. */
  readonly announce = (channel: Channel, keys: Keys): Promise<void> => {
    const payloads: string[] = [];
    for (const [tenant, list] of keys)
      for (const key of list) {
        const payload = JSON.stringify([this.#sender, tenant, key]);
        const fits = Buffer.byteLength(payload) <= PAYLOAD_BYTES;
        payloads.push(fits ? payload : JSON.stringify([this.#sender, tenant]));
      }
    return channel.send(sql`SELECT pg_notify(${CHANNEL}, payload) FROM unnest(${payloads}::text[]) AS payload`, '');
  };

  /** If that commit still happens, its notifications must be heard like those of another server. */
  readonly commitLost = (): void => {
    this.#sender = randomUUID();
  };

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#linger);
    this.#end();
    await this.#listening;
  }

  #end(): void {
    this.#stop?.abort();
    this.#stop = undefined;
  }

  async #listen(ended: AbortSignal): Promise<void> {
    const unheard = setInterval(() => {
      if (!this.#heard) this.#listeners.tell(undefined, undefined);
    }, UNHEARD_MS).unref();
    for (let failures = 0; !ended.aborted; failures++) {
      try {
        await this.#listenOnce(ended, () => (failures = 0));
      } catch {
        // Whatever it was, it is tried again, and those who wait look for themselves until it works.
      }
      const wait_ms = Math.min(RECONNECT_MS, UNHEARD_MS * 2 ** failures) * (0.5 + Math.random());
      await pause(wait_ms, undefined, { signal: ended, ref: false }).catch(() => undefined);
    }
    clearInterval(unheard);
  }

  /** Listens until the connection is lost, or is no longer needed. */
  async #listenOnce(ended: AbortSignal, listening: () => void): Promise<void> {
    const client = this.#open();
    const over = new AbortController();
    const end = () => over.abort();
    client.on('error', end);
    client.on('end', end);
    client.on('notification', ({ payload }) => this.#received(payload ?? ''));
    ended.addEventListener('abort', end);
    const lost = new Promise<void>((resolve) => {
      over.signal.addEventListener('abort', () => resolve());
    });
    try {
      await Promise.race([lost, this.#begin(client)]);
      if (over.signal.aborted) return;
      listening();
      this.#heard = true;
      // What was committed before this moment was not heard.
      this.#listeners.tell(undefined, undefined);
      await Promise.race([lost, this.#untilSilent(client, over.signal)]);
    } finally {
      ended.removeEventListener('abort', end);
      over.abort();
      this.#heard = false;
      await goodbye(client);
    }
  }

  async #begin(client: pg.Client): Promise<void> {
    await client.connect();
    await client.query(this.#prepare);
    await client.query(`LISTEN ${CHANNEL}`);
  }

  /** A connection that only listens would never notice that the other side is gone. */
  async #untilSilent(client: pg.Client, over: AbortSignal): Promise<void> {
    const look = { text: 'SELECT 1', query_timeout: this.#look_ms * PATIENCE };
    try {
      for (;;) {
        await pause(this.#look_ms, undefined, { signal: over, ref: false });
        await client.query(look);
      }
    } catch {
      // It did not answer, or is no longer needed.
    }
  }

  #received(payload: string): void {
    const [sender, tenant, key] = parse(payload);
    if (sender !== this.#sender) this.#listeners.tell(tenant, key);
  }
}

/** Anyone who may connect can send on the channel: what is not understood wakes everybody, which does no harm. */
function parse(payload: string): (string | undefined)[] {
  try {
    const parsed: unknown = JSON.parse(payload);
    if (Array.isArray(parsed) && parsed.every((part) => typeof part === 'string')) return parsed;
  } catch {
    // Not ours.
  }
  return [];
}
