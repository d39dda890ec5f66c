/** Streams as server-sent events: pulled from the Api, never faster than the reader reads. */
import { once } from 'node:events';
import type { FastifyReply } from 'fastify';
import type { Frames } from '../engine/contract.js';
import { anySignal, CairnError } from '../kernel/index.js';

/** A reader that takes nothing for this long is disconnected; it can resume where it was. */
const PATIENCE_MS = 10_000;

/** What is written at once: a large frame goes in slices, so that a slow reader is told from one that reads nothing. */
const SLICE_BYTES = 256 * 1024;

interface StreamItem {
  readonly token: string;
}

export async function sendStream(
  reply: FastifyReply,
  frames: Frames,
  open: (signal: AbortSignal) => AsyncIterable<unknown>,
  stopping: AbortSignal,
): Promise<void> {
  const closed = new AbortController();
  const signal = anySignal([closed.signal, stopping]);
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
      if (!(await sent(reply, textOf(frames, item.value)))) {
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

function textOf(frames: Frames, item: StreamItem): string {
  const { event, data } = frames.toFrame(item) ?? { event: 'heartbeat', data: { latest: item.token } };
  return `event: ${event}\nid: ${item.token}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** False when the reader took nothing of it for too long. */
async function sent(reply: FastifyReply, text: string): Promise<boolean> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    const slice = bytes.subarray(start, start + SLICE_BYTES);
    if (!reply.raw.write(slice) && !(await drained(reply))) return false;
  }
  return true;
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
