/** How every connection to PostgreSQL that serves requests is set up, in the pool and outside of it. */
import type pg from 'pg';
import { APP_ROLE } from './migrate.js';
import { types } from './postgres-channel.js';

const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 30_000;
const IDLE_IN_TRANSACTION_MS = 10_000;

export function connectionSettings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    pipeline: true,
    application_name: 'cairn',
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // Compiling a list's statement takes several times as long as running it.
    options: '-c jit=off',
    // A server that froze in the middle of a commit must not hold the tenant's head row for hours.
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 5000,
    types,
  } as pg.ClientConfig;
}

/** The first statement of a connection: from then on it is bound by row-level security. */
export const enterRole = (row_level_security = true): string =>
  `SET ROLE ${row_level_security ? APP_ROLE : 'NONE'}`;

export function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url);
    if (parsed.password) parsed.password = '***';
    return parsed.toString();
  } catch {
    return 'postgres';
  }
}
