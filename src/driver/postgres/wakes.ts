/**
 * Wakes on PostgreSQL: NOTIFY in the writing transaction, and one connection that listens while anyone waits. While it
 * is down, all waiters are woken ten times a second, since they may have missed a notification.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Channel } from '../channel.js';
import type { WakeListener } from '../driver.js';
import { sql } from '../sql.js';
import { type Keys, Listeners, tellKeys, type WakeListeners } from '../wakes.js';
import { closeClient } from './connection.js';

const CHANNEL = 'cairn_wake';
/** PostgreSQL's limit. */
const PAYLOAD_BYTES = 7999;
/** How often all waiters are woken while the connection is down. */
const DOWN_POLL_MS = 100;
/** Interval of the health check of a silent connection; it may answer within five intervals. */
const CHECK_MS = 1000;
const CHECK_INTERVALS = 5;
const RECONNECT_MS = 2000;
/** How long the connection stays open without listeners: waiters often return at once. */
const LINGER_MS = 5000;

export class PostgresWakes {
  readonly #open: () => pg.Client;
  readonly #prepare: string;
  readonly #check_ms: number;
  readonly #listeners: WakeListeners = new Listeners();
  /** Marks notifications of this process, whose keys it has woken already. */
  #sender: string = randomUUID();
  #stop: AbortController | undefined;
  #listening: Promise<void> | undefined;
  #linger: NodeJS.Timeout | undefined;
  #connected = false;
  #closed = false;

  /** `open` returns a client that is not yet connected; `prepare` is its first statement. */
  constructor(open: () => pg.Client, prepare: string, check_ms = CHECK_MS) {
    this.#open = open;
    this.#prepare = prepare;
    this.#check_ms = check_ms;
  }

  listen(listener: WakeListener): () => void {
    const stop = this.#listeners.listen(listener);
    clearTimeout(this.#linger);
    if (!this.#stop && !this.#closed) {
      this.#stop = new AbortController();
      const { signal } = this.#stop;
      this.#listening = Promise.resolve(this.#listening).then(() => this.#listen(signal));
    }
    return () => {
      stop();
      if (this.#listeners.size > 0 || this.#closed) return;
      clearTimeout(this.#linger);
      this.#linger = setTimeout(() => this.#end(), LINGER_MS).unref();
    };
  }

  readonly wake = (keys: Keys): void => tellKeys(this.#listeners, keys);

  /** One statement for all keys. A key that is too long becomes a notification for the whole tenant. */
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

  /** If that commit still succeeds, its notifications must count like those of another server. */
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
    const poll = setInterval(() => {
      if (!this.#connected) this.#listeners.tell(undefined, undefined);
    }, DOWN_POLL_MS).unref();
    for (let failures = 0; !ended.aborted; failures++) {
      try {
        await this.#listenOnce(ended, () => (failures = 0));
      } catch {
        // Any failure is retried; the poll above wakes the waiters meanwhile.
      }
      const wait_ms = Math.min(RECONNECT_MS, DOWN_POLL_MS * 2 ** failures) * (0.5 + Math.random());
      await pause(wait_ms, undefined, { signal: ended, ref: false }).catch(() => undefined);
    }
    clearInterval(poll);
  }

  /** Listens until the connection is lost or no longer needed. */
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
      this.#connected = true;
      // Notifications of earlier commits were missed.
      this.#listeners.tell(undefined, undefined);
      await Promise.race([lost, this.#untilSilent(client, over.signal)]);
    } finally {
      ended.removeEventListener('abort', end);
      over.abort();
      this.#connected = false;
      await closeClient(client);
    }
  }

  async #begin(client: pg.Client): Promise<void> {
    await client.connect();
    await client.query(this.#prepare);
    await client.query(`LISTEN ${CHANNEL}`);
  }

  /** A connection that only listens would not notice a lost peer. */
  async #untilSilent(client: pg.Client, over: AbortSignal): Promise<void> {
    const check = { text: 'SELECT 1', query_timeout: this.#check_ms * CHECK_INTERVALS };
    try {
      for (;;) {
        await pause(this.#check_ms, undefined, { signal: over, ref: false });
        await client.query(check);
      }
    } catch {
      // No answer, or no longer needed.
    }
  }

  #received(payload: string): void {
    const [sender, tenant, key] = parse(payload);
    if (sender !== this.#sender) this.#listeners.tell(tenant, key);
  }
}

/** Any database user can notify the channel: an unknown payload wakes everybody, which does no harm. */
function parse(payload: string): (string | undefined)[] {
  try {
    const parsed: unknown = JSON.parse(payload);
    if (Array.isArray(parsed) && parsed.every((part) => typeof part === 'string')) return parsed;
  } catch {
    // Not ours.
  }
  return [];
}
