/** A transport that tracks unanswered requests, so that the server can wait for them before it ends. */
import type { JSONRPCMessage, Transport } from './sdk.js';

/** Stays open until its client ends it: not waited for. */
const ENDLESS = 'subscriptions/listen';

export class AnsweringTransport implements Transport {
  readonly #wire: Transport;
  readonly #unanswered = new Set<unknown>();
  #whenAnswered: (() => void)[] = [];
  #resolveClosed!: () => void;
  /** Resolves when the transport is closed. */
  readonly closed = new Promise<void>((resolve) => {
    this.#resolveClosed = resolve;
  });
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;

  constructor(wire: Transport) {
    this.#wire = wire;
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

  /** Resolves when all requests are answered, or after a timeout. */
  async answered(timeout_ms: number): Promise<void> {
    if (this.#unanswered.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeout_ms);
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
