/** Streams as server-sent events, with backpressure: pulled from the Api no faster than the reader reads. */
import { once } from 'node:events';
import type { FastifyReply } from 'fastify';
import type { Frames } from '../engine/contract.js';
import { anySignal, CairnError } from '../kernel/index.js';

/** A reader that takes nothing for this long is disconnected; it can resume from the last event. */
const PATIENCE_MS = 10_000;

/** A large frame is written in slices, to tell a slow reader from one that reads nothing. */
const SLICE_BYTES = 256 * 1024;

type StreamItem = { readonly token: string };

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
  // Pulled before the headers: a stream that is refused still gets an ordinary error answer.
  let item = await items.next();
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // A connection that stayed open after the stream would keep the server from closing.
    connection: 'close',
    'x-accel-buffering': 'no',
  });
  try {
    for (; !item.done; item = await items.next())
      if (!(await sent(reply, frameOf(frames, item.value))))
        throw new CairnError('SLOW_READER', 'the reader did not keep up: resume from the last event');
  } catch (error) {
    const known =
      error instanceof CairnError ? error : new CairnError('INTERNAL', 'the stream broke: resume from the last event');
    // A slow reader is told even while the server stops.
    if (!signal.aborted || known.code === 'SLOW_READER')
      reply.raw.write(`event: error\ndata: ${JSON.stringify(known)}\n\n`);
  } finally {
    await items.return?.();
    reply.raw.end();
    // Drops bytes that the reader does not take.
    setTimeout(() => reply.raw.destroy(), 1000).unref();
  }
}

function frameOf(frames: Frames, item: StreamItem): string {
  const { event, data } = frames.toFrame(item) ?? { event: 'heartbeat', data: { latest: item.token } };
  return `event: ${event}\nid: ${item.token}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** False if the reader took nothing for too long. */
async function sent(reply: FastifyReply, text: string): Promise<boolean> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    const slice = bytes.subarray(start, start + SLICE_BYTES);
    if (!reply.raw.write(slice) && !(await drained(reply))) return false;
  }
  return true;
}

async function drained(reply: FastifyReply): Promise<boolean> {
  try {
    await once(reply.raw, 'drain', { signal: AbortSignal.timeout(PATIENCE_MS) });
    return true;
  } catch {
    return reply.raw.destroyed;
  }
}
