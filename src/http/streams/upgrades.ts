/** WebSocket upgrades. They are routed like requests, so refusals before the handshake are ordinary answers. */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { KEY_PROTOCOL, STREAM_PROTOCOL } from '../../api/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';

/** Clients send a key at most. */
const MAX_MESSAGE_BYTES = 4096;

interface Upgrade {
  readonly socket: Socket;
  readonly response: ServerResponse;
  readonly head: Buffer;
}

export class Upgrades {
  readonly #pending = new WeakMap<IncomingMessage, Upgrade>();
  /** Node counts a socket no longer as an HTTP connection once it is upgraded. */
  readonly #sockets = new Set<Socket>();
  readonly #handshakes = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    // Compression costs memory per connection, and its ratio tells about secrets beside text that others chose.
    perMessageDeflate: false,
    handleProtocols: (offered) => offered.has(STREAM_PROTOCOL) && STREAM_PROTOCOL,
  });

  /** Sockets that were accepted and have not sent a valid key. */
  readonly without_key = new Set<WebSocket>();
  /** The last answer on each connection. */
  readonly #answers = new WeakMap<Socket, ServerResponse>();

  constructor(server: Server) {
    server.on('request', ({ socket }, response) => this.#answers.set(socket, response));
    server.on('upgrade', (request, socket: Socket, head) =>
      this.#afterAnswers(socket, () => {
        if (request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket')
          this.#route(server, request, socket, head);
        else ignoreUpgrade(server, request, socket, head);
      }),
    );
  }

  /** A pipelined request waits: Node gives the connection to an answer only after those to earlier requests. */
  #afterAnswers(socket: Socket, serve: () => void): void {
    const last = this.#answers.get(socket);
    if (!last || last.closed) {
      serve();
      return;
    }
    const forget = () => this.#sockets.delete(socket);
    const ignore = () => undefined;
    this.#sockets.add(socket);
    // Node has removed its own listener. The client is gone: `close` follows.
    socket.once('close', forget).on('error', ignore);
    last.once('close', () => {
      forget();
      if (socket.destroyed || !socket.writable) return;
      socket.off('close', forget).off('error', ignore);
      serve();
    });
  }

  has(request: IncomingMessage): boolean {
    return this.#pending.has(request);
  }

  /** Completes the handshake. Undefined if the client has left. */
  accept(request: IncomingMessage): WebSocket | undefined {
    const { socket, response, head } = this.#pending.get(request)!;
    response.detachSocket(socket);
    let accepted: WebSocket | undefined;
    this.#handshakes.handleUpgrade(request, socket, head, (opened) => {
      accepted = opened;
    });
    return accepted;
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #route(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // Node has removed its own listener. The client is gone: `close` follows.
    socket.on('error', () => undefined);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => socket.destroySoon());
    this.#pending.set(request, { socket, response, head });
    server.emit('request', request, response);
  }
}

/**
 * Serves a request as if it had offered no other protocol. Node stops reading HTTP at any `Upgrade`, and some clients
 * offer h2c with every request, bodies included: the request is put back without the offer and read again.
 */
function ignoreUpgrade(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!;
    const value = request.rawHeaders[i + 1]!;
    const kept = /^connection$/i.test(name) ? value.replace(/\bupgrade\b/gi, 'x-ignored') : value;
    if (!/^upgrade$/i.test(name)) lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

/** Refuses a handshake that the protocol does not allow, or that offers other subprotocols only. */
export function checkHandshake({ headers }: IncomingMessage): void {
  if (headers['sec-websocket-version'] !== '13') throw invalid('Sec-WebSocket-Version must be 13');
  if (!/^[+/\dA-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? ''))
    throw invalid('Sec-WebSocket-Key must be 16 bytes in base64');
  const offered = protocolsOf(headers['sec-websocket-protocol']);
  if (offered.some((one) => !/^[\w!#$%&'*+.^`|~-]+$/.test(one)) || new Set(offered).size < offered.length)
    throw invalid('Sec-WebSocket-Protocol must be a list of different names');
  if (offered.length > 0 && !offered.includes(STREAM_PROTOCOL))
    throw invalid(`Sec-WebSocket-Protocol must contain ${STREAM_PROTOCOL}, or be left out`);
}

/** The key among the offered subprotocols. */
export function offeredKey({ headers }: IncomingMessage): string | undefined {
  const keys = protocolsOf(headers['sec-websocket-protocol']).filter((one) => one.startsWith(KEY_PROTOCOL));
  if (keys.length > 1) throw new CairnError('UNAUTHORIZED', 'Sec-WebSocket-Protocol holds several keys: send one');
  return keys[0]?.slice(KEY_PROTOCOL.length);
}

const protocolsOf = (header: string | undefined): string[] =>
  header === undefined ? [] : header.split(',').map((one) => one.trim());
