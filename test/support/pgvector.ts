/** Starts a PostgreSQL that has pgvector at hand, though not yet installed in its database. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';

export interface PgvectorServer {
  readonly url: string;
  /** As its owner. */
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  stop(): Promise<void>;
}

export async function startPgvector(): Promise<PgvectorServer> {
  const child = fork(join(import.meta.dirname, 'pgvector-server.mjs'), { stdio: 'inherit' });
  const ended = once(child, 'exit');
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [{ port?: number } | number];
  if (typeof message !== 'object') throw new Error('the PostgreSQL with pgvector did not start');
  const url = `postgres://postgres@127.0.0.1:${message.port}/postgres`;
  return {
    url,
    query: async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query<R>(text, values)).rows;
      } finally {
        await client.end();
      }
    },
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
