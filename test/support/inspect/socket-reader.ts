/** Reads a stream over WebSocket from the wire, with no help of the client, as slowly as a test likes. */
import type { IncomingMessage } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';
import { until } from '../server.js';

export interface SocketFrame {
  readonly event: string;
  readonly id?: string;
  readonly data: { readonly seq?: number; readonly code?: string; readonly message?: string };
}

/** How a connection ended: by a close frame, or by an answer in place of the handshake. */
export interface SocketEnd {
  readonly code?: number;
  readonly reason?: string;
  readonly answer?: { readonly status: number; readonly headers: IncomingMessage['headers']; readonly text: string };
}

export class SocketReader {
  readonly frames: SocketFrame[] = [];
  end: SocketEnd | undefined;
  readonly socket: WebSocket;

  constructor(url: string, protocols: readonly string[] = ['cairn.v1'], options: ClientOptions = {}) {
    this.socket = new WebSocket(url.replace(/^http/, 'ws'), [...protocols], options);
    this.socket.on('message', (data) => this.frames.push(JSON.parse(String(data)) as SocketFrame));
    this.socket.on('error', () => undefined);
    this.socket.on('close', (code, reason) => {
      this.end ??= { code, reason: String(reason) };
    });
    this.socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        this.end = { answer: { status: response.statusCode!, headers: response.headers, text } };
      });
    });
  }

  get seqs(): number[] {
    return this.frames.flatMap(({ event, data }) => (event === 'packet' ? [data.seq!] : []));
  }

  /** The error that the server told before it closed. */
  get refusal(): unknown {
    return this.frames.find(({ event }) => event === 'error')?.data;
  }

  async frame(number = 1): Promise<SocketFrame> {
    await until(`message ${number}, not ${JSON.stringify(this.end)}`, () => this.frames.length >= number);
    return this.frames[number - 1]!;
  }

  async ended(ms?: number): Promise<SocketEnd> {
    await until('the end of the connection', () => this.end !== undefined, ms);
    return this.end!;
  }
}
