/** Error answers: always `{code, message, details?}`, with the status of the code. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { CairnError, invalid } from '../kernel/index.js';
import { tooLarge } from './unread-body.js';

const wrongType = () => new CairnError('UNSUPPORTED_MEDIA_TYPE', 'send the body as application/json');

/** Errors of the HTTP framework as errors of Cairn. */
const translations: Readonly<Record<string, (limit: number | undefined) => CairnError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: tooLarge,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: wrongType,
  FST_ERR_CTP_EMPTY_TYPE: wrongType,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new CairnError('INVALID_JSON', 'the length of the body differs from Content-Length'),
  FST_ERR_BAD_URL: () => invalid('the path is not a valid URL'),
  FST_ERR_MAX_PARAM_LENGTH: () => invalid('an id in the path is longer than ids can be'),
};

/** Answers are for their caller only: no cache may keep them, and no browser may guess another type. */
export function protect({ raw }: FastifyReply): void {
  raw.setHeader('x-content-type-options', 'nosniff');
  raw.setHeader('cache-control', 'no-store');
}

export function errorHandler(log: (line: string) => void) {
  return (error: FastifyError | CairnError, request: FastifyRequest, reply: FastifyReply) => {
    const known = error instanceof CairnError ? error : translations[error.code]?.(request.routeOptions?.bodyLimit);
    const answer =
      known ?? new CairnError('INTERNAL', `internal error: the log has the details under request ${request.id}`);
    if (answer.status >= 500) {
      // A stack trace for a defect; one line for an unreachable database or a stopping server.
      const reason = answer.status === 500 ? (error.stack ?? error.message) : answer.message;
      log(`request ${request.id} ${request.method} ${request.routeOptions.url ?? ''} failed: ${reason}`);
    }
    if (answer.code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer');
    if (answer.status === 503) reply.header('retry-after', '1');
    if (answer.status === 429) reply.header('retry-after', String(answer.details?.retry_after_s ?? 1));
    return reply.code(answer.status).type('application/json').send(JSON.stringify(answer));
  };
}

/** Input that is not HTTP, or has too large a head, never becomes a request: it is answered on its socket, which closes. */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const answer =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new CairnError('TOO_LARGE', 'the path and headers are larger than 16 KiB')
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? invalid('the request did not arrive in time')
        : invalid('this is not a valid HTTP request');
  const body = JSON.stringify(answer);
  socket.end(
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\nContent-Type: application/json\r\n` +
      `X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), 1000).unref();
}
