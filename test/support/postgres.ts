/** Starts one PostgreSQL server for the whole run, unless this run needs none. */
import { openDriver } from '#cairn/api/index.js';
import { startPostgres } from '../../scripts/postgres.mjs';
import { roomyMemory } from './memory-folder.js';
import { createDatabase, targetNames } from './targets.js';

/** A database with the schema alone: copied, it is there in a sixth of the time that the migrations take. */
const TEMPLATE = 'migrated';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (!targetNames().includes('postgres') || process.env.CAIRN_TEST_POSTGRES) return undefined;
  const server = await startPostgres(roomyMemory());
  process.env.CAIRN_TEST_POSTGRES = server.url();
  await createDatabase(TEMPLATE);
  const driver = await openDriver({ database: server.url(TEMPLATE) });
  await driver.migrate();
  await driver.close();
  process.env.CAIRN_TEST_TEMPLATE = TEMPLATE;
  return async () => {
    delete process.env.CAIRN_TEST_POSTGRES;
    delete process.env.CAIRN_TEST_TEMPLATE;
    await server.stop();
  };
}
