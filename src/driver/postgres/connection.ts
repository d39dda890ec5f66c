/** How connections to PostgreSQL are set up, in the pool and outside of it, and ended. */
import type pg from 'pg';
import { APP_ROLE } from '../migrate.js';
import { types } from './channel.js';

const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 30_000;
const IDLE_IN_TRANSACTION_MS = 10_000;
/** So long a connection may say nothing before it is asked whether it is there: less than firewalls wait. */
const SILENT_MS = 60_000;
/** How long the goodbye may take. */
const GOODBYE_MS = 1000;

/** Of those that serve requests. */
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

/**
 * For one transaction: no statement of it is ended for its time. Each is planned for the tenant it is about, since a plan that
 * is to suit all may take hours for a large one.
 */
export const UNHURRIED = `SELECT set_config('statement_timeout', '0', true), set_config('plan_cache_mode', 'force_custom_plan', true)`;
/** The longest that a timer can be set to. */
export const ANY_TIME_MS = 2 ** 31 - 1;

/** Of one that a long statement is run on, as the user of the URL. */
export const ownerSettings = (url: string): pg.ClientConfig =>
  ({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: SILENT_MS,
    application_name: 'cairn',
    types,
  }) as pg.ClientConfig;

/** Also of a server that no longer answers. */
export async function goodbye(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}

/** The first statement of one that serves requests: from then on it is bound by row-level security. */
export const enterRole = (row_level_security = true): string => `SET ROLE ${row_level_security ? APP_ROLE : 'NONE'}`;

export function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url);
    if (parsed.password) parsed.password = '***';
    return parsed.toString();
  } catch {
    return 'postgres';
  }
}
