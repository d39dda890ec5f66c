/** Long-polling calls: they end with their client or with the server. */
import type { FastifyReply } from 'fastify';
import { anySignal } from '../kernel/index.js';

/** Runs a call with a signal that aborts when the client disconnects or the server stops. */
export async function untilGone<T>(
  reply: FastifyReply,
  stopping: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const gone = new AbortController();
  const left = () => gone.abort();
  reply.raw.once('close', left);
  try {
    return await run(anySignal([gone.signal, stopping]));
  } catch (error) {
    // The client is gone, so the error has no reader.
    if (gone.signal.aborted) return undefined;
    throw error;
  } finally {
    reply.raw.off('close', left);
  }
}
