/** Streams of the client: over WebSocket or server-sent events, resumed when a connection breaks. */
import { CALL_HEADERS, KEY_PROTOCOL, type NamedOperation, STREAM_PROTOCOL } from '../api/contract.js';
import type { CallOptions } from '../api/index.js';
import { anySignal, CairnError, invalid } from '../kernel/index.js';
import { knownError, refusal } from './refusal.js';
import { readEvents } from './sse.js';
import {
  FellBehind,
  readMessages,
  type StreamEvent,
  type StreamSocketConstructor,
  UpgradeFailed,
} from './websocket.js';

export type Transport = 'auto' | 'websocket' | 'sse';

/** How one connection is made. `fallback` is server-sent events after a WebSocket that did not open. */
type Way = 'websocket' | 'sse' | 'fallback';

interface StreamOptions {
  readonly url: string;
  readonly key?: string | undefined;
  readonly transport?: Transport | undefined;
  readonly WebSocket?: StreamSocketConstructor | undefined;
  readonly fetch?: typeof globalThis.fetch;
}

/** What streams need of the connection. */
interface Wire {
  readonly base: string;
  readonly closing: AbortSignal;
  /** Path and query of a call. */
  path(operation: NamedOperation, input: object): Promise<string>;
  /** Opens a stream of server-sent events. */
  open(operation: NamedOperation, input: object, options: CallOptions): Promise<Response>;
}

/** Consecutive failures after which a stream is given up. */
const MAX_FAILURES = 10;

export class Streams {
  readonly #wire: Wire;
  readonly #key: string | undefined;
  readonly #transport: Transport;
  readonly #WebSocket: StreamSocketConstructor | undefined;
  /** Whether WebSocket works with this server: known after the first stream. */
  #works: boolean | undefined;

  constructor(wire: Wire, { key, transport = 'auto', WebSocket, fetch }: StreamOptions) {
    this.#wire = wire;
    this.#key = key;
    this.#transport = transport;
    const { WebSocket: own } = globalThis as { WebSocket?: StreamSocketConstructor };
    // Whoever replaces fetch decides how the server is reached: a WebSocket would go past it.
    this.#WebSocket = WebSocket ?? (fetch === undefined || transport === 'websocket' ? own : undefined);
    if (!['auto', 'websocket', 'sse'].includes(transport))
      throw invalid(`\`transport\` must be "auto", "websocket" or "sse", not "${transport}"`);
    if (transport === 'websocket' && this.#WebSocket === undefined)
      throw invalid('`transport: "websocket"` needs a WebSocket: use Node 22, or pass the one of the package ws');
  }

  /** Follows a stream across broken connections: resumes after the last event, so that none is lost or repeated. */
  async *follow(operation: NamedOperation, input: object, options: CallOptions): AsyncGenerator<unknown, void> {
    const { closing } = this.#wire;
    // A signal of its own: the runtime warns of a signal with more than ten listeners.
    const signal = anySignal(options.signal ? [options.signal, closing] : [closing]);
    let last: string | undefined;
    let way = this.#preferred(options);
    for (let failures = 0; !signal.aborted; ) {
      try {
        const { after, ...rest } = input as { after?: string };
        const resumed = { ...rest, ...((last ?? after) === undefined ? {} : { after: last ?? after }) };
        let any = false;
        for await (const { event, id, data } of this.#connect(way, operation, resumed, { ...options, signal })) {
          if (event === 'error') throw knownError(data) ?? refusal(503, JSON.stringify(data));
          any = true;
          failures = 0;
          last = id ?? last;
          yield operation.frames!.toItem(id!, event === 'heartbeat' ? null : { event, data });
          if (signal.aborted) return;
        }
        if (!any) throw this.#noEvent();
        way = this.#preferred(options);
      } catch (error) {
        if (signal.aborted) return;
        const next = this.#afterFailure(error);
        if (next !== undefined) {
          way = next;
          continue;
        }
        const failure = error instanceof UpgradeFailed ? this.#noSocket(error) : error;
        const refused = failure instanceof CairnError && failure.status < 500;
        if (refused || ++failures > MAX_FAILURES) throw failure;
        way = this.#preferred(options);
      }
      await pause(Math.min(5000, 100 * 2 ** failures), signal);
    }
  }

  /** A WebSocket cannot carry the headers of call options. */
  #preferred(options: CallOptions): Way {
    const fits = CALL_HEADERS.every(([member]) => options[member] === undefined) && /^[\w-]*$/.test(this.#key ?? '');
    const wanted = this.#transport === 'websocket' || (this.#transport === 'auto' && this.#works !== false);
    return wanted && fits && this.#WebSocket !== undefined ? 'websocket' : 'sse';
  }

  /** How to go on at once; undefined to try again after a pause. */
  #afterFailure(error: unknown): Way | undefined {
    // Server-sent events have backpressure.
    if (error instanceof FellBehind) return this.#transport === 'auto' ? 'sse' : 'websocket';
    return error instanceof UpgradeFailed && this.#transport === 'auto' ? 'fallback' : undefined;
  }

  #noEvent(): CairnError {
    return new CairnError(
      'SERVER_UNREACHABLE',
      `${this.#wire.base} ended the stream before its first event: check the address and the proxies`,
    );
  }

  #noSocket(error: UpgradeFailed): CairnError {
    return new CairnError(
      'SERVER_UNREACHABLE',
      `${this.#wire.base} cannot be reached over WebSocket: ${error.message}; check the address and the proxies, or use \`transport: "auto"\``,
      undefined,
      error,
    );
  }

  #connect(
    way: Way,
    operation: NamedOperation,
    input: object,
    options: CallOptions & { readonly signal: AbortSignal },
  ): AsyncGenerator<StreamEvent, void> {
    return way === 'websocket'
      ? this.#messages(operation, input, options.signal)
      : this.#events(operation, input, options, way === 'fallback');
  }

  async *#messages(operation: NamedOperation, input: object, signal: AbortSignal): AsyncGenerator<StreamEvent, void> {
    const url = `${this.#wire.base.replace(/^http/, 'ws')}${await this.#wire.path(operation, input)}`;
    const protocols = [STREAM_PROTOCOL, ...(this.#key === undefined ? [] : [`${KEY_PROTOCOL}${this.#key}`])];
    for await (const event of readMessages(() => new this.#WebSocket!(url, protocols), signal)) {
      this.#works = true;
      yield event;
    }
  }

  async *#events(
    operation: NamedOperation,
    input: object,
    options: CallOptions,
    fallback: boolean,
  ): AsyncGenerator<StreamEvent, void> {
    const response = await this.#wire.open(operation, input, options);
    if (!response.ok || !response.body) throw refusal(response.status, await response.text());
    // Remembered, unless WebSocket has worked before: then the connection had just broken.
    if (fallback) this.#works ??= false;
    for await (const { event, id, data } of readEvents(response.body))
      yield { event, id, data: JSON.parse(data) as unknown };
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
}
