/** Streams as server-sent events. */
import type { FastifyReply } from 'fastify';
import type { Frames } from '../../engine/contract.js';
import { anySignal } from '../../kernel/index.js';
import { openStream, pump, type WireFrame, writeSlices } from './pump.js';

interface EventStream {
  readonly frames: Frames;
  readonly open: (signal: AbortSignal) => AsyncIterable<unknown>;
  readonly stopping: AbortSignal;
  readonly log: (line: string) => void;
}

export async function sendEvents(reply: FastifyReply, { frames, open, stopping, log }: EventStream): Promise<void> {
  const closed = new AbortController();
  const signal = anySignal([closed.signal, stopping]);
  reply.raw.once('close', () => closed.abort());
  // Opened before the headers: a stream that is refused still gets an ordinary error answer.
  const stream = await openStream(open(signal));
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // A connection that stayed open after the stream would keep the server from closing.
    connection: 'close',
    'x-accel-buffering': 'no',
  });
  const write = (slice: Buffer) => reply.raw.write(slice);
  const send = (frame: WireFrame) => writeSlices({ reader: reply.raw, write, signal }, textOf(frame));
  try {
    const error = await pump(stream, { frames, send, signal, log });
    if (error) reply.raw.write(`event: error\ndata: ${JSON.stringify(error)}\n\n`);
  } finally {
    reply.raw.end();
    // Drops bytes that the reader does not take.
    setTimeout(() => reply.raw.destroy(), 1000).unref();
  }
}

const textOf = ({ event, id, data }: WireFrame): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
