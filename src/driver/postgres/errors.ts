/** PostgreSQL's errors, by SQLSTATE and by what the socket says. */
import { CairnError } from '../../kernel/index.js';
import { DriverError } from '../driver.js';

const SOCKET = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EHOSTUNREACH',
]);
/** Shutting down, crashed, starting up, too many connections: the server, or this connection, is going away. */
const SERVER = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '53300']);
const PHRASES =
  /connection terminated|connection error|timeout exceeded when trying to connect|client has encountered a connection error|client was closed|not queryable|query read timeout/i;

export function isConnectionError(error: unknown): boolean {
  if (error instanceof DriverError) return error.kind === 'connection';
  // A refusal may quote what a user sent, which proves nothing about the connection.
  if (error instanceof CairnError) return false;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && (SOCKET.has(code) || SERVER.has(code) || code.startsWith('08'))) return true;
  return typeof message === 'string' && PHRASES.test(message);
}

export function translatePostgres(error: unknown): unknown {
  if (error instanceof DriverError) return error;
  const { code } = error as { code?: unknown };
  const message = (error instanceof Error && error.message) || String(code ?? error);
  if (isConnectionError(error)) return new DriverError('connection', message, error);
  switch (code) {
    case '23505': // unique violation
      return new DriverError('constraint', message, error);
    case '40P01': // deadlock
    case '40001': // serialization failure
    case '55P03': // lock not available
    case '25P02': // an earlier statement of the transaction failed
      return new DriverError('conflict', message, error);
    case '57014': // cancelled by the statement timeout
      return new DriverError('busy', message, error);
    case '53100': // disk full
    case '53200': // out of memory
      return new DriverError('full', message, error);
    case '58030': // I/O error
    case 'XX001':
    case 'XX002': // corruption
      return new DriverError('failed', message, error);
    default:
      return error;
  }
}
