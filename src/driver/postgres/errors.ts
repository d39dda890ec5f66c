/** PostgreSQL's errors, by SQLSTATE and socket error. */
import { CairnError } from '../../kernel/index.js';
import { DriverError } from '../driver.js';

const SOCKET = /^(?:ECONNRESET|ECONNREFUSED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENOENT|EHOSTUNREACH)$/;
/** Shutting down, crashed, starting up, idle too long, too many connections. */
const SERVER = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '53300']);
const KINDS: Readonly<Record<string, DriverError['kind']>> = {
  '23505': 'constraint', // unique violation
  '40P01': 'conflict', // deadlock
  '40001': 'conflict', // serialization failure
  '55P03': 'conflict', // lock not available
  '25P02': 'conflict', // an earlier statement of the transaction failed
  '57014': 'busy', // canceled by the statement timeout
  '53100': 'full', // disk full
  '53200': 'full', // out of memory
  '58030': 'failed', // I/O error
  XX001: 'failed', // data corrupted
  XX002: 'failed', // index corrupted
};
const PHRASES =
  /connection terminated|connection error|timeout exceeded when trying to connect|client has encountered a connection error|client was closed|not queryable|query read timeout/i;

export function isConnectionError(error: unknown): boolean {
  if (error instanceof DriverError) return error.kind === 'connection';
  // Its message may quote user input, which says nothing about the connection.
  if (error instanceof CairnError) return false;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && (SOCKET.test(code) || SERVER.has(code) || code.startsWith('08'))) return true;
  return typeof message === 'string' && PHRASES.test(message);
}

export function translatePostgres(error: unknown): unknown {
  if (error instanceof DriverError) return error;
  const { code } = error as { code?: unknown };
  const message = (error instanceof Error && error.message) || String(code ?? error);
  if (isConnectionError(error)) return new DriverError('connection', message, error);
  const kind = typeof code === 'string' ? KINDS[code] : undefined;
  return kind ? new DriverError(kind, message, error) : error;
}
