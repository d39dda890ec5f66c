/** Settings of PostgreSQL connections, and how they are closed. */
import type pg from 'pg';
import { APP_ROLE } from '../migrate.js';
import { types } from './channel.js';

const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 30_000;
const IDLE_IN_TRANSACTION_MS = 10_000;
/** Idle time before TCP keep-alive probes: shorter than the idle limit of firewalls. */
const KEEP_ALIVE_MS = 60_000;
const CLOSE_TIMEOUT_MS = 1000;

/** For connections that serve requests. */
export function connectionSettings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    pipeline: true,
    application_name: 'cairn',
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // JIT compilation of a list's statement takes several times as long as running it.
    options: '-c jit=off',
    // A process that freezes during a commit must not hold the tenant's head row for hours.
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 5000,
    types,
  } as pg.ClientConfig;
}

/** For one transaction: no timeout, and plans for the tenant, since a generic plan may take hours for a large one. */
export const UNHURRIED = 'SET LOCAL statement_timeout = 0; SET LOCAL plan_cache_mode = force_custom_plan';
/** The maximum delay of a timer. */
export const ANY_TIME_MS = 2 ** 31 - 1;

/** For one long statement, as the user of the URL. */
export const ownerSettings = (url: string): pg.ClientConfig =>
  ({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'cairn',
    types,
  }) as pg.ClientConfig;

/** Closes a connection, also to a server that no longer answers. */
export async function closeClient(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), CLOSE_TIMEOUT_MS);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}

/** The first statement of a connection that serves requests: row-level security binds it from then on. */
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
