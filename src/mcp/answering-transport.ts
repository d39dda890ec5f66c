/** A transport that knows which requests are still to be answered, so that ending can wait for them. */
import type { JSONRPCMessage, Transport } from './sdk.js';

/** Stays open for as long as its client wants; nobody waits for its answer. */
const ENDLESS = 'subscriptions/listen';

export class AnsweringTransport implements Transport {
  readonly #wire: Transport;
  readonly #unanswered = new Set<unknown>();
  #whenAnswered: (() => void)[] = [];
  readonly #resolveClosed: () => void;
  /** Resolves when nothing more can be read or written. */
  readonly closed: Promise<void>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;

  constructor(wire: Transport) {
    this.#wire = wire;
    let resolve = () => {};
    this.closed = new Promise((done) => {
      resolve = done;
    });
    this.#resolveClosed = resolve;
  }

  start(): Promise<void> {
    this.#wire.onmessage = (message: JSONRPCMessage, extra) => {
      if ('method' in message && 'id' in message && message.method !== ENDLESS) this.#unanswered.add(message.id);
      if ('method' in message && message.method === 'notifications/cancelled')
        this.#settle((message.params as { requestId?: unknown } | undefined)?.requestId);
      this.onmessage?.(message, extra);
    };
    this.#wire.onerror = (error) => this.onerror?.(error);
    this.#wire.onclose = () => {
      this.onclose?.();
      this.#resolveClosed();
    };
    return this.#wire.start();
  }

  async send(message: JSONRPCMessage, options?: Parameters<Transport['send']>[1]): Promise<void> {
    try {
      await this.#wire.send(message, options);
    } finally {
      if (!('method' in message)) this.#settle(message.id);
    }
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  /** Resolves once all that was asked is answered, at the latest after so long. */
  async answered(patience_ms: number): Promise<void> {
    if (this.#unanswered.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patience_ms);
      this.#whenAnswered.push(resolve);
    });
    clearTimeout(timer);
  }

  #settle(id: unknown): void {
    this.#unanswered.delete(id);
    if (this.#unanswered.size > 0) return;
    for (const resolve of this.#whenAnswered) resolve();
    this.#whenAnswered = [];
  }
}
