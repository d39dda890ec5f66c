/**
 * Requests that are answered before their body has arrived, such as a body that is too large. A client that is still sending
 * when the connection closes sees a broken pipe and never the answer, so the rest is read and dropped first, up to a bound.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CairnError } from '../kernel/index.js';

/** How much of a refused body is read, and for how long, before the answer is sent anyway. */
const DRAIN_BYTES = 64 * 1024 * 1024;
const DRAIN_MS = 10_000;
/** How long a closing connection still reads, so that a client that is sending can read its answer. */
const LINGER_MS = 5000;

/** Requests with `Expect: 100-continue` that got no 100: their body will not come. */
const held = new WeakSet<IncomingMessage>();

/** Lets the route decide on `Expect: 100-continue`. */
export function holdExpecting(server: Server): void {
  server.on('checkContinue', (request, response) => {
    held.add(request);
    server.emit('request', request, response);
  });
}

/** Refuses a body by its Content-Length; answers `Expect: 100-continue` with 100. */
export function admitBody(request: FastifyRequest, reply: FastifyReply): void {
  const limit = request.routeOptions.bodyLimit;
  if (Number(request.headers['content-length']) > limit) throw tooLarge(limit);
  if (held.delete(request.raw)) reply.raw.writeContinue();
}

export const tooLarge = (limit: number | undefined): CairnError =>
  new CairnError('TOO_LARGE', `the body is larger than ${limit} bytes: split it into several requests`, { limit });

const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Whether the answer would be sent while the request is still arriving. */
export const isUnread = (request: IncomingMessage): boolean => !request.complete && announcesBody(request);

/** Reads and drops the rest of a body; closes the connection after the answer if the body does not end. */
export async function drainBody(request: IncomingMessage, reply: FastifyReply): Promise<void> {
  if (held.has(request) || !(await isDrained(request))) closeLingering(request, reply);
  // The framework sets `connection: close` for every body that it could not parse, even a complete one.
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

/** Sends the answer and a FIN, then drops input until the client has closed. */
function closeLingering(request: IncomingMessage, reply: FastifyReply): void {
  const { socket } = request;
  reply.header('connection', 'close');
  // Node would close both directions at once after such an answer.
  socket.destroySoon = () => {
    socket.end();
    request.resume();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}
