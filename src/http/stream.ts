/** Streams as server-sent events: pulled from the Api, never faster than the reader reads. */
import { once } from 'node:events';
import type { FastifyReply } from 'fastify';
import { CairnError } from '../model/errors.js';

/** A reader that takes nothing for this long is disconnected; it can resume where it was. */
const PATIENCE_MS = 10_000;

interface StreamItem {
  readonly token: string;
  readonly packet: unknown;
}

export async function sendStream(
  reply: FastifyReply,
  open: (signal: AbortSignal) => AsyncIterable<unknown>,
  stopping: AbortSignal,
): Promise<void> {
  const closed = new AbortController();
  const signal = AbortSignal.any([closed.signal, stopping]);
  reply.raw.once('close', () => closed.abort());
  const items = open(signal)[Symbol.asyncIterator]() as AsyncIterator<StreamItem>;
  // The first item comes at once, so that a refusal is still an ordinary answer.
  let item = await items.next();
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // A stream ends with its connection: one that stayed open behind it would keep the server from closing.
    connection: 'close',
    'x-accel-buffering': 'no',
  });
  try {
    while (!item.done) {
      if (!reply.raw.write(frame(item.value)) && !(await drained(reply))) {
        reply.raw.write(
          failure(new CairnError('SLOW_READER', 'the reader did not keep up: resume from the last event')),
        );
        break;
      }
      item = await items.next();
    }
  } catch (error) {
    if (!signal.aborted) {
      const known =
        error instanceof CairnError
          ? error
          : new CairnError('INTERNAL', 'the stream broke: resume from the last event');
      reply.raw.write(failure(known));
    }
  } finally {
    await items.return?.();
    reply.raw.end();
    // What the reader does not take is not kept for it.
    setTimeout(() => reply.raw.destroy(), 1000).unref();
  }
}

function frame({ token, packet }: StreamItem): string {
  return packet === null
    ? `event: heartbeat\nid: ${token}\ndata: {"latest":"${token}"}\n\n`
    : `event: packet\nid: ${token}\ndata: ${JSON.stringify(packet)}\n\n`;
}

const failure = (error: CairnError): string => `event: error\ndata: ${JSON.stringify(error)}\n\n`;

async function drained(reply: FastifyReply): Promise<boolean> {
  try {
    await once(reply.raw, 'drain', { signal: AbortSignal.timeout(PATIENCE_MS) });
    return true;
  } catch {
    return reply.raw.destroyed;
  }
}
