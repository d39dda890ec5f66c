/** Opens PostgreSQL. Loads its client on demand, so that a store on SQLite starts faster. */
import type { Driver } from './driver.js';
import type { PostgresOptions } from './postgres/driver.js';

export const openPostgres = async (url: string, options: PostgresOptions): Promise<Driver> =>
  (await import('./postgres/driver.js')).openPostgres(url, options);
