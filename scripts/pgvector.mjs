// A PostgreSQL that has pgvector at hand, though not yet installed in its database: for tests and benchmarks.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';

export async function startPgvector() {
  const child = fork(join(import.meta.dirname, 'pgvector-server.mjs'), { stdio: 'inherit' });
  const ended = once(child, 'exit');
  const [message] = await Promise.race([once(child, 'message'), ended]);
  if (!message?.port) throw new Error('the PostgreSQL with pgvector did not start');
  const url = `postgres://postgres@127.0.0.1:${message.port}/postgres`;
  return {
    url,
    /** As the owner of what is in it. */
    query: async (text, values = []) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query(text, values)).rows;
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
