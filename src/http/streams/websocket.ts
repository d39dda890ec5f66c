/** Streams as WebSocket messages: `{event, id, data}`, with the names, ids and data of server-sent events. */
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { CLOSE_CODE_BASE, KEY_PROTOCOL } from '../../api/contract.js';
import type { Frames } from '../../engine/contract.js';
import { HEARTBEAT_MS } from '../../engine/index.js';
import { anySignal, CairnError, invalid } from '../../kernel/index.js';
import { openStream, pump, streamError, type WireFrame, writeSlices } from './pump.js';

/** How long a client may take to send its key. */
const KEY_MS = 5000;
/** How long a client may take to read what is left and to close; less while the server stops. */
const CLOSE_MS = 5000;
const STOP_MS = 1000;
/** A peer that answers no ping for this many intervals is dead. */
const MISSED_PINGS = 2;
/** A close frame has 125 bytes, two of them for the code. */
const MAX_REASON_BYTES = 123;
const GOING_AWAY = 1001;
const DONE = 1000;

interface SocketStream {
  readonly frames: Frames;
  /** The key of the handshake; `awaited` if it has none and the store requires one. */
  readonly key: { readonly given: string | undefined } | 'awaited';
  /** Checks the caller and opens the stream. */
  readonly open: (key: string | undefined, signal: AbortSignal) => Promise<AsyncIterable<unknown>>;
  readonly stopping: AbortSignal;
  readonly log: (line: string) => void;
}

/** Sends a stream until it ends or the client leaves. Resolves to the status to count: 101, or that of the refusal. */
export async function sendMessages(socket: WebSocket, wire: Socket, stream: SocketStream): Promise<number> {
  const { frames, open, stopping, log } = stream;
  const incoming = new Incoming(socket);
  const signal = anySignal([incoming.ended, stopping]);
  // Whether the last message was sent to its end: between its fragments only control frames may be sent.
  let whole = true;
  const write = (slice: Buffer, last: boolean) => {
    whole = last;
    socket.send(slice, { binary: false, fin: last });
  };
  const send = (frame: WireFrame) => writeSlices({ reader: wire, write, signal }, JSON.stringify(frame));
  let error: CairnError | undefined;
  let status = 101;
  try {
    const key = stream.key === 'awaited' ? await incoming.key(signal) : stream.key.given;
    const opened = await openStream(await open(key, signal));
    incoming.refuseMore();
    watchPeer(socket, wire);
    error = await pump(opened, { frames, send, signal, log });
  } catch (refused) {
    error = streamError(refused, log);
    status = error.status;
  }
  if (signal.aborted && error?.code !== 'SLOW_READER') error = incoming.fault;
  if (error && whole) socket.send(JSON.stringify({ event: 'error', data: error }));
  if (error) socket.close(CLOSE_CODE_BASE + error.status, reasonOf(error));
  else if (stopping.aborted) socket.close(GOING_AWAY, 'SHUTTING_DOWN: the server is stopping');
  else socket.close(DONE);
  endWithin(socket, stopping);
  return status;
}

/** What a client sends: a key at most. */
class Incoming {
  readonly #ended = new AbortController();
  readonly #messages: string[] = [];
  #heard = () => {};
  #open = true;
  fault: CairnError | undefined;

  constructor(socket: WebSocket) {
    socket.once('close', () => this.#ended.abort());
    // A violation of the protocol, such as a message that is too long: ws has closed with the code for it.
    socket.on('error', () => this.#ended.abort());
    socket.on('message', (data: RawData, binary: boolean) => {
      // One message may be a key; a client that sends more is cut off before it fills memory.
      if (!this.#open || binary || this.#messages.length > 0) this.#refuse();
      else this.#messages.push(String(data));
      this.#heard();
    });
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  #refuse(): void {
    this.fault ??= invalid('a stream takes no messages, except a key as the first one: {"key": "<key>"}');
    this.#ended.abort();
  }

  /** A message that came while no key was awaited is as unwelcome as a later one. */
  refuseMore(): void {
    this.#open = false;
    if (this.#messages.length > 0) this.#refuse();
  }

  async key(signal: AbortSignal): Promise<string> {
    if (this.#messages.length === 0) await this.#firstMessage(signal);
    const text = this.#messages.shift();
    if (text === undefined)
      throw new CairnError(
        'UNAUTHORIZED',
        `a key is needed: offer the subprotocol ${KEY_PROTOCOL}<key>, or send {"key": "<key>"} within ${KEY_MS / 1000} s; create one with \`cairn keys create\``,
      );
    this.#open = false;
    return keyIn(text);
  }

  #firstMessage(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, KEY_MS);
      signal.addEventListener('abort', done);
      this.#heard = done;
    });
  }
}

function keyIn(text: string): string {
  try {
    const { key, ...rest } = JSON.parse(text) as { key?: unknown };
    if (typeof key === 'string' && Object.keys(rest).length === 0) return key;
  } catch {
    // Refused below.
  }
  throw new CairnError('UNAUTHORIZED', 'the first message must be {"key": "<key>"}');
}

/** Pings the peer, and ends the connection if it neither answers nor reads. */
function watchPeer(socket: WebSocket, wire: Socket): void {
  let missed = 0;
  const alive = () => {
    missed = 0;
  };
  socket.on('pong', alive);
  wire.on('drain', alive);
  const timer = setInterval(() => {
    if (missed++ < MISSED_PINGS) socket.ping();
    else socket.terminate();
  }, HEARTBEAT_MS).unref();
  socket.once('close', () => clearInterval(timer));
}

/** Drops a connection whose peer does not close in time. */
function endWithin(socket: WebSocket, stopping: AbortSignal): void {
  if (socket.readyState === socket.CLOSED) return;
  let timer = setTimeout(() => socket.terminate(), stopping.aborted ? STOP_MS : CLOSE_MS).unref();
  // A signal of its own: Node warns of a signal with more than ten listeners.
  const stops = anySignal([stopping]);
  const stop = () => {
    clearTimeout(timer);
    timer = setTimeout(() => socket.terminate(), STOP_MS).unref();
  };
  stops.addEventListener('abort', stop);
  socket.once('close', () => {
    clearTimeout(timer);
    stops.removeEventListener('abort', stop);
  });
}

function reasonOf({ code, message }: CairnError): string {
  const bytes = Buffer.from(`${code}: ${message}`).subarray(0, MAX_REASON_BYTES);
  // A cut within a character leaves a replacement character of three bytes.
  return bytes.toString('utf8').replace(/\ufffd+$/, '');
}
