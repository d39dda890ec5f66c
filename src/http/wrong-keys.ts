/**
 * Clients that send wrong keys: logged, and answered ever later. A key has 256 random bits, so guessing it is hopeless at any
 * rate; what this keeps small is the load and the log. A good key is checked first and never held up, also from an address
 * that a guesser shares: nobody can lock out another.
 */
import { isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { anySignal, CairnError } from '../kernel/index.js';

/** A client is forgotten after so long without a wrong key. */
const MINUTE_MS = 60_000;
/** Beyond what is free, one wrong key of a client is answered in this time. */
const PAUSE_MS = 250;
/** How many of a client's wait at most: further ones are refused at once. */
const MAX_WAITING = 8;
/** Clients that are remembered, the latest. */
const MAX_CLIENTS = 10_000;

interface Seen {
  count: number;
  waiting: number;
  last: number;
  /** When the next of its wrong keys may be answered. */
  free_at: number;
}

export interface WrongKeysOptions {
  /** Wrong keys of a client that are answered at once; 0 for all of them. */
  readonly per_minute: number;
  readonly log: (line: string) => void;
  readonly stopping: AbortSignal;
}

export class WrongKeys {
  readonly #options: WrongKeysOptions;
  readonly #clients = new Map<string, Seen>();
  #total = 0;

  constructor(options: WrongKeysOptions) {
    this.#options = options;
  }

  get total(): number {
    return this.#total;
  }

  /** Logs a wrong key and waits as long as its sender has to; refuses one of too many at once. */
  async note(request: FastifyRequest): Promise<void> {
    const { per_minute, log, stopping } = this.#options;
    const client = clientOf(request.socket.remoteAddress);
    const now = performance.now();
    const seen = this.#seen(client, now);
    seen.count++;
    this.#total++;
    const limited = per_minute > 0 && seen.count > per_minute;
    // A flood is logged when it has doubled.
    if (!limited || Number.isInteger(Math.log2(seen.count)))
      log(
        `wrong key from ${client} for ${request.method} ${request.routeOptions.url ?? ''} (${seen.count} within a minute)`,
      );
    if (!limited) return;
    if (seen.waiting >= MAX_WAITING) {
      const retry_after_s = Math.ceil((seen.free_at - now) / 1000);
      throw new CairnError(
        'TOO_MANY_ATTEMPTS',
        `${seen.count} wrong keys came from this address within a minute: check the key, and try again in ${retry_after_s} s`,
        { retry_after_s },
      );
    }
    seen.waiting++;
    seen.free_at = Math.max(now, seen.free_at) + PAUSE_MS;
    const left = new AbortController();
    const leave = () => left.abort();
    request.socket.once('close', leave);
    try {
      await sleep(seen.free_at - now, undefined, { signal: anySignal([left.signal, stopping]) });
    } catch {
      // Its sender has gone, or the server stops: nobody is left to be slowed down.
    } finally {
      request.socket.off('close', leave);
      seen.waiting--;
    }
  }

  #seen(client: string, now: number): Seen {
    let seen = this.#clients.get(client);
    if (!seen || (now - seen.last > MINUTE_MS && seen.waiting === 0))
      seen = { count: 0, waiting: 0, last: now, free_at: now };
    seen.last = now;
    // The latest is the last, so that the first is the one to forget.
    this.#clients.delete(client);
    this.#clients.set(client, seen);
    if (this.#clients.size > MAX_CLIENTS) this.#clients.delete(this.#clients.keys().next().value!);
    return seen;
  }
}

/** Who an address belongs to: with IPv6 one client has a whole /64. Forwarded addresses are not believed: anyone can send them. */
export function clientOf(address: string | undefined): string {
  const plain = address?.replace(/^::ffff:(?=\d+\.)/i, '');
  if (plain === undefined) return 'unknown';
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.replace(/%.*$/, '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return `${[...before, ...(plain.includes('::') ? zeros : []), ...after].slice(0, 4).join(':')}::/64`;
}
