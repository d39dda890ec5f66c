/** The part of a stream that all transports share: pulled from the Api no faster than its reader reads. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Frames } from '../../engine/contract.js';
import { anySignal, CairnError } from '../../kernel/index.js';

/** A reader that takes nothing for this long is disconnected; it can resume from the last event. */
const PATIENCE_MS = 10_000;
/** How long a key that was valid counts as such. */
export const CHECK_KEY_MS = 1000;
/** A large frame is written in slices, to tell a slow reader from one that reads nothing. */
const SLICE_BYTES = 256 * 1024;

type StreamItem = { readonly token: string };

/** An item as all transports send it. */
export interface WireFrame {
  readonly event: string;
  readonly id: string;
  readonly data: unknown;
}

/** A stream whose first item is known, so that it was not refused. */
interface OpenStream {
  readonly first: IteratorResult<StreamItem>;
  readonly items: AsyncIterator<StreamItem>;
}

export async function openStream(opened: AsyncIterable<unknown>): Promise<OpenStream> {
  const items = opened[Symbol.asyncIterator]() as AsyncIterator<StreamItem>;
  return { first: await items.next(), items };
}

interface Transport {
  readonly frames: Frames;
  /** Resolves to false if the reader took nothing for too long. */
  readonly send: (frame: WireFrame) => Promise<boolean>;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** Sends a stream to its end. Returns the error to tell the reader, if one ended it. */
export async function pump(
  { first, items }: OpenStream,
  { frames, send, signal, log }: Transport,
): Promise<CairnError | undefined> {
  try {
    for (let item = first; !item.done; item = await items.next()) {
      if (!(await send(frameOf(frames, item.value))))
        throw new CairnError('SLOW_READER', 'the reader did not keep up: resume from the last event');
      if (signal.aborted) return undefined;
    }
    return undefined;
  } catch (error) {
    const known = streamError(error, log);
    // A reader that was too slow is told even if the server stops right after.
    return signal.aborted && known.code !== 'SLOW_READER' ? undefined : known;
  } finally {
    await items.return?.();
  }
}

/** An error of a stream as its reader sees it; a defect is logged. */
export function streamError(error: unknown, log: (line: string) => void): CairnError {
  if (error instanceof CairnError) return error;
  log(`a stream broke: ${(error as Error).stack ?? error}`);
  return new CairnError('INTERNAL', 'the stream broke: resume from the last event');
}

function frameOf(frames: Frames, item: StreamItem): WireFrame {
  const { event, data } = frames.toFrame(item) ?? { event: 'heartbeat', data: { latest: item.token } };
  return { event, id: item.token, data };
}

/** Passes a stream on while its key is valid: `check` throws once it is revoked. */
export async function* whileValid(
  check: () => Promise<unknown>,
  items: AsyncIterable<unknown>,
): AsyncGenerator<unknown, void, undefined> {
  let checked = performance.now();
  for await (const item of items) {
    if (performance.now() - checked > CHECK_KEY_MS) {
      await check();
      checked = performance.now();
    }
    yield item;
  }
}

interface SliceWriter {
  readonly reader: Writable;
  readonly write: (slice: Buffer, last: boolean) => void;
  readonly signal: AbortSignal;
}

/**
 * Writes a text in slices, and waits for the reader after each. False if it took nothing for too long. Stops within the
 * text once the signal aborts: a server that stops waits for no reader.
 */
export async function writeSlices({ reader, write, signal }: SliceWriter, text: string): Promise<boolean> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    write(bytes.subarray(start, start + SLICE_BYTES), start + SLICE_BYTES >= bytes.length);
    if (!reader.writableNeedDrain) continue;
    if (!(await drained(reader, signal))) return false;
    if (signal.aborted) return true;
  }
  return true;
}

async function drained(reader: Writable, signal: AbortSignal): Promise<boolean> {
  try {
    await once(reader, 'drain', { signal: anySignal([AbortSignal.timeout(PATIENCE_MS), signal]) });
    return true;
  } catch {
    return reader.destroyed || signal.aborted;
  }
}
