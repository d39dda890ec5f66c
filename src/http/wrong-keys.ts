/**
 * Rate limit for wrong keys: they are logged and answered with a growing delay. A key has 256 random bits and cannot be
 * guessed; this limits load and log. A valid key is checked first and never delayed, even from the same address, so no
 * client can lock out another.
 */
import { isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { anySignal, CairnError } from '../kernel/index.js';

/** A client is forgotten this long after its last wrong key. */
const MINUTE_MS = 60_000;
/** Beyond the limit, one wrong key of a client is answered per this time. */
const PAUSE_MS = 250;
/** Delayed answers per client; further requests are refused at once. */
const MAX_WAITING = 8;
/** The most recent clients are remembered. */
const MAX_CLIENTS = 10_000;

interface Client {
  count: number;
  waiting: number;
  last: number;
  /** When its next wrong key may be answered. */
  free_at: number;
}

interface WrongKeysOptions {
  /** Wrong keys per client that are answered without delay; 0: no limit. */
  readonly per_minute: number;
  readonly log: (line: string) => void;
  readonly stopping: AbortSignal;
}

export class WrongKeys {
  readonly #options: WrongKeysOptions;
  readonly #clients = new Map<string, Client>();
  #total = 0;

  constructor(options: WrongKeysOptions) {
    this.#options = options;
  }

  get total(): number {
    return this.#total;
  }

  /** Logs a wrong key and waits for its delay; throws if too many already wait. */
  async record(request: FastifyRequest): Promise<void> {
    const { per_minute, log, stopping } = this.#options;
    const address = clientOf(request.socket.remoteAddress);
    const now = performance.now();
    const client = this.#client(address, now);
    client.count++;
    this.#total++;
    const limited = per_minute > 0 && client.count > per_minute;
    // A flood is logged each time it has doubled.
    if (!limited || Number.isInteger(Math.log2(client.count)))
      log(
        `wrong key from ${address} for ${request.method} ${request.routeOptions.url ?? ''} (${client.count} within a minute)`,
      );
    if (!limited) return;
    if (client.waiting >= MAX_WAITING) {
      const retry_after_s = Math.ceil((client.free_at - now) / 1000);
      throw new CairnError(
        'TOO_MANY_ATTEMPTS',
        `${client.count} wrong keys came from this address within a minute: check the key and try again in ${retry_after_s} s`,
        { retry_after_s },
      );
    }
    client.waiting++;
    client.free_at = Math.max(now, client.free_at) + PAUSE_MS;
    const gone = new AbortController();
    const leave = () => gone.abort();
    request.socket.once('close', leave);
    try {
      await sleep(client.free_at - now, undefined, { signal: anySignal([gone.signal, stopping]) });
    } catch {
      // The client has disconnected, or the server stops: no answer to delay.
    } finally {
      request.socket.off('close', leave);
      client.waiting--;
    }
  }

  #client(address: string, now: number): Client {
    let client = this.#clients.get(address);
    if (!client || (now - client.last > MINUTE_MS && client.waiting === 0))
      client = { count: 0, waiting: 0, last: now, free_at: now };
    client.last = now;
    // Moves it to the end: the first entry is the one to forget.
    this.#clients.delete(address);
    this.#clients.set(address, client);
    if (this.#clients.size > MAX_CLIENTS) this.#clients.delete(this.#clients.keys().next().value!);
    return client;
  }
}

/** The client of an address: an IPv6 client owns a whole /64. Forwarded addresses are ignored, since any client can send them. */
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
