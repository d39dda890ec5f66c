/** Reads a stream from a WebSocket. */
import { CairnError } from '../kernel/index.js';
import { knownError } from './refusal.js';

/** An item as both transports carry it. */
export interface StreamEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

/** What the client needs of a WebSocket; those of browsers, of Node and of the package ws have it. */
export interface StreamSocket {
  addEventListener(type: 'message' | 'close' | 'error', listener: (event: object) => void): void;
  close(): void;
}

export type StreamSocketConstructor = new (url: string, protocols: string[]) => StreamSocket;

/** The server sends its position at once: a proxy that lets nothing through is noticed by this. */
const FIRST_MESSAGE_MS = 10_000;
/**
 * A WebSocket has no backpressure for its reader. Messages beyond these bounds are dropped with the connection, and the
 * stream resumes after the last event that was delivered.
 */
const MAX_MESSAGES = 1000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** The connection ended before a message came: there may be a proxy or a server that knows no WebSocket. */
export class UpgradeFailed extends Error {}

/** The consumer is slower than the server. */
export class FellBehind extends Error {}

/** Yields the messages of a socket until it closes. Throws the error of the server, `UpgradeFailed` or `FellBehind`. */
export async function* readMessages(open: () => StreamSocket, signal: AbortSignal): AsyncGenerator<StreamEvent, void> {
  const inbox = new Inbox();
  const socket = opened(open);
  const timer = setTimeout(() => inbox.end(new UpgradeFailed('no message came')), FIRST_MESSAGE_MS);
  const leave = () => inbox.end(undefined);
  socket.addEventListener('message', (event) => {
    clearTimeout(timer);
    // The server need not send what would be dropped.
    if (!inbox.add((event as { data: unknown }).data)) socket.close();
  });
  socket.addEventListener('close', (event) => {
    const { code, reason } = event as { code: number; reason: string };
    inbox.close(code, reason);
  });
  // `close` follows, with all that can be known.
  socket.addEventListener('error', () => undefined);
  signal.addEventListener('abort', leave);
  try {
    for (;;) {
      const text = await inbox.next();
      if (text === undefined) return;
      yield eventIn(text);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
    inbox.end(undefined);
    socket.close();
  }
}

function opened(open: () => StreamSocket): StreamSocket {
  try {
    return open();
  } catch (error) {
    // A browser refuses an insecure connection from a secure page by an exception.
    throw new UpgradeFailed((error as Error).message);
  }
}

/** Messages that have arrived and are not yet delivered. */
class Inbox {
  readonly #messages: unknown[] = [];
  #characters = 0;
  #any = false;
  #ended: { readonly error: Error | undefined } | undefined;
  #wake = () => {};

  /** False if there is no room for it. */
  add(data: unknown): boolean {
    if (this.#ended) return false;
    this.#any = true;
    const size = String(data).length;
    // A message larger than the bound is delivered if it is the only one.
    const full = this.#messages.length >= MAX_MESSAGES || this.#characters + size > MAX_CHARACTERS;
    if (full && this.#messages.length > 0) {
      this.end(new FellBehind('the consumer is slower than the server'));
      return false;
    }
    this.#messages.push(data);
    this.#characters += size;
    this.#wake();
    return true;
  }

  /** A server that closes before any message names its error: any other end is that of a proxy or another server. */
  close(code: number, reason: string): void {
    const error = errorIn(reason);
    if (this.#any || error) this.end(error);
    else this.end(new UpgradeFailed(`the connection closed before a message came (code ${code})`));
  }

  /** What has arrived is still delivered. */
  end(error: Error | undefined): void {
    this.#ended ??= { error };
    this.#wake();
  }

  /** Undefined at the end. */
  async next(): Promise<string | undefined> {
    while (this.#messages.length === 0) {
      if (this.#ended?.error) throw this.#ended.error;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const text = String(this.#messages.shift());
    this.#characters -= text.length;
    return text;
  }
}

/** A reason begins with the code of its error. The error itself came before, as a message, unless a message was cut. */
function errorIn(reason: string): CairnError | undefined {
  const [, code, message] = /^([A-Z_]+): (.*)$/s.exec(reason) ?? [];
  return knownError({ code, message });
}

function eventIn(text: string): StreamEvent {
  try {
    const { event, id, data } = JSON.parse(text) as StreamEvent;
    if (typeof event === 'string') return { event, id, data };
  } catch {
    // Refused below.
  }
  throw new CairnError('SERVER_UNREACHABLE', `not a message of a Cairn server: ${text.slice(0, 200)}`);
}
