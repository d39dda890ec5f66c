/**
 * Requests that are answered before their body has come in, such as one that is too large. A client that is still sending when
 * the connection closes sees a broken pipe and never the answer, so the rest is read and dropped first, up to a bound.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CairnError } from '../kernel/index.js';

/** How much of a refused body is read, and for how long, before the answer goes out all the same. */
const DRAIN_BYTES = 64 * 1024 * 1024;
const DRAIN_MS = 10_000;
/** How long a connection that is closed under a sender still takes what it sends, so that it reads its answer. */
const LINGER_MS = 5000;

/** Requests with `Expect: 100-continue` that were not told to go on: their body will not come. */
const held = new WeakSet<IncomingMessage>();

/** Leaves it to the route whether a client that asks first may send its body. */
export function holdExpecting(server: Server): void {
  server.on('checkContinue', (request, response) => {
    held.add(request);
    server.emit('request', request, response);
  });
}

/** Refuses a body by its announced length; tells a client that asked first to go on. */
export function admitBody(request: FastifyRequest, reply: FastifyReply): void {
  const limit = request.routeOptions.bodyLimit;
  if (Number(request.headers['content-length']) > limit) throw tooLarge(limit);
  if (held.delete(request.raw)) reply.raw.writeContinue();
}

export const tooLarge = (limit: number | undefined): CairnError =>
  new CairnError('TOO_LARGE', `the body is larger than ${limit} bytes: split it into several requests`, { limit });

const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Whether an answer would go out while its request is still coming in. */
export const isUnread = (request: IncomingMessage): boolean => !request.complete && announcesBody(request);

/** Reads the rest of a body and drops it; of one that does not end, closes the connection behind the answer. */
export async function drainBody(request: IncomingMessage, reply: FastifyReply): Promise<void> {
  if (held.has(request) || !(await isDrained(request))) closeLingering(request, reply);
  // What the framework says of every body that it could not parse, though it is here.
  else if (request.complete) reply.removeHeader('connection');
}

function isDrained(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(() => done(false), DRAIN_MS);
    const drop = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > DRAIN_BYTES) done(false);
    };
    const ended = (): void => done(true);
    const done = (drained: boolean): void => {
      clearTimeout(timer);
      request.off('data', drop).off('end', ended).off('close', ended);
      resolve(drained);
    };
    request.on('data', drop).on('end', ended).on('close', ended).resume();
  });
}

/** The answer, then the end of what is sent; what comes in is dropped until the client has seen both. */
function closeLingering(request: IncomingMessage, reply: FastifyReply): void {
  const { socket } = request;
  reply.header('connection', 'close');
  // Node closes both directions at once behind such an answer.
  socket.destroySoon = () => {
    socket.end();
    request.resume();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}
