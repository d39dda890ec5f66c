/** Calls that wait: ended when nobody is left to answer, or when the server stops. */
import type { FastifyReply } from 'fastify';
import { anySignal } from '../kernel/index.js';

/** Runs a call with a signal that is given when the client goes away before it was answered, or the server stops. */
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
    // Whatever it was, nobody hears it.
    if (gone.signal.aborted) return undefined;
    throw error;
  } finally {
    reply.raw.off('close', left);
  }
}
