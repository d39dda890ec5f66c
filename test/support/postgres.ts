/** Starts one PostgreSQL server for the whole run, unless this run needs none. */
import { startPostgres } from '../../scripts/postgres.mjs';
import { targetNames } from './targets.js';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (!targetNames().includes('postgres') || process.env.CAIRN_TEST_POSTGRES) return undefined;
  const server = await startPostgres();
  process.env.CAIRN_TEST_POSTGRES = server.url();
  return async () => {
    delete process.env.CAIRN_TEST_POSTGRES;
    await server.stop();
  };
}
